"""Reading what is imported: what it is, its text, its sections and all that is known of it. Nothing is written but the
bytes themselves, which are kept first, so that a crash leaves no document without them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import PurePosixPath
from typing import Any
from urllib.parse import unquote, urlsplit

from kernel.conf import conf
from kernel.context import Ctx
from kernel.errors import InvalidInputError
from kernel.text import is_address, storable
from media.chunking import Chunk, chunk
from media.contracts.documents import AddDocumentInput, DocumentOptions, ImportStatus
from media.contracts.kinds import MediaType, SourceType
from media.contracts.metadata import CONTENT, DocumentMetadata, MediaFacts, Semantic
from media.converting import Converted, Limits, can_read, to_markdown
from media.extracting import Extracted, sections_of
from media.models import MediaObject
from media.services import objects
from media.services.ingesting.looking import look_into, said_in
from media.services.ingesting.sources import Brought, brought
from media.services.sections import Counted, count_sections
from media.sniffing import Sniffed, sniff

# Files of these types are read as what their content shows, whatever they are called.
_READ_AS = {
    "application/pdf": ".pdf",
    "application/vnd.openxmlformats-officedocument.wordprocessingml.document": ".docx",
    "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet": ".xlsx",
    "application/vnd.openxmlformats-officedocument.presentationml.presentation": ".pptx",
    "text/html": ".html",
    "text/csv": ".csv",
    "application/json": ".json",
}
_BINARY = (".docx", ".xlsx", ".pptx", ".pdf")
_LOOKED_INTO = (MediaType.IMAGE, MediaType.AUDIO, MediaType.VIDEO)
_READ = (MediaType.DOCUMENT, MediaType.OTHER)
_NOT_DONE = ("generate_tags", "generate_embeddings")


@dataclass(frozen=True, slots=True)
class NewSection:
    """A section to store, with where it is."""

    title: str
    content: str
    metadata: dict[str, Any]


@dataclass(frozen=True, slots=True)
class Ready:
    """A document that was read and waits to be stored. `uri` is empty where it is known by its bytes; `counted` has the
    terms of its sections."""

    domain_id: str
    stored: MediaObject
    uri: str
    source_type: SourceType
    title: str
    author: str
    description: str
    language: str
    metadata: DocumentMetadata
    sections: tuple[NewSection, ...]
    counted: Counted
    status: ImportStatus
    warnings: tuple[str, ...]


def prepare(given: AddDocumentInput, wanted: MediaType | None, domain_id: str, ctx: Ctx) -> Ready:
    """Read a document; `wanted` is what it is said to be, None leaves it to the server.

    Raises InvalidInputError for what cannot be read, NotFoundError for what is not the caller's, TooLargeError over a
    limit, UnavailableError where the store cannot be reached.
    """
    options = given.options
    with brought(given.source, options, domain_id, ctx) as file:
        if not file.path.stat().st_size:
            raise InvalidInputError("The file holds no bytes: there is nothing to import.")
        found = sniff(file.name, file.path)
        media_type = wanted or MediaType(found.media_type)
        stored = objects.keep(file.path, found.mime, ctx)
        text = _text(file, found, media_type)
        seen = look_into(file.path, found, options) if media_type in _LOOKED_INTO else None
    facts = MediaFacts.parse(seen.media) if seen else MediaFacts(format=found.format or None)
    title = (options.title or text.title or _heading(text.text) or _name_of(file, given.source) or "Untitled")[:255]
    semantic = _semantic(options, seen)
    sections = _sections(text, title, file.name, semantic, seen)
    metadata = DocumentMetadata(
        media_type=media_type,
        media=facts,
        semantic=semantic,
        content="\n\n".join(part.content for part in sections)[:CONTENT]
        if not text.text.strip()
        else text.text[:CONTENT],
        file_name=file.name,
        file_size=stored.byte_size,
        file_type=found.mime,
        **options.metadata,
    )
    skipped = [f"{name}_ignored" for name in _NOT_DONE if getattr(options, name)]
    unread = media_type in _READ and not can_read(_read_as(found))
    return Ready(
        domain_id=domain_id,
        stored=stored,
        uri=options.own_address or file.uri,
        source_type=options.source_type or file.source_type,
        title=title,
        author=options.author if options.author is not None else text.author[:255],
        description=options.description if options.description is not None else text.description,
        language=options.language or text.language,
        metadata=metadata,
        sections=sections,
        counted=count_sections(title, sections),
        status=ImportStatus.UNSUPPORTED if unread else ImportStatus.SUCCESS,
        warnings=(*found.warnings, *text.warnings, *(seen.warnings if seen else ()), *skipped),
    )


def _text(file: Brought, found: Sniffed, media_type: MediaType) -> Converted:
    """The text of a document; pictures and sound have none of their own."""
    extension = _read_as(found)
    if media_type in _LOOKED_INTO:
        if can_read(extension):
            raise InvalidInputError(f"The file is no {media_type.value}: it holds {found.mime}.")
        return Converted("")
    settings = conf()
    limits = Limits(
        seconds=settings.media_convert_seconds,
        memory=settings.media_convert_memory,
        pages=settings.media_max_pages,
        chars=settings.media_max_chars,
    )
    return to_markdown(file.path, extension, limits)


def _read_as(found: Sniffed) -> str:
    """The extension of what a file is read as: what its content shows, or among texts what its name says. Of what is
    not read it names the format; it is empty where nothing is known of it."""
    named = f".{found.extension}"
    if found.is_text:
        return named if can_read(named) and named not in _BINARY else _READ_AS.get(found.mime, ".txt")
    shown = _READ_AS.get(found.mime) or f".{found.format}"
    return "" if shown == "." or (can_read(shown) and shown not in _BINARY) else shown


def _heading(text: str) -> str:
    """What the first heading of the first level says."""
    for line in text[:20_000].split("\n"):
        if line.startswith("# "):
            return line[2:].strip(" #")
    return ""


def _name_of(file: Brought, source: str) -> str:
    if file.name and file.source_type is not SourceType.MANUAL:
        return file.name
    return storable(unquote(PurePosixPath(urlsplit(source).path).name)) if is_address(source) else ""


def _semantic(options: DocumentOptions, seen: Extracted | None) -> Semantic:
    """What it shows or says: the caller's own description comes first."""
    return Semantic(
        description=options.description if options.description is not None or not seen else seen.description,
        captions=said_in(seen) if seen else [],
        tags=list(dict.fromkeys(options.tags)),
    )


