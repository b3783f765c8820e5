"""Reading sections for a plan: where it may look, which filters it puts, and what the index found for it.

Isolation is checked twice: in the look-up, by the scopes of the index and by the filter that the database applies to
every candidate, and again when what was found is read.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime, time
from typing import Any
from uuid import UUID

from django.db.models import Exists, F, OuterRef, Q, QuerySet, Subquery
from django.db.models.functions import Left, Lower
from django.db.models.lookups import Exact

from kernel.context import Ctx
from kernel.db import starts_with
from kernel.ids import uuids_in
from media.contracts.retrieval import GlobalFilters
from media.models import DocumentShare, SectionTag, SourceDocument, SourceSection, TopicSection
from media.selectors.sight import documents_in, private_scope, visible_documents
from scopes.selectors import Resolved, scope_rows, visible_scopes
from search.contracts import Kind

FEW = 300  # sections that are all ranked, whatever words they hold
MAX_SCOPES = 200


@dataclass(frozen=True, slots=True)
class Reading:
    """Where a plan is carried out. `scopes` are those through which others' documents are seen, by key; `named` tells
    whether the caller named them, `names` how; `private_key` is the scope of the actor's own documents, if it has any.
    """

    domain_id: str
    scopes: Mapping[int, str]
    named: bool = False
    names: tuple[str, ...] = ()
    private_key: int | None = None
    cut: int = 0

    @property
    def scope_keys(self) -> tuple[int, ...]:
        """Every scope of the index to look in."""
        return (*self.scopes, *([self.private_key] if self.private_key is not None else []))


@dataclass(frozen=True, slots=True)
class SectionSeen:
    """A section with what an evidence tells of it and of its document. `shared_key` is the first of the scopes read that
    the document is shared to."""

    id: UUID
    number: int
    title: str
    content: str
    metadata: Mapping[str, Any]
    document_id: UUID
    document_title: str
    source_uri: str
    source_type: str
    language: str
    media_type: str
    content_hash: str
    shared_key: int | None
    event_time: datetime
    document: Mapping[str, Any] = field(repr=False)


_COLUMNS = (
    "id", "number", "title", "content", "metadata", "document_id", "document__title", "document__source_uri",
    "document__source_type", "document__language", "document__media_type", "document__content_hash",
    "shared_key", "document__publication_date", "document__created_at", "document__metadata",
)  # fmt: skip


def reading_in(place: Resolved, ctx: Ctx) -> Reading:
    """Within scopes that the caller named and was found to be allowed to read."""
    return Reading(
        place.domain_id,
        {key: row.name for key, row in place.scopes_read().items()},
        named=True,
        names=place.read,
        private_key=_private_key(place.domain_id, ctx),
    )


def reading_all(domain_id: str, ctx: Ctx) -> Reading:
    """All documents that the caller may see: its own, and those shared to any scope that it may read."""
    shared = DocumentShare.objects.filter(domain_id=domain_id, scope=OuterRef("pk"))
    rows = visible_scopes(ctx).filter(Exists(shared), domain_id=domain_id).order_by("-key")
    found = {row.key: row.name for row in rows[: MAX_SCOPES + 1]}
    kept = dict(list(found.items())[:MAX_SCOPES])
    return Reading(domain_id, kept, private_key=_private_key(domain_id, ctx), cut=len(found) - len(kept))


def _private_key(domain_id: str, ctx: Ctx) -> int | None:
    rows = scope_rows(domain_id, [private_scope(ctx.actor.id)], "")
    return rows[0].key if rows else None


def documents_of(reading: Reading, ctx: Ctx) -> QuerySet[SourceDocument]:
    """The documents that may be read there."""
    if reading.named:
        return documents_in(ctx, reading.domain_id, tuple(reading.scopes))
    return visible_documents(ctx).filter(domain_id=reading.domain_id)


def has_documents(reading: Reading, ctx: Ctx) -> bool:
    """Whether there is anything to read at all."""
    return documents_of(reading, ctx).exists()


def elsewhere(reading: Reading, ctx: Ctx) -> bool:
    """Whether the actor has documents of its own that it shared to other scopes only."""
    shared = DocumentShare.objects.filter(document=OuterRef("pk"))
    own = SourceDocument.objects.filter(domain_id=reading.domain_id, owner_id=ctx.actor.id)
    return own.filter(Exists(shared), ~Exists(shared.filter(scope_id__in=tuple(reading.scopes)))).exists()


def condition(filters: GlobalFilters) -> Q:
    """The filters as a condition on sections; the time is left to the index, which keeps it."""
    found = Q()
    if filters.document_ids:
        found &= Q(document_id__in=uuids_in(filters.document_ids).values())
    if filters.tag_ids:
        found &= Q(
            Exists(SectionTag.objects.filter(section=OuterRef("pk"), tag_id__in=uuids_in(filters.tag_ids).values()))
        )
    if filters.topic_ids:
        found &= Q(
            Exists(
                TopicSection.objects.filter(section=OuterRef("pk"), topic_id__in=uuids_in(filters.topic_ids).values())
            )
        )
    if filters.source_type:
        found &= Q(document__source_type__in=filters.source_type)
    if filters.media_type:
        found &= Q(document__media_type__in=filters.media_type)
    if filters.source_uri_prefix:
        found &= _any(starts_with("document__source_uri", prefix) for prefix in filters.source_uri_prefix)
    if filters.language:
        found &= _any(_speaks(code.lower()) for code in filters.language)
    return found


def _speaks(code: str) -> Q:
    """The language is this one, or a variant of it, such as `zh-TW` or `zh_tw` of `zh`."""
    column = Lower(F("document__language"))
    return (
        Q(Exact(column, code))
        | Q(Exact(Left(column, len(code) + 1), f"{code}-"))
        | Q(Exact(Left(column, len(code) + 1), f"{code}_"))
    )


def _any(conditions: Iterable[Q]) -> Q:
    found = Q(pk__in=[])
    for each in conditions:
        found |= each
    return found


def few_sections(reading: Reading, filters: Q, ctx: Ctx) -> tuple[UUID, ...] | None:
    """The sections that pass the filters, where they are few; None where they are many. It starts at the documents of
    the actor and at the shares, so that it costs nothing to have others' documents in the domain."""
    sections = SourceSection.objects.filter(filters, domain_id=reading.domain_id)
    shares = DocumentShare.objects.filter(document=OuterRef("document_id"))
    own = sections.filter(document__domain_id=reading.domain_id, document__owner_id=ctx.actor.id)
    if reading.named:
        own = own.filter(~Exists(shares))
    found: set[UUID] = set()
    for rows in (own, sections.filter(document__shares__scope_id__in=tuple(reading.scopes))):
        found.update(rows.order_by().values_list("pk", flat=True).distinct()[: FEW + 1])
    return tuple(sorted(found)) if len(found) <= FEW else None


