"""What differs between two texts or two rows, word by word in any script, laid out for one or two columns."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from enum import StrEnum
from typing import Any

MOST_WORDS = 4_000  # in both sides of a changed passage together; a longer one is shown as replaced whole
MOST_LINES = 4_000
LONG = 400  # characters of an unchanged passage that is worth folding away
KEPT = 120  # characters of it that stay in sight at each end

_WORD = re.compile(
    r"[\u1100-\u11ff\u2e80-\u9fff\uac00-\ud7af\uf900-\ufaff\U00020000-\U0003ffff]"  # a word of its own each
    r"|[^\W\u1100-\u11ff\u2e80-\u9fff\uac00-\ud7af\uf900-\ufaff\U00020000-\U0003ffff]+"
    r"|\s+|."
)


class Kind(StrEnum):
    """What became of a passage or a field."""

    SAME = "same"
    REMOVED = "removed"
    ADDED = "added"
    CHANGED = "changed"


@dataclass(frozen=True, slots=True)
class Passage:
    """A stretch of text and what became of it. `folded` is the middle of a long unchanged one: the reader opens it."""

    kind: Kind
    text: str
    folded: bool = False


@dataclass(frozen=True, slots=True)
class FieldDiff:
    """One field of a row: its kind, both values as text (None: not there) and the passages between them. `label` is what
    people call it; empty: its name."""

    name: str
    kind: Kind
    before: str | None
    after: str | None
    passages: Sequence[Passage]
    label: str = ""

    @property
    def left(self) -> list[Passage]:
        """What stood before."""
        return [each for each in self.passages if each.kind is not Kind.ADDED]

    @property
    def right(self) -> list[Passage]:
        """What would stand after."""
        return [each for each in self.passages if each.kind is not Kind.REMOVED]


def compare_texts(before: str, after: str) -> list[Passage]:
    """The passages that lead from one text to the other: joined without the added ones they give `before`, without
    the removed ones `after`."""
    lines_before, lines_after = before.splitlines(keepends=True), after.splitlines(keepends=True)
    if len(lines_before) + len(lines_after) > MOST_LINES:
        return list(_replaced(before, after)) if before != after else [Passage(Kind.SAME, before)]
    found: list[Passage] = []
    for tag, i, j, k, n in SequenceMatcher(None, lines_before, lines_after, autojunk=False).get_opcodes():
        old, new = "".join(lines_before[i:j]), "".join(lines_after[k:n])
        found += [Passage(Kind.SAME, old)] if tag == "equal" else _compare_words(old, new)
    return _joined(found)


def compare_values(name: str, before: Any, after: Any) -> FieldDiff:
    """One field; None is a value that is not there, anything but text is compared as JSON laid out in lines."""
    old, new = as_texts(before, after)
    kind = (
        Kind.SAME
        if not differ(before, after)
        else Kind.ADDED
        if before is None
        else Kind.REMOVED
        if after is None
        else Kind.CHANGED
    )
    return FieldDiff(name, kind, old, new, folded(compare_texts(old or "", new or "")))


def differ(before: Any, after: Any) -> bool:
    """Whether two values are not the same JSON: `true` is neither 1 nor the text "true"."""
    return _json(before) != _json(after)


def as_texts(before: Any, after: Any) -> tuple[str | None, str | None]:
    """Two values as a reader compares them: as JSON both, where they differ and would read alike."""
    old, new = as_text(before), as_text(after)
    return (_json(before), _json(after)) if old == new and differ(before, after) else (old, new)


def as_text(value: Any) -> str | None:
    """A value as a reader compares it: text as it is, anything else as JSON; None stays None."""
    if value is None or isinstance(value, str):
        return value
    return _json(value)


def _json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, indent=2, sort_keys=True, default=str)


def folded(passages: Sequence[Passage]) -> list[Passage]:
    """The passages with the middle of each long unchanged one folded away, cut at white space where there is some."""
    found: list[Passage] = []
    for place, each in enumerate(passages):
        if each.kind is not Kind.SAME or len(each.text) <= LONG:
            found.append(each)
            continue
        start = 0 if place == 0 else _cut(each.text, KEPT)
        end = len(each.text) if place == len(passages) - 1 else len(each.text) - _cut(each.text[::-1], KEPT)
        parts = [(each.text[:start], False), (each.text[start:end], len(passages) > 1), (each.text[end:], False)]
        found += [Passage(Kind.SAME, text, hidden) for text, hidden in parts if text]
    return found


def brief(before: str, after: str, room: int = 160) -> list[Passage]:
    """The first difference of two texts on one line of about `room` characters, for a list."""
    found: list[Passage] = []
    left = room
    passages = compare_texts(before, after)
    for place, each in enumerate(passages):
        text = " ".join(each.text.split())
        if each.kind is Kind.SAME and len(text) > 40:
            text = ("…" + text[-38:]) if place < len(passages) - 1 else text[:38] + "…"
        cut = text[:left] + ("…" if len(text) > left else "")
        found.append(Passage(each.kind, f" {cut} " if each.kind is Kind.SAME else cut))
        left -= len(text)
        if left <= 0:
            break
    return found


def _compare_words(before: str, after: str) -> list[Passage]:
    old, new = _WORD.findall(before), _WORD.findall(after)
    if len(old) + len(new) > MOST_WORDS:
        return list(_replaced(before, after))
    found: list[Passage] = []
    for tag, i, j, k, n in SequenceMatcher(None, old, new, autojunk=False).get_opcodes():
        passages = (
            [Passage(Kind.SAME, "".join(old[i:j]))]
            if tag == "equal"
            else _replaced("".join(old[i:j]), "".join(new[k:n]))
        )
        found += passages
    return found


def _replaced(before: str, after: str) -> Iterator[Passage]:
    if before:
        yield Passage(Kind.REMOVED, before)
    if after:
        yield Passage(Kind.ADDED, after)


def _joined(passages: Sequence[Passage]) -> list[Passage]:
    """Neighbours of a kind made one; white space that only parts two changes belongs to both of them."""
    found: list[Passage] = []
    removed = added = ""
    for place, each in enumerate(passages):
        last = place == len(passages) - 1
        if each.kind is Kind.REMOVED:
            removed += each.text
        elif each.kind is Kind.ADDED:
            added += each.text
        elif removed and added and not last and not each.text.strip():
            removed, added = removed + each.text, added + each.text
        else:
            found += _replaced(removed, added)
            removed = added = ""
            if found and found[-1].kind is Kind.SAME:
                found[-1] = Passage(Kind.SAME, found[-1].text + each.text)
            else:
                found.append(each)
    return [*found, *_replaced(removed, added)]


def _cut(text: str, near: int) -> int:
    """A place at white space within some words after `near`."""
    for place in range(near, min(near + 40, len(text))):
        if text[place].isspace():
            return place
    return near
