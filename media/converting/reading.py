"""Choosing how a file is read, and tidying what was read."""

from __future__ import annotations

import json
import tempfile
from pathlib import Path
from typing import Any

from kernel.errors import TooLargeError
from media.converting import texts
from media.converting.archives import check_archive
from media.converting.process import parse
from media.converting.results import Converted, Limits

_PLAIN = {".md", ".markdown", ".txt", ".text", ".log", ".rst", ".yaml", ".yml", ".xml"}
_TABLES = {".csv", ".tsv"}
_OFFICE = {".docx", ".xlsx", ".pptx"}
_PAGES = {".html", ".htm", ".xhtml"}
_NOT_READ = {".doc": "docx", ".xls": "xlsx", ".ppt": "pptx"}


def can_read(extension: str) -> bool:
    """Whether files of this extension (such as `.pdf`) are read."""
    return extension in _PLAIN | _TABLES | _OFFICE | _PAGES | {".json", ".pdf"}


def to_markdown(path: Path, extension: str, limits: Limits) -> Converted:
    """A file as Markdown, read as what its extension (such as `.pdf`) says; of one that is not read, an empty text with
    a warning. Raises InvalidInputError for a damaged file, TooLargeError over a limit."""
    if extension in _OFFICE:
        warnings = check_archive(path, limits.expanded)
        return _tidied(parse(path, extension, limits), warnings)
    if extension == ".pdf":
        return _tidied(parse(path, extension, limits), [])
    if not can_read(extension):
        instead = f":save_it_as_{_NOT_READ[extension]}" if extension in _NOT_READ else ""
        return Converted("", warnings=(f"format_not_read:{extension.lstrip('.') or 'unknown'}{instead}",))
    text, warnings = texts.decode(path.read_bytes())
    if len(text) > limits.chars:
        raise TooLargeError(f"The text has {len(text)} characters; {limits.chars} at most.")
    if extension in _PAGES:
        return _from_html(text, limits, warnings)
    if extension in _TABLES:
        text = texts.table(text)
    elif extension == ".json":
        text = texts.fenced(_laid_out(text), "json")
    return _tidied({"text": text, **texts.front_matter(text)}, warnings)


def _from_html(text: str, limits: Limits, warnings: list[str]) -> Converted:
    """A page is given to the parser in UTF-8, whatever it was in."""
    with tempfile.NamedTemporaryFile("w", encoding="utf-8", suffix=".html") as page:
        page.write(text.encode("utf-8", "replace").decode())
        page.flush()
        return _tidied(parse(Path(page.name), ".html", limits), warnings)


def _laid_out(text: str) -> str:
    """JSON with a line for each value, so that it can be cut between them; as it is where it is no JSON."""
    try:
        return json.dumps(json.loads(text), ensure_ascii=False, indent=1)
    except (ValueError, RecursionError):
        return text


def _tidied(told: dict[str, Any], warnings: list[str]) -> Converted:
    text, cleaned = texts.decode(str(told["text"]).encode("utf-8", "replace"))
    if not text.strip():
        warnings = [*warnings, "no_text_found"]
    return Converted(
        text=text,
        pages=tuple(told.get("pages", ())),
        title=_line(told.get("title")),
        author=_line(told.get("author")),
        description=_line(told.get("description")),
        language=texts.language_of(text),
        warnings=(*warnings, *cleaned),
    )


def _line(value: Any) -> str:
    return " ".join(str(value or "").replace("\x00", "").encode("utf-8", "replace").decode().split())
