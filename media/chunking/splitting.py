"""Splitting one block that is too large for a section: at its rows, lines, items or sentences, never inside one that fits."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

from kernel.tokens import count_tokens
from media.chunking.blocks import Block, BlockKind, Line, items

_SENTENCE = re.compile(r".+?(?:(?<![.!?…])[.!?…]+[\"'”’)\]]*(?=\s|$)|[。！？；]+[」』”’）]*|\n|$)\s*", re.DOTALL)
_JOINERS = "\u200d\ufe0e\ufe0f"
_LATE = 0.8  # a cut looks for white space in this last part of a piece


@dataclass(frozen=True, slots=True)
class Piece:
    """A part of the text, from `start` to `end`. `before` and `after` are repeated around it so that it stays whole: the
    head of its table, the fences of its code. `alone`: nothing may be put beside it in a section."""

    start: int
    end: int
    before: str = ""
    after: str = ""
    alone: bool = False


def split(block: Block, text: str, size: int) -> list[Piece]:
    """The block in pieces of at most `size` tokens; what is repeated around a piece is not counted."""
    if block.kind is BlockKind.TABLE:
        return _split_lines(block.lines[2:], block, text, size)
    if block.kind is BlockKind.FENCE:
        return _split_lines(block.lines[1:-1] if _is_closed(block) else block.lines[1:], block, text, size)
    if block.kind is BlockKind.LIST:
        return [Piece(*span) for span in _packed(_spans(items(block)), text, size)]
    found = _SENTENCE.finditer(text, block.start, block.end)
    return [Piece(*span) for span in _packed(((m.start(), m.end()) for m in found), text, size)]


def _split_lines(lines: Sequence[Line], block: Block, text: str, size: int) -> list[Piece]:
    """The rows of a table or the lines of code, each piece with the head or the fences of the whole."""
    spans = _packed(((line.start, line.end) for line in lines if line.text.strip()), text, size)
    if not spans:
        return [Piece(*span) for span in _packed(_spans([(line,) for line in block.lines]), text, size)]
    fence = block.kind is BlockKind.FENCE
    before = text[block.start : block.lines[0 if fence else 1].end] + "\n"
    after = "\n" + _mark(block) if fence else ""
    pieces = [Piece(start, end, before, after, alone=True) for start, end in spans]
    pieces[0] = replace(pieces[0], start=block.start, before="")
    return pieces


def _mark(block: Block) -> str:
    opening = block.lines[0].text.strip()
    return opening[: len(opening) - len(opening.lstrip(opening[0]))]


def _is_closed(block: Block) -> bool:
    return len(block.lines) > 1 and block.lines[-1].text.strip().startswith(_mark(block))


def _spans(groups: Iterable[tuple[Line, ...]]) -> Iterator[tuple[int, int]]:
    for lines in groups:
        yield lines[0].start, lines[-1].end


def _packed(spans: Iterable[tuple[int, int]], text: str, size: int) -> list[tuple[int, int]]:
    """Neighbouring spans joined as long as they fit; one that is too large alone is cut."""
    found: list[tuple[int, int]] = []
    used = 0
    for start, end in spans:
        weight = count_tokens(text[start:end])
        if weight > size:
            found += _cut(text, start, end, size)
            used = size
        elif found and used + weight <= size:
            found[-1] = (found[-1][0], end)
            used += weight
        else:
            found.append((start, end))
            used = weight
    return found


def _cut(text: str, start: int, end: int, size: int) -> Iterator[tuple[int, int]]:
    """Pieces of a stretch without any end of a sentence, cut at white space where there is some near."""
    while start < end:
        stop = _reach(text, start, end, size)
        if stop < end:
            stop = _good_place(text, start + int((stop - start) * _LATE), stop)
        yield start, stop
        start = stop


def _reach(text: str, start: int, end: int, size: int) -> int:
    """How far so many tokens reach: at least one character."""
    low, high = start + 1, min(end, start + size * 4)
    while low < high:
        middle = (low + high + 1) // 2
        if count_tokens(text[start:middle]) <= size:
            low = middle
        else:
            high = middle - 1
    return low


def _good_place(text: str, first: int, last: int) -> int:
    """A place to cut: behind white space if there is some, else where no character is torn from its marks."""
    for place in range(last, first, -1):
        if text[place - 1].isspace():
            return place
    place = last
    while place > first and (
        unicodedata.combining(text[place]) or text[place] in _JOINERS or text[place - 1] in _JOINERS
    ):
        place -= 1
    return place
