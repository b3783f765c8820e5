"""Bytes of text files as text: their encoding, their tables, and what their first lines say of them."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Iterator

from charset_normalizer import from_bytes

from kernel.errors import InvalidInputError
from media.encodings import encoding_shown

_SAMPLE = 65_536
_GUESSES = ["gb18030", "big5", "shift_jis", "euc_jp", "euc_kr", "cp1251", "cp1252", "latin_1"]
_FIELD = re.compile(r"^(title|author|description|summary)[ \t]*:[ \t]*(\S.*)$", re.IGNORECASE)
_KANA = re.compile(r"[\u3040-\u30ff]")
_HANGUL = re.compile(r"[\uac00-\ud7af]")
_HAN = re.compile(r"[\u3400-\u4dbf\u4e00-\u9fff]")
_MOSTLY = 0.3


def decode(raw: bytes) -> tuple[str, list[str]]:
    """The text with plain line breaks, and warnings about what was guessed or taken out."""
    text, warnings = _decoded(raw)
    if "\x00" in text:
        text = text.replace("\x00", "")
        warnings.append("nul_characters_removed")
    return text.replace("\r\n", "\n").replace("\r", "\n"), warnings


def _decoded(raw: bytes) -> tuple[str, list[str]]:
    shown = encoding_shown(raw)
    if shown:
        return raw.decode(shown, "replace"), []
    try:
        return raw.decode("utf-8"), []
    except UnicodeDecodeError:
        pass
    best = from_bytes(raw[:_SAMPLE], cp_isolation=_GUESSES).best()
    encoding = best.encoding if best else "latin_1"
    return raw.decode(encoding, "replace"), [f"encoding_guessed:{encoding}"]


def front_matter(text: str) -> dict[str, str]:
    """Title, author and description that YAML before the text names; only plain values on one line are read."""
    lines = text.split("\n", 200)
    if lines[0].rstrip() != "---":
        return {}
    found: dict[str, str] = {}
    for line in lines[1:200]:
        if line.rstrip() in ("---", "..."):
            return found
        field = _FIELD.match(line)
        if field:
            name = field[1].lower().replace("summary", "description")
            found.setdefault(name, field[2].strip().strip("\"'"))
    return {}


def language_of(text: str) -> str:
    """The language that the script of a text suggests: `zh`, `ja`, `ko`, else `en`."""
    sample = text[:200_000]
    kana, hangul, han = (len(each.findall(sample)) for each in (_KANA, _HANGUL, _HAN))
    every = kana + hangul + han
    if not every:
        return "en"
    if hangul >= _MOSTLY * every and hangul > kana:
        return "ko"
    return "ja" if kana >= _MOSTLY * every else "zh"


def fenced(text: str, name: str) -> str:
    """Text as a block of code that nothing in it closes."""
    longest = max((len(run) for run in re.findall(r"`+", text)), default=0)
    mark = "`" * max(3, longest + 1)
    return f"{mark}{name}\n{text.strip()}\n{mark}\n"


def table(text: str) -> str:
    """Values parted by commas, semicolons or tabs as a Markdown table. Raises InvalidInputError where they are none."""
    head = text[:10_000].split("\n", 1)[0]
    delimiter = max(",;\t|", key=head.count)
    try:
        return "".join(_rows(csv.reader(io.StringIO(text, newline=""), delimiter=delimiter)))
    except csv.Error as exc:
        raise InvalidInputError(f"The file cannot be read as a table: {exc}.") from exc


def _rows(rows: Iterator[list[str]]) -> Iterator[str]:
    for number, row in enumerate(row for row in rows if any(row)):
        yield "| " + " | ".join(" ".join(cell.replace("|", "\\|").split()) for cell in row) + " |\n"
        if not number:
            yield "|" + " --- |" * len(row) + "\n"
