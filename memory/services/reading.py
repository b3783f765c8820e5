"""Reading the messages of a turn: what they say that did not come out of memory."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from heapq import merge
from typing import Any

from kernel.context import Ctx
from memory.contracts import CommitTurnInput, MessageIn
from memory.extraction import Extraction, Proposed, Said, Skipped, Unprompted, extract, redact
from memory.extraction.denials import denies
from memory.keys import slug
from memory.selectors import Recalled, current_facts, open_tasks, recalled_texts
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
    known = _without_recalled(_against_known(found, place, default_key, ctx), messages, place, ctx)
    return Extraction(known.proposed, known.skipped)


def _against_known(found: Extraction, place: Resolved, scope_key: int | None, ctx: Ctx) -> Extraction:
    """What nobody asked to remember becomes a proposal where it denies what the current fact of its key says, and is
    named where that fact says something else; it says nothing of what is not known. Proposals are in the order in which
    they were said, so what was said later wins."""
    if not found.unprompted:
        return found
    keys = {each.proposed.key for each in found.unprompted}
    known: dict[str, Mapping[str, Any]] = {}
    if scope_key is not None:
        known.update(current_facts(place.domain_id, scope_key, keys, ctx))
    proposed: list[Proposed] = []
    skipped = list(found.skipped)
    both: tuple[Sequence[Proposed | Unprompted], ...] = (found.proposed, found.unprompted)
    for each in merge(*both, key=_said_at):
        said = _proposed(each)
        if isinstance(each, Unprompted):
            fact = known.get(said.key)
            if fact is None:
                continue
            if reason := each.doubt or _differs(each, fact):
                skipped.append(Skipped(said.message, reason, redact(said.statement)[:_SHOWN]))
                continue
        proposed.append(said)
        if said.kind == "retract":
            known.pop(said.key, None)
        else:
            known[said.key] = said.value
    return Extraction(proposed, skipped)


def _proposed(each: Proposed | Unprompted) -> Proposed:
    return each.proposed if isinstance(each, Unprompted) else each


def _said_at(each: Proposed | Unprompted) -> tuple[int, int]:
    return _proposed(each).message, _proposed(each).span[0]


def _differs(each: Unprompted, fact: Mapping[str, Any]) -> str:
    """Why a denial takes nothing back from a fact, or nothing."""
    told = each.proposed.value
    if (told.get("relation"), slug(str(told.get("value")))) == (fact.get("relation"), slug(str(fact.get("value")))):
        return "same_value"
    denied = slug(each.denied) == slug(str(fact.get("value"))) and not denies(str(fact.get("relation", "")))
    return "" if denied else "denies_another_value"


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
