"""Finding the blocks of a Markdown text: headings, code, tables, lists and paragraphs, in one pass over its lines.

It never looks back, so a hostile text costs no more than its length.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum

_HEADING = re.compile(r" {0,3}(#{1,6})(?:[ \t](.*))?$")
_UNDERLINE = re.compile(r" {0,3}(=+|-+)[ \t]*$")
_FENCE = re.compile(r"( {0,3})(`{3,}|~{3,})([^`]*)$")
_ITEM = re.compile(r" {0,3}(?:[-*+]|\d{1,9}[.)])(?:[ \t]|$)")
_RULE = re.compile(r" {0,3}([-*_])(?:[ \t]*\1){2,}[ \t]*$")
_DELIMITERS = re.compile(r" {0,3}\|?[ \t]*:?-+:?[ \t]*(?:\|[ \t]*:?-+:?[ \t]*)*\|?[ \t]*$")


class BlockKind(StrEnum):
    """What a block is."""

    HEADING = "heading"
    FENCE = "fence"
    TABLE = "table"
    LIST = "list"
    TEXT = "text"


@dataclass(frozen=True, slots=True)
class Line:
    """A line with its place in the text; `text` is without its line break."""

    start: int
    end: int
    text: str


@dataclass(frozen=True, slots=True)
class Block:
    """One block: the characters from `start` to `end` of the text. `level` and `title` are those of a heading."""

    kind: BlockKind
    lines: tuple[Line, ...]
    level: int = 0
    title: str = ""

    @property
    def start(self) -> int:
        """Its first character."""
        return self.lines[0].start

    @property
    def end(self) -> int:
        """Behind its last character, its last line break left out."""
        return self.lines[-1].end


def blocks(markdown: str) -> list[Block]:
    """The blocks of a text, in order; between them lie only blank lines."""
    lines = list(_lines(markdown))
    found: list[Block] = []
    place = _front_matter(lines)
    if place:
        found.append(Block(BlockKind.TEXT, tuple(lines[:place])))
    while place < len(lines):
        if not lines[place].text.strip():
            place += 1
            continue
        block = _block_at(lines, place)
        found.append(block)
        place += len(block.lines)
    return found


def items(block: Block) -> list[tuple[Line, ...]]:
    """The items of a list, each with what is indented below it."""
    found: list[list[Line]] = []
    for line in block.lines:
        if not found or _ITEM.match(line.text):
            found.append([])
        found[-1].append(line)
    return [tuple(lines) for lines in found]


def _lines(text: str) -> Iterator[Line]:
    start = 0
    for whole in text.split("\n"):
        yield Line(start, start + len(whole), whole)
        start += len(whole) + 1


def _front_matter(lines: list[Line]) -> int:
    """How many lines of YAML stand before the text; its closing line is no underline of a heading."""
    if lines[0].text.rstrip() != "---":
        return 0
    for number, line in enumerate(lines[1:200], 2):
        if line.text.rstrip() in ("---", "..."):
            return number
    return 0


def _block_at(lines: list[Line], place: int) -> Block:
    first = lines[place].text
    heading = _HEADING.match(first)
    if heading:
        return Block(BlockKind.HEADING, (lines[place],), len(heading[1]), _heading_text(heading[2] or ""))
    fence = _FENCE.match(first)
    if fence:
        return Block(BlockKind.FENCE, tuple(lines[place : _fence_end(lines, place, fence[2])]))
    if _starts_table(lines, place):
        return Block(BlockKind.TABLE, tuple(lines[place : _table_end(lines, place)]))
    if _ITEM.match(first) and not _RULE.match(first):
        return Block(BlockKind.LIST, tuple(lines[place : _list_end(lines, place)]))
    underline = lines[place + 1].text if place + 1 < len(lines) else ""
    if _UNDERLINE.match(underline) and not _RULE.match(first):
        level = 1 if underline.strip()[0] == "=" else 2
        return Block(BlockKind.HEADING, (lines[place], lines[place + 1]), level, first.strip())
    return Block(BlockKind.TEXT, tuple(lines[place : _text_end(lines, place)]))


def _heading_text(after: str) -> str:
    """What a heading says, without the marks that may close it."""
    text = after.strip()
    unclosed = text.rstrip("#")
    return unclosed.strip() if unclosed[-1:].strip() == "" else text


def _fence_end(lines: list[Line], place: int, mark: str) -> int:
    """Behind the line that closes the fence, or behind the last line where nothing closes it."""
    for number in range(place + 1, len(lines)):
        closing = lines[number].text.strip()
        if len(closing) >= len(mark) and not closing.strip(mark[0]) and lines[number].text[:4].strip():
            return number + 1
    return len(lines)


def _starts_table(lines: list[Line], place: int) -> bool:
    if "|" not in lines[place].text or place + 1 >= len(lines):
        return False
    return "|" in lines[place + 1].text and bool(_DELIMITERS.match(lines[place + 1].text))


def _table_end(lines: list[Line], place: int) -> int:
    number = place + 2
    while number < len(lines) and "|" in lines[number].text:
        number += 1
    return number


def _list_end(lines: list[Line], place: int) -> int:
    """Behind the last line of the list: its items, what is indented below them, and lines that go straight on."""
    number, end = place + 1, place + 1
    while number < len(lines):
        text = lines[number].text
        if not text.strip():
            number += 1
            continue
        gap = number > end
        if not (_ITEM.match(text) or text.startswith((" ", "\t")) or (not gap and not _starts_other(lines, number))):
            break
        fence = _FENCE.match(text.lstrip())
        number = _fence_end(lines, number, fence[2]) if fence else number + 1
        end = number
    return end


def _text_end(lines: list[Line], place: int) -> int:
    number = place + 1
    while number < len(lines) and lines[number].text.strip() and not _starts_other(lines, number):
        number += 1
    return number


def _starts_other(lines: list[Line], number: int) -> bool:
    """Whether a line ends the paragraph before it by beginning something else."""
    text = lines[number].text
    return bool(_HEADING.match(text) or _FENCE.match(text) or _ITEM.match(text) or _starts_table(lines, number))
