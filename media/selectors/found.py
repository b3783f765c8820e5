"""Reading again what the index found of documents, and checking references to them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime, time
from typing import TYPE_CHECKING
from uuid import UUID

from django.db.models import Exists, OuterRef, Q, Subquery

from kernel.context import Ctx
from kernel.ids import uuids_in
from media.models import DocumentShare, SourceSection
from media.selectors.sight import private_scope, visible_documents
from scopes.selectors import private_scopes
from search.contracts import Hydrated

if TYPE_CHECKING:
    from scopes.models import MemoryScope


def own_scope(domain_id: str, ctx: Ctx) -> MemoryScope | None:
    """The scope under which the index keeps the caller's own documents; None where there are none."""
    return private_scopes(domain_id, [private_scope(ctx.actor.id)]).first()


def hydrate_sections(
    ids: Sequence[UUID], domain_id: str, scope_keys: Sequence[int], _reader: str
) -> Mapping[UUID, Hydrated]:
    """Sections of documents that are shared to one of the scopes, or to none and whose owner's own scope is among them."""
    anywhere = DocumentShare.objects.filter(document=OuterRef("document_id"))
    shared = anywhere.filter(scope_id__in=scope_keys)
    owners = [row.external_id for row in private_scopes(domain_id, keys=scope_keys)]
    seen = Q(Exists(shared)) | Q(document__owner_id__in=owners) & ~Exists(anywhere)
    rows = SourceSection.objects.filter(seen, pk__in=ids, domain_id=domain_id, document__domain_id=domain_id)
    found = {}
    first = Subquery(shared.order_by("scope_id").values("scope_id")[:1])
    for row in rows.select_related("document").annotate(shared_key=first):
        published = row.document.publication_date
        found[row.pk] = Hydrated(
            text=row.content,
            author=row.document.author,
            event_time=datetime.combine(published, time(), UTC) if published else row.document.created_at,
            recorded_at=row.created_at,
            title=row.title,
            section_id=row.pk,
            document_id=row.document_id,
            document=row.document.title,
            pages=row.metadata,
            shared_key=row.shared_key,
        )
    return found


def resolve_sections(ids: Sequence[str], domain_id: str, ctx: Ctx) -> Mapping[str, str]:
    """Sections by their id, of visible documents."""
    wanted = uuids_in(ids)
    seen = Exists(visible_documents(ctx).filter(pk=OuterRef("document_id")))
    rows = SourceSection.objects.filter(seen, domain_id=domain_id, pk__in=wanted.values()) if wanted else []
    known = {row.pk for row in rows}
    return {text: str(row_id) for text, row_id in wanted.items() if row_id in known}


def resolve_documents(ids: Sequence[str], domain_id: str, ctx: Ctx) -> Mapping[str, str]:
    """Visible documents by their id."""
    wanted = uuids_in(ids)
    rows = visible_documents(ctx).filter(domain_id=domain_id, pk__in=wanted.values()) if wanted else []
    known = {row.pk for row in rows}
    return {text: str(row_id) for text, row_id in wanted.items() if row_id in known}
