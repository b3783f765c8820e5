"""The script that parses a strange file: it reads the one file and writes JSON to standard output.

It is run by `alone.py`, which limits what it may do, and imports nothing of the product. Arguments: path, extension,
pages, characters.
"""

from __future__ import annotations

import io
import json
import sys
import types
import zipfile
from collections.abc import Iterator
from datetime import datetime, time
from pathlib import Path
from typing import Any

TOO_LARGE, DAMAGED, PROTECTED = "too_large", "damaged", "protected"
SHEET_ROWS = 1_048_576  # the last that a sheet can have
CORE = {"title": "title", "creator": "author", "description": "description"}


class RefusedError(Exception):
    """The file is not taken; the first argument is why, the second the limit it is over."""


def without_guesser() -> None:
    """Markitdown loads a neural network to guess what a file is. What it is was settled before."""
    stand_in: Any = types.ModuleType("magika")
    stand_in.Magika = object
    sys.modules["magika"] = stand_in


def convert(path: Path, extension: str, pages: int, chars: int) -> dict[str, Any]:
    """The file as Markdown, with what it says of itself."""
    without_guesser()
    if extension == ".pdf":
        return from_pdf(path, pages)
    if extension == ".xlsx":
        return {"text": plain(sheets(path, chars)), **core_properties(path)}
    from markitdown import StreamInfo  # noqa: PLC0415  only once the limits are set
    from markitdown.converters import (  # noqa: PLC0415
        DocxConverter,
        HtmlConverter,
        PptxConverter,
    )

    known: dict[str, Any] = {".docx": DocxConverter, ".pptx": PptxConverter}
    converter = known.get(extension, HtmlConverter)()
    charset = None if extension in known else "utf-8"
    with path.open("rb") as stream:
        answer = converter.convert(stream, StreamInfo(extension=extension, charset=charset))
    told = core_properties(path) if extension in known else html_head(path)
    text = plain(answer.markdown)
    if extension == ".pptx":
        starts = slides(text)
        if len(starts) > pages:
            raise RefusedError(TOO_LARGE, f"{len(starts)} slides; {pages} at most")
        return {"text": text, "pages": starts, **told}
    return {"text": text, **told}


def from_pdf(path: Path, most: int) -> dict[str, Any]:
    """A PDF page by page, so that each page's place is known."""
    import pypdfium2  # noqa: PLC0415
    from markitdown import StreamInfo  # noqa: PLC0415
    from markitdown.converters import PdfConverter  # noqa: PLC0415

    try:
        whole = pypdfium2.PdfDocument(path)
    except pypdfium2.PdfiumError as exc:
        raise RefusedError(PROTECTED if "password" in str(exc).lower() else DAMAGED) from exc
    if len(whole) > most:
        raise RefusedError(TOO_LARGE, f"{len(whole)} pages; {most} at most")
    converter, info = PdfConverter(), StreamInfo(extension=".pdf", mimetype="application/pdf")
    texts, starts, length = [], [], 0
    for number in range(len(whole)):
        single = pypdfium2.PdfDocument.new()
        single.import_pages(whole, [number])
        held = io.BytesIO()
        single.save(held)
        single.close()
        held.seek(0)
        text = plain(converter.convert(held, info).markdown).strip() + "\n\n"
        texts.append(text)
        starts.append(length)
        length += len(text)
    told = {name.lower(): value for name, value in whole.get_metadata_dict(skip_empty=True).items()}
    described = {
        "title": told.get("title", ""),
        "author": told.get("author", ""),
        "description": told.get("subject", ""),
    }
    return {"text": "".join(texts), "pages": starts, **described}


def sheets(path: Path, most: int) -> str:
    """The sheets of a workbook as tables, each under its name. Refused where a table would have over `most` cells."""
    from openpyxl import load_workbook  # noqa: PLC0415

    book = load_workbook(path, read_only=True, data_only=True)
    return (
        "\n\n".join(f"## {cell_text(sheet.title)}\n{sheet_table(sheet, most)}".strip() for sheet in book.worksheets)
        + "\n"
    )


