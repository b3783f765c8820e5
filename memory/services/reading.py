"""Reading the messages of a turn: what they say that did not come out of memory."""

from __future__ import annotations

import re
from collections.abc import Sequence

from kernel.context import Ctx
from memory.contracts import CommitTurnInput, MessageIn
from memory.extraction import Extraction, Proposed, Said, Skipped, extract
from memory.selectors import Recalled, open_tasks, recalled_texts
from scopes.selectors import Resolved

_MARKS = re.compile(r"(?:[|>•*#\-\s]+|\[E?\d+\]|\d+[.)])+")
_SHOWN = 300


def read_messages(
    given: CommitTurnInput, recalled: Sequence[Recalled], place: Resolved, default_key: int | None, ctx: Ctx
) -> Extraction:
    """What the messages propose; `default_key` is the scope in which tasks are looked up, None where it is new.

    A text that came out of memory never becomes evidence: a message that says so or that a context showed to the same
    actor, what is rendered memory in a message, and each line of a message that a context showed.
    """
    messages = given.turn_events.messages
    said = [
        Said(role=message.role, name=message.name, text=message.content, recalled=came.whole, spans=came.said)
        for message, came in zip(messages, recalled, strict=True)
    ]
    found = extract(said, open_tasks(default_key) if default_key is not None else [])
    return _without_recalled(found, messages, place, ctx)


def _without_recalled(found: Extraction, messages: Sequence[MessageIn], place: Resolved, ctx: Ctx) -> Extraction:
    lines = [_line_of(each, messages[each.message].content) for each in found.proposed]
    quoted = recalled_texts([line for line in lines if line], place.domain_id, ctx.actor.id)
    if not quoted:
        return found
    kept = [each for each, line in zip(found.proposed, lines, strict=True) if line not in quoted]
    more = [
        Skipped(each.message, "recalled", line[:_SHOWN])
        for each, line in zip(found.proposed, lines, strict=True)
        if line in quoted
    ]
    return Extraction(kept, [*found.skipped, *more])


def _line_of(proposed: Proposed, text: str) -> str:
    """The line that a proposal stands in, without the marks of lists and quotations; empty for a message of one line."""
    start = text.rfind("\n", 0, proposed.span[0]) + 1
    end = text.find("\n", proposed.span[0])
    line = text[start : end if end >= 0 else len(text)].strip()
    marks = _MARKS.match(line)
    bare = line[marks.end() :] if marks else line
    return "" if bare == text.strip() else bare
