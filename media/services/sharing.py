"""Sharing documents: letting those who read a scope read a document, and no longer."""

from __future__ import annotations

from collections.abc import Sequence
from uuid import UUID

from kernel.actions import Change
from kernel.context import Ctx
from kernel.errors import NotFoundError
from media.models import DocumentShare, SourceDocument
from media.services.sections import Counted, count_sections, index_sections
from scopes.contracts import SESSION
from scopes.selectors import partition_of
from scopes.services import ensure_scopes
from search import services as index
from search.contracts import Kind


def locked(document: SourceDocument) -> SourceDocument:
    """The document as it is now, held against other writers. Raises NotFoundError where it is gone."""
    row = SourceDocument.objects.select_for_update().filter(pk=document.pk).first()
    if row is None:
        raise NotFoundError(f"No document {str(document.pk)!r} that you can see.")
    return row


def counted(document: SourceDocument) -> Counted:
    """The terms of a document's sections as it is now, for `share`."""
    return count_sections(document.title, document.sections.all())


def share(document: SourceDocument, scope: str, terms: Counted, ctx: Ctx) -> list[Change]:
    """Let a scope (`type:id`) see the document, and find it by terms that were counted before; saying it again changes
    nothing."""
    rows, opened = ensure_scopes(document.domain_id, [scope], ctx, partition_of(document.domain_id, ctx))
    row, created = DocumentShare.objects.get_or_create(
        document=document,
        scope=rows[scope],
        defaults={"domain_id": document.domain_id, "shared_by": ctx.actor.name, "created_at": ctx.now},
    )
    if not created:
        return opened
    index_sections(document, list(document.sections.order_by("number")), [row.scope_id], terms)
    return [*opened, Change("document_shares", str(row.pk), None, told(document, scope))]


def told(document: SourceDocument, scope: str) -> dict[str, str]:
    """What the audit log keeps of a share."""
    return {
        "domain_id": document.domain_id,
        "document_id": str(document.pk),
        "scope": scope,
    }


def unshare(document: SourceDocument, scope: str, ctx: Ctx) -> list[Change]:
    """Take the document out of a scope, out of its index too; where it is not shared there, nothing changes."""
    kind, _, external_id = scope.partition(":")
    rows = DocumentShare.objects.select_related("scope").filter(document=document)
    partition = partition_of(document.domain_id, ctx) if kind == SESSION else ""
    row = rows.filter(scope__scope_type=kind, scope__external_id=external_id, scope__partition=partition).first()
    if row is None:
        return []
    sections: Sequence[UUID] = list(document.sections.values_list("pk", flat=True))
    index.remove(Kind.SECTION, sections, row.scope_id)
    row_id = str(row.pk)
    row.delete()
    return [Change("document_shares", row_id, told(document, scope), None)]