def sheet_table(sheet: Any, most: int) -> str:
    """The table; the first row that holds something is its head."""
    rows = list(sheet_rows(sheet))
    columns = sorted({column for row in rows for column in row})
    if len(rows) * len(columns) > most:
        raise RefusedError(TOO_LARGE, f"a table of {len(rows)} rows and {len(columns)} columns")
    lines = ["| " + " | ".join(row.get(column, "") for column in columns) + " |" for row in rows]
    return "\n".join([*lines[:1], "|" + " --- |" * len(columns), *lines[1:]]) if lines else ""


def sheet_rows(sheet: Any) -> Iterator[dict[int, str]]:
    """The texts of each row that has any, by column. What a sheet says of its own extent is not believed: it may name
    a million rows, and those in between take nothing then."""
    sheet.reset_dimensions()
    for number, row in enumerate(sheet.iter_rows(values_only=True)):
        if number >= SHEET_ROWS:
            raise RefusedError(DAMAGED)
        found = {column: text for column, value in enumerate(row) if value is not None and (text := cell_text(value))}
        if found:
            yield found


def cell_text(value: Any) -> str:
    if isinstance(value, datetime) and value.time() == time():
        value = value.date()
    return " ".join(str(value).replace("|", "\\|").split())


def plain(text: str) -> str:
    """The text with plain line breaks and without characters that nothing keeps."""
    return text.replace("\r\n", "\n").replace("\r", "\n").replace("\f", "").replace("\x00", "")


def fitting(answer: dict[str, Any], chars: int) -> dict[str, Any]:
    """The answer unless its text is too long."""
    if len(answer["text"]) > chars:
        raise RefusedError(TOO_LARGE, f"a text of {len(answer['text'])} characters; {chars} at most")
    return answer


def slides(text: str) -> list[int]:
    """Where the slides begin in the Markdown of a presentation."""
    mark = "<!-- Slide number: "
    found, place = [], text.find(mark)
    while place >= 0:
        found.append(place)
        place = text.find(mark, place + 1)
    return found


def core_properties(path: Path) -> dict[str, str]:
    """Title, author and description of an office file."""
    from defusedxml import DefusedXmlException  # noqa: PLC0415
    from defusedxml.ElementTree import ParseError, fromstring  # noqa: PLC0415

    try:
        with zipfile.ZipFile(path) as archive:
            tree = fromstring(archive.read("docProps/core.xml"))
    except (KeyError, ParseError, DefusedXmlException):
        return {}
    found = {each.tag.rpartition("}")[2]: (each.text or "").strip() for each in tree}
    return {ours: found.get(theirs, "") for theirs, ours in CORE.items()}


def html_head(path: Path) -> dict[str, str]:
    """Title, author and description of a page."""
    from bs4 import BeautifulSoup  # noqa: PLC0415

    page = BeautifulSoup(path.read_bytes(), "html.parser", from_encoding="utf-8")
    found = {"title": page.title.get_text(" ", strip=True) if page.title else ""}
    for name in ("author", "description"):
        tag = page.find("meta", attrs={"name": name})
        found[name] = str(tag.get("content") or "").strip() if tag else ""
    return found


def main(path: str, extension: str, pages: str, chars: str) -> None:
    """Convert and write the answer, or why there is none."""
    sys.setrecursionlimit(2000)
    try:
        answer = fitting(convert(Path(path), extension, int(pages), int(chars)), int(chars))
    except RefusedError as exc:
        answer = {"refused": [str(part) for part in exc.args]}
    except MemoryError:
        answer = {"refused": [TOO_LARGE, "more memory than a conversion may take"]}
    except Exception as exc:  # noqa: BLE001  a parser fails on a strange file in ways that nobody can list
        answer = {"refused": [DAMAGED, type(exc).__name__]}
    sys.stdout.write(json.dumps(answer))


if __name__ == "__main__":
    main(*sys.argv[1:])
