"""Recognising what was rendered here when it comes back inside a message: the fenced data and the standing context."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from uuid import UUID

from memory.compose.render import EVIDENCE_NOTE, SUMMARY_NOTE, SYSTEM_HEAD, TOLD_NOTE

Span = tuple[int, int]  # from, to, in characters

# A package inside an earlier message comes back with its marks softened, so both ways to open a mark count.
_MARK = re.compile(r"(?:<<<|‹‹‹)(?P<end>END )?SMARTBRAIN DATA (?P<id>[0-9a-f]{32})>>>")
_LINE = re.compile(r"[^\n]*\n?")
_OF_A_FENCE = re.compile(
    r"(?:\| |\[[ECN]\d+\] |\(|\s*$|"
    + "|".join(re.escape(note) for note in (SUMMARY_NOTE, EVIDENCE_NOTE, TOLD_NOTE))
    + ")"
)
_STANDING = re.compile(
    r"(?:\| )*(?:" + re.escape(SYSTEM_HEAD) + r"|\[(?:core_profile|preferences|goals)\](?: \(as of [\d-]{10}\))?)\s*$"
)
_BARRED = re.compile(r"(?:\| )+")
CUT = " […] "


@dataclass(frozen=True, slots=True)
class Part:
    """A part of a message that says it came out of memory.

    What proves it: `context_id`, the context that it names, or `line`, a text that was shown; neither for a heading.
    """

    span: Span
    context_id: UUID | None = None
    line: str = ""


def parts_of(text: str) -> list[Part]:
    """The parts of a text that are rendered memory, by their form, in order and apart from each other."""
    fences = list(_fences(text)) if "SMARTBRAIN DATA" in text else []
    lines = list(_standing(text, [part.span for part in fences])) if SYSTEM_HEAD in text else []
    return sorted([*fences, *lines], key=lambda part: part.span)


def without(text: str, spans: Iterable[Sequence[int]], mark: str = CUT) -> str:
    """A text without these parts, a mark in the place of each run of them; empty where nothing else is in it."""
    kept: list[str] = []
    done = 0
    for start, end in spans:
        if text[done:start].strip() or not kept:
            kept.append(text[done:start])
        done = end
    if not kept:
        return text
    kept.append(text[done:])
    return mark.join(kept).strip() if any(map(str.strip, kept)) else ""


def _fences(text: str) -> Iterator[Part]:
    """What stands between the two marks of one id; without the second, the lines after the first that have the form."""
    marks = list(_MARK.finditer(text))
    closing: dict[str, list[int]] = defaultdict(list)
    for mark in reversed(marks):
        if mark["end"]:
            closing[mark["id"]].append(mark.end())
    done = 0
    for mark in marks:
        if mark["end"] or mark.start() < done:
            continue
        ends = closing[mark["id"]]
        while ends and ends[-1] <= mark.end():
            ends.pop()
        done = ends[-1] if ends else _end_of_form(text, mark.end())
        yield Part((mark.start(), done), UUID(hex=mark["id"]))


def _end_of_form(text: str, start: int) -> int:
    line = _LINE.match(text, start)
    done = line.end() if line and not line.group().strip() else start
    for line in _LINE.finditer(text, done):
        if not line.group() or _MARK.search(line.group()) or not _OF_A_FENCE.match(line.group()):
            break
        done = line.end()
    return done


def _standing(text: str, taken: Sequence[Span]) -> Iterator[Part]:
    waiting = list(reversed(taken))
    for line in _LINE.finditer(text, text.rfind("\n", 0, text.index(SYSTEM_HEAD)) + 1):
        while waiting and waiting[-1][1] <= line.start():
            waiting.pop()
        if not line.group() or (waiting and waiting[-1][0] < line.end()):
            continue
        bars = _BARRED.match(line.group())
        if _STANDING.match(line.group()):
            yield Part(line.span())
        elif bars:
            yield Part(line.span(), line=line.group()[bars.end() :].strip())
