"""Cutting a document: a section for each heading down to the third level, larger ones in numbered parts."""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace

from kernel.tokens import count_tokens
from media.chunking.blocks import Block, BlockKind, blocks
from media.chunking.splitting import Piece, split

SIZE = 500  # tokens: some 2,000 characters of English, 500 of Chinese
_LEVELS = 3  # headings below the third level stay within their section
_TITLE = 100
_FIRST_SENTENCE = re.compile(r"\s*(.+?(?:[.!?](?=\s|$)|[。！？]|\n|$))", re.DOTALL)
_MARKS = re.compile(r"^[#>\-*+|\s`~]+|[*_`|]+")


@dataclass(frozen=True, slots=True)
class Chunk:
    """One section: its title and text, the page it begins on (None where there are no pages), the characters of the
    document that it covers, and where in its text each further page begins."""

    title: str
    text: str
    page: int | None
    offset_start: int
    offset_end: int
    page_starts: tuple[int, ...] = ()


@dataclass(slots=True)
class _Part:
    """What stands below one heading, the heading included."""

    title: str
    level: int
    blocks: list[Block] = field(default_factory=list)

    @property
    def bare(self) -> bool:
        """Whether it holds nothing but headings."""
        return all(block.kind is BlockKind.HEADING for block in self.blocks)


def chunk(markdown: str, pages: Sequence[int] = (), size: int = SIZE) -> list[Chunk]:
    """The sections of a Markdown text; none of an empty one.

    `pages` are the places at which its pages begin, in order. A section has at most `size` tokens, or half as many
    again where it need not be split for that; the head of a table and the fences of code are repeated in each part.
    """
    found: list[Chunk] = []
    for part in _parts(blocks(markdown), markdown, size):
        pieces = list(_pieces(part, markdown, size))
        groups = [pieces] if _fits(pieces, markdown, size) else list(_groups(pieces, markdown, size))
        named = part.title or _title_of(markdown, pieces, len(found))
        for number, group in enumerate(groups, 1):
            title = named if number == 1 else f"{named} (Part {number})"
            found.append(_chunk(title, group, markdown, pages))
    return found


def _parts(found: Sequence[Block], markdown: str, size: int) -> list[_Part]:
    parts: list[_Part] = []
    for block in found:
        opens = block.kind is BlockKind.HEADING and block.level <= _LEVELS
        deeper = bool(parts) and parts[-1].bare and block.level > parts[-1].level
        if opens and deeper:
            parts[-1] = _Part(block.title or parts[-1].title, block.level, [*parts[-1].blocks, block])
        elif opens or not parts:
            parts.append(_Part(block.title, block.level if opens else 0, [block]))
        else:
            parts[-1].blocks.append(block)
    return _with_opening(parts, markdown, size)


def _with_opening(parts: list[_Part], markdown: str, size: int) -> list[_Part]:
    """What stands before the first lower heading, below the document's own title or below none, goes into the first
    section unless the two together are too large."""
    if len(parts) < 2 or parts[0].level >= parts[1].level:
        return parts
    opening, first = parts[0], parts[1]
    if opening.level > 1 or count_tokens(markdown[opening.blocks[0].start : first.blocks[-1].end]) > size:
        return parts
    return [replace(first, blocks=[*opening.blocks, *first.blocks]), *parts[2:]]


def _pieces(part: _Part, markdown: str, size: int) -> Iterator[Piece]:
    """The part in pieces that each fit; a heading is one with what follows it."""
    start: int | None = None
    for block in part.blocks:
        begins = block.start if start is None else start
        if block.kind is BlockKind.HEADING and count_tokens(markdown[begins : block.end]) <= size:
            start = begins
            continue
        start = None
        if count_tokens(markdown[block.start : block.end]) > size:
            first, *others = split(block, markdown, size)
            yield replace(first, start=begins)
            yield from others
        else:
            yield Piece(begins, block.end)
    if start is not None:
        yield Piece(start, part.blocks[-1].end)


def _fits(pieces: Sequence[Piece], markdown: str, size: int) -> bool:
    """Whether they can stay together: half as large again as a section is made is no reason to split it."""
    return count_tokens(markdown[pieces[0].start : pieces[-1].end]) <= size * 3 // 2


def _groups(pieces: Sequence[Piece], markdown: str, size: int) -> Iterator[list[Piece]]:
    """Pieces joined as long as they fit."""
    group: list[Piece] = []
    used = 0
    for piece in pieces:
        weight = count_tokens(markdown[piece.start : piece.end])
        if group and (piece.alone or group[-1].alone or used + weight > size):
            yield group
            group, used = [], 0
        group.append(piece)
        used += weight
    if group:
        yield group


def _chunk(title: str, group: Sequence[Piece], markdown: str, pages: Sequence[int]) -> Chunk:
    first, last = group[0], group[-1]
    inside = markdown[first.start : last.end]
    start = first.start + len(inside) - len(inside.lstrip())
    text = f"{first.before}{inside.strip()}{last.after}"
    if not pages:
        return Chunk(title, text, None, first.start, last.end)
    page = max(1, bisect_right(pages, start))
    further = pages[page : bisect_left(pages, first.start + len(inside.rstrip()))]
    begins = tuple(len(first.before) + each - start for each in further)
    return Chunk(title, text, page, first.start, last.end, begins)


def _title_of(markdown: str, pieces: Sequence[Piece], before: int) -> str:
    """The first sentence of a part without a heading where it is short enough to be a title, else its number."""
    sentence = _FIRST_SENTENCE.match(markdown, pieces[0].start, pieces[-1].end)
    words = " ".join(_MARKS.sub("", sentence[1]).split()) if sentence else ""
    return words if 0 < len(words) <= _TITLE else f"Section {before + 1}"
