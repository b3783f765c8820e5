"""Sections of documents, in the order of their documents, and the index entries by which they are found."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from legacy.contracts import Outcome, Quarantined, Reason, SourceRow
from legacy.contracts.outcomes import moved
from legacy.source import Source
from legacy.steps.base import Run, each, here, parents, put
from legacy.steps.reading import read
from media.models import SourceDocument, SourceSection
from media.services.sections import reindex_sections

TABLE = "source_sections"
_KNOWN = frozenset(
    {"id", "document_id", "content", "section_title", "section_number", "created_at", "updated_at", "metadata"}
)
_MOST = 2_147_483_647
# The older system gave the same numbers again when a document was imported again: whoever holds a number second, or none,
# stands after the last.
_NUMBERS = """
LEFT JOIN (
  SELECT x.id, x.again, x.most, sum((x.again > 1 OR x.section_number IS NULL)::int)
    OVER (PARTITION BY x.document_id ORDER BY x.section_number, x.id) AS extra
  FROM (SELECT s.id, s.document_id, s.section_number,
               row_number() OVER (PARTITION BY s.document_id, s.section_number ORDER BY s.id) AS again,
               max(s.section_number) OVER (PARTITION BY s.document_id) AS most
        FROM {source_sections} s) x
) n ON n.id = r.id
"""
_NUMBER = (
    "CASE WHEN n.again > 1 OR r.section_number IS NULL THEN coalesce(n.most, 0)::bigint + n.extra "
    "ELSE r.section_number END"
)


@dataclass(frozen=True, slots=True)
class Mapped:
    """What a section's row says; `number` is its place among those of its document."""

    document: str
    number: int
    title: str
    content: str
    metadata: dict[str, Any]
    created_at: datetime | None
    note: str = ""


def mapped(row: SourceRow) -> Mapped:
    """A section from its row; further columns go to its metadata. Raises Quarantined."""
    content = row.optional("content")
    if content is None:
        raise Quarantined(Reason.MISSING_VALUE, "content is NULL")
    number, note = _number(row)
    return Mapped(
        document=row.required("document_id"),
        number=number,
        title=row.text("section_title", 500),
        content=content,
        metadata={**_changed(row), **row.beside(_KNOWN), **row.json_object("metadata")},
        created_at=row.moment("created_at"),
        note=note,
    )


def _changed(row: SourceRow) -> dict[str, str]:
    """When it was changed last, where that was later than when it was made."""
    at = row.moment("updated_at")
    return {"updated_at": at.isoformat()} if at is not None and at != row.moment("created_at") else {}


def _number(row: SourceRow) -> tuple[int, str]:
    """Its number, and what is said where it is another than in the source."""
    given = row.integer("section_number") if row.has("section_number") else None
    number = row.place[1] if len(row.place) > 1 else given
    if number is None or number > _MOST:
        raise Quarantined(Reason.BAD_NUMBER, f"section_number: {number}")
    was = "it had no number" if given is None else f"another section holds number {given}"
    return number, "" if number == given else f"{was}: it has {number}"


class Sections:
    """The step of sections."""

    name = "source_sections"
    tables: tuple[str, ...] = (TABLE,)

    def rows(self, source: Source) -> Iterator[SourceRow]:
        """Every section, by its document and number."""
        if not source.has(TABLE, "section_number"):
            return source.rows(TABLE)
        return source.rows(TABLE, join=_NUMBERS, places=("r.document_id", _NUMBER))

    def store(self, rows: Sequence[SourceRow], run: Run) -> list[Outcome]:
        """Store sections and index them under the scopes in which their documents are read."""
        said = read(rows, mapped)
        known = parents("source_documents", (one.document for one in said))
        documents = SourceDocument.objects.defer("metadata").in_bulk(
            [document_id for one in said if (document_id := known.maybe(one.document))]
        )
        made: list[SourceSection] = []

        def take(row: SourceRow) -> Outcome:
            one = said.of(row)
            document = here(documents, known.target(one.document), "its document")
            made.append(
                SourceSection(
                    id=row.target_id(),
                    domain_id=document.domain_id,
                    document=document,
                    number=one.number,
                    title=one.title,
                    content=one.content,
                    metadata=one.metadata,
                    created_at=one.created_at or document.created_at,
                )
            )
            return moved(row, TABLE, made[-1].pk, one.note)

        outcomes = each(rows, take)
        put(made, run, ("number", "title", "content", "metadata", "created_at"), ("document_id",))
        reindex_sections([row.pk for row in made], run.ctx)
        return outcomes