def passing(reading: Reading, filters: Q, ctx: Ctx) -> Callable[[str], Any]:
    """The same as a condition of a look-up in the index, from the path to the column of a section's id."""
    documents = documents_of(reading, ctx)

    def within(column: str) -> Exists:
        rows = SourceSection.objects.filter(filters, domain_id=reading.domain_id, pk=OuterRef(column))
        return Exists(rows.filter(Exists(documents.filter(pk=OuterRef("document_id")))))

    return within


def readable_sections(place: Resolved, ctx: Ctx) -> Callable[[str], Any]:
    """A condition for look-ups of several kinds: a section lies in a document that is read through these scopes."""
    inside = passing(reading_in(place, ctx), Q(), ctx)

    def within(column: str) -> Q:
        kind = f"{column.removesuffix('object_id')}kind"
        return ~Q(**{kind: Kind.SECTION.value}) | Q(inside(column))

    return within


def read_sections(ids: Collection[UUID], reading: Reading, filters: Q, ctx: Ctx) -> dict[UUID, SectionSeen]:
    """Those of the sections that may be read and that pass the filters, whatever the index said of them."""
    if not ids:
        return {}
    documents = documents_of(reading, ctx)
    rows = SourceSection.objects.filter(filters, domain_id=reading.domain_id, pk__in=ids)
    rows = rows.filter(Exists(documents.filter(pk=OuterRef("document_id"))))
    shares = DocumentShare.objects.filter(document=OuterRef("document_id"), scope_id__in=tuple(reading.scopes))
    rows = rows.annotate(shared_key=Subquery(shares.order_by("scope_id").values("scope_id")[:1]))
    return {row[0]: _seen(*row) for row in rows.values_list(*_COLUMNS)}


def _seen(*row: Any) -> SectionSeen:
    *_, published, created, document = row
    event_time = datetime.combine(published, time(), UTC) if published else created
    columns: list[Any] = [*row[:-3], event_time, document]
    return SectionSeen(*columns)
