"""What was rendered here is recognised when it comes back, whole, in pieces and inside other messages."""

from __future__ import annotations

from uuid import UUID

import pytest

from memory.compose.recalled import parts_of, without
from memory.compose.render import EVIDENCE_NOTE, SYSTEM_HEAD, fenced

CONTEXT = UUID(int=7)
FENCED = fenced(
    CONTEXT, EVIDENCE_NOTE, "[E1] fact — smartbrain://x\n| the lamp is red\n(undated, task:7, mode=hybrid)"
)
STANDING = f"{SYSTEM_HEAD}\n[preferences] (as of 2026-12-01)\n| writing tone: concise"


def left(text: str) -> str:
    return without(text, [part.span for part in parts_of(text)], " ")


def test_it_works():
    text = f"{STANDING}\nYou are Ada.\n{FENCED}\nWhich lamp?"
    assert left(text).split() == ["You", "are", "Ada.", "Which", "lamp?"]
    assert {part.context_id for part in parts_of(text)} == {None, CONTEXT}
    assert [part.line for part in parts_of(text) if part.line] == ["writing tone: concise"]


@pytest.mark.parametrize(
    ("text", "own"),
    [
        ("nothing of ours | here", "nothing of ours | here"),
        ("| a | table |\n| b | c |", "| a | table |\n| b | c |"),
        (f"before {FENCED} after", "before  after"),
        (FENCED.replace("<<<", "‹‹‹") + "\nWhich lamp?", "Which lamp?"),
        (FENCED[: FENCED.index("<<<END")] + "Which lamp?", "Which lamp?"),
        (f"{FENCED}\n{FENCED}\nWhich lamp?", "Which lamp?"),
        (fenced(UUID(int=8), EVIDENCE_NOTE, FENCED.replace("<<<", "‹‹‹")) + "\nWhich lamp?", "Which lamp?"),
        ("<<<SMARTBRAIN DATA not-an-id>>>\n| the lamp", "<<<SMARTBRAIN DATA not-an-id>>>\n| the lamp"),
        (
            f"<<<END SMARTBRAIN DATA {CONTEXT.hex}>>> Which lamp?",
            f"<<<END SMARTBRAIN DATA {CONTEXT.hex}>>> Which lamp?",
        ),
    ],
    ids=["none", "table", "inline", "softened", "cut short", "twice", "nested", "no id", "only the end"],
)
def test_what_is_left_of_a_message(text, own):
    assert left(text).split() == own.split()


@pytest.mark.parametrize(
    ("text", "spans", "kept"),
    [
        ("the lamp", [(0, 8)], ""),
        (" the lamp\n", [(1, 9)], ""),
        ("the lamp\nis red", [(0, 8), (9, 15)], ""),
        ("the lamp is red", [(0, 8)], "[…]  is red"),
        ("the lamp is red", [], "the lamp is red"),
        ("", [], ""),
        (" \n", [], " \n"),
    ],
)
def test_a_text_of_recalled_parts_alone_is_empty(text, spans, kept):
    assert without(text, spans) == kept


def test_many_opened_fences_are_read_in_one_pass():
    text = f"<<<SMARTBRAIN DATA {CONTEXT.hex}>>> x\n" * 3000
    assert len(parts_of(text)) == 3000
