"""Denials and corrections that no cue announces: they count only against a fact that is known."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace

from memory.extraction import facts, shapes
from memory.extraction.denials import affirmed
from memory.extraction.facts import Fact
from memory.extraction.guards import doubt
from memory.extraction.reading import MASK, Reading, Sentence, fold
from memory.extraction.values import USER_ASSERTED, Proposed

_MARKERS = re.compile(
    r"(?:(?:no|nope|wait|hold on|actually|in fact|well|sorry|oh|hmm|look|but|and|so|ok|okay|yes|yeah|right|by the way|btw)(?![a-z'])[\s,.!:-]*"
    r"|(?:不|不是|不对|哦|啊|嗯|等等|等一下|对了|抱歉|好吧|但是?|不过)[,、:!]\s*|(?:其实|实际上|事实上|准确(?:地|来)?说|说实话)[,、:]?\s*)+"
)
_CLAUSE = re.compile(r"[,;:]|\s(?:and|but|so|because|since) |因为|所以")
_TAIL = re.compile(r"\s+(?:any ?more|at all|actually|after all|in fact|now|though)$|了$")
_NOT = re.compile(r",?\s*(?:\b(?:not|instead of|rather than)\s+|(?:而)?不是\s*)(?P<old>[^,;。]{1,80})$")


@dataclass(frozen=True, slots=True)
class Unprompted:
    """A change that counts where the current fact of its key has the value `denied`; `doubt` is why it does not."""

    proposed: Proposed
    denied: str
    doubt: str


def unprompted(number: int, reading: Reading, sentence: Sentence) -> Unprompted | None:
    """What a sentence without a cue denies: "X is not Y", or "X is Y, not Z" of which Z is denied."""
    whole = reading.text[sentence.start : sentence.end]
    marker = _MARKERS.match(fold(whole))
    start = sentence.start + (marker.end() if marker else 0)
    content = shapes.clean(reading.text[start : sentence.end])
    found = _denial(content) or _replacement(content)
    if found is None:
        return None
    fact, denied, statement = found
    end = reading.text.find(fact.value, start)
    if MASK in reading.view[sentence.start : end if end > start else sentence.end]:
        return None
    draft = fact.draft(statement)
    proposed = Proposed(
        kind="write",
        type=draft.type,
        key=draft.key,
        value=draft.value,
        statement=statement,
        confidence=USER_ASSERTED,
        explicit=False,
        rule="denial",
        message=number,
        span=(start, sentence.end),
    )
    return Unprompted(proposed, denied, doubt(reading, sentence))


def _denial(content: str) -> tuple[Fact, str, str] | None:
    fact = facts.parse(content) if affirmed(content) is not None else None
    if fact is None or not fact.denial:
        return None
    value = _short(fact.value)
    statement = content[: content.rfind(fact.value) + len(value)] if fact.value in content else content
    return (replace(fact, value=value), value, statement) if value else None


def _replacement(content: str) -> tuple[Fact, str, str] | None:
    tail = _NOT.search(fold(content))
    if tail is None or tail.start() == 0:
        return None
    statement = content[: tail.start()].rstrip(" ,，")
    fact = facts.parse(statement)
    old = _short(content[tail.start("old") : tail.end("old")])
    return (fact, old, statement) if fact is not None and not fact.denial and not fact.many and old else None


def _short(value: str) -> str:
    """A value without the clause and the words after it."""
    cut = _CLAUSE.search(fold(value))
    value = shapes.clean(value[: cut.start()] if cut else value)
    tail = _TAIL.search(fold(value))
    return shapes.clean(value[: tail.start()] if tail else value)