def _sections(
    text: Converted, title: str, name: str, semantic: Semantic, seen: Extracted | None
) -> tuple[NewSection, ...]:
    """The sections of its text, or of its timeline; of what has neither, one of all the words that are known of it."""
    timed = sections_of(seen.segments) if seen else []
    if timed:
        return tuple(
            NewSection(each.title, each.content, {"chunk_index": number, **each.metadata, "section_title": each.title})
            for number, each in enumerate(timed)
        )
    found = [_section(number, each) for number, each in enumerate(chunk(text.text, text.pages))]
    read = seen.text if seen else ""
    return tuple(found) or (NewSection(title, _known_words(title, name, semantic, read), {"chunk_index": 0}),)


def _section(number: int, each: Chunk) -> NewSection:
    place = {"chunk_index": number, "offset_start": each.offset_start, "offset_end": each.offset_end}
    return NewSection(each.title[:500], each.text, {**place, **_pages(each), "section_title": each.title[:500]})


def _pages(each: Chunk) -> dict[str, Any]:
    """The page on which it begins; of one that runs over several, the last and where in its text each begins."""
    if each.page is None:
        return {}
    if not each.page_starts:
        return {"page": each.page}
    return {"page": each.page, "page_end": each.page + len(each.page_starts), "page_starts": list(each.page_starts)}


def _known_words(title: str, name: str, semantic: Semantic, read: str) -> str:
    words: Sequence[str | None] = (title, name, semantic.description, *semantic.captions, read, *semantic.tags)
    return "\n".join(dict.fromkeys(each for each in words if each))
