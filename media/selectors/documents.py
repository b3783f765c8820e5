"""Reading documents and their sections, as far as the one who asks may see them."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from uuid import UUID

from django.db.models import Exists, OuterRef, QuerySet

from kernel.context import Ctx
from kernel.db import byte_order, starts_with
from kernel.errors import NotFoundError
from kernel.text import fold
from media.contracts.documents import DocumentView, ListDocumentsInput, SectionView
from media.contracts.kinds import DocumentState, MediaType, SourceType
from media.models import DocumentShare, SectionTag, SourceDocument, SourceSection, TopicSection
from media.selectors.sight import visible_documents
from scopes.contracts import ScopeView
from scopes.selectors import visible_scopes


def get_document(document_id: UUID, ctx: Ctx) -> SourceDocument:
    """A visible document. Raises NotFoundError."""
    row = visible_documents(ctx).filter(pk=document_id).first()
    if row is None:
        raise NotFoundError(f"No document {str(document_id)!r} that you can see.")
    return row


def filter_documents(given: ListDocumentsInput, domain_id: str, ctx: Ctx) -> QuerySet[SourceDocument]:
    """Visible documents that fit the filters."""
    rows = visible_documents(ctx).filter(domain_id=domain_id)
    plain = {"media_type": given.media_type, "source_type": given.source_type, "language": given.language}
    rows = rows.filter(**{column: value for column, value in plain.items() if value is not None})
    if given.own:
        rows = rows.filter(owner_id=ctx.actor.id)
    if given.source_uri_prefix is not None:
        rows = rows.filter(starts_with("source_uri", given.source_uri_prefix))
    if given.scope is not None:
        shares = DocumentShare.objects.filter(scope__scope_type=given.scope.type, scope__external_id=given.scope.id)
        seen = Exists(visible_scopes(ctx).filter(pk=OuterRef("scope_id")))
        rows = rows.filter(Exists(shares.filter(seen, document=OuterRef("pk"))))
    if given.tag is not None:
        rows = rows.filter(_with(SectionTag.objects.filter(tag__folded=fold(given.tag), tag__domain_id=domain_id)))
    if given.topic_id is not None:
        rows = rows.filter(_with(TopicSection.objects.filter(topic_id=given.topic_id, topic__domain_id=domain_id)))
    return rows


def _with(filed: QuerySet[SectionTag] | QuerySet[TopicSection]) -> Exists:
    return Exists(filed.filter(section__document=OuterRef("pk")))


def scopes_of(documents: Iterable[SourceDocument], ctx: Ctx) -> Mapping[UUID, list[ScopeView]]:
    """The scopes that documents are shared to, of those that the caller may read."""
    rows = DocumentShare.objects.filter(
        Exists(visible_scopes(ctx).filter(pk=OuterRef("scope_id"))), document__in=[row.pk for row in documents]
    )
    found: defaultdict[UUID, list[ScopeView]] = defaultdict(list)
    for row in rows.select_related("scope").order_by("scope_id"):
        found[row.document_id].append(ScopeView(type=row.scope.scope_type, id=row.scope.external_id))
    return found


def view_documents(rows: Sequence[SourceDocument], ctx: Ctx) -> list[DocumentView]:
    """Documents as answers show them; two statements, however many there are."""
    scopes = scopes_of(rows, ctx)
    return [
        DocumentView(
            id=row.pk,
            domain_id=row.domain_id,
            title=row.title,
            author=row.author,
            description=row.description,
            publication_date=row.publication_date,
            language=row.language,
            media_type=MediaType(row.media_type),
            source_type=SourceType(row.source_type),
            source_uri=row.source_uri,
            content_hash=row.content_hash,
            state=DocumentState(row.state),
            own=row.owner_id == ctx.actor.id,
            owner=row.owner_name,
            scopes=scopes.get(row.pk, []),
            created_at=row.created_at,
            updated_at=row.updated_at,
        )
        for row in rows
    ]


def view_sections(rows: Sequence[SourceSection]) -> list[SectionView]:
    """Sections as answers show them, with their tags."""
    tags: defaultdict[UUID, list[str]] = defaultdict(list)
    filed = SectionTag.objects.filter(section__in=[row.pk for row in rows]).select_related("tag")
    for each in filed.order_by(byte_order("tag__folded")):
        tags[each.section_id].append(each.tag.name)
    return [
        SectionView(
            id=row.pk,
            number=row.number,
            title=row.title,
            content=row.content,
            metadata=row.metadata,
            tags=tags.get(row.pk, []),
        )
        for row in rows
    ]
