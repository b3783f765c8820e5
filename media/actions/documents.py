"""Actions on documents that were imported: look, list, share, take away."""

from __future__ import annotations

from uuid import UUID

from kernel.actions import Action, Applied, Target, register
from kernel.context import Ctx, Right
from kernel.errors import ForbiddenError
from kernel.paging import page
from media.actions.place import checked_scope, domain_target, erasing, own_document, taking_out
from media.contracts.documents import (
    GetDocumentInput,
    GetDocumentResult,
    ListDocumentsInput,
    ListDocumentsResult,
    RemoveDocumentInput,
    RemoveDocumentResult,
    ShareDocumentInput,
    ShareDocumentResult,
)
from media.contracts.metadata import DocumentMetadata
from media.models import SourceDocument
from media.selectors.documents import filter_documents, get_document, scopes_of, view_documents, view_sections
from media.selectors.erasing import thing
from media.selectors.sight import domain_of
from media.services.documents import remove
from media.services.holding import require_unheld
from media.services.sections import Counted
from media.services.sharing import counted, locked, share, unshare
from scopes.selectors import held


def _seen(given: GetDocumentInput, ctx: Ctx) -> Target:
    return Target(get_document(given.document_id, ctx).domain_id, scopes=())


def _get(given: GetDocumentInput, ctx: Ctx) -> GetDocumentResult:
    row = get_document(given.document_id, ctx)
    sections, cursor = page(row.sections.all(), given, "number", int)
    return GetDocumentResult(
        document=view_documents([row], ctx)[0],
        metadata=DocumentMetadata.parse(row.metadata),
        section_count=row.sections.count(),
        sections=view_sections(sections),
        next_cursor=cursor,
    )


GET_DOCUMENT = register(
    Action(
        "get_document",
        "Show a document with what is known of it, and a page of its sections.",
        GetDocumentInput,
        GetDocumentResult,
        Right.READ,
        _seen,
        _get,
    )
)


def _list_target(given: ListDocumentsInput, ctx: Ctx) -> Target:
    return domain_target(given.domain_id, ctx)


def _list(given: ListDocumentsInput, ctx: Ctx) -> ListDocumentsResult:
    rows = filter_documents(given, domain_of(given.domain_id, ctx), ctx)
    found, cursor = page(rows, given, "id", UUID, newest_first=True)
    return ListDocumentsResult(documents=view_documents(found, ctx), next_cursor=cursor)


LIST_DOCUMENTS = register(
    Action(
        "list_documents",
        "List the documents that you may see in one domain, newest first.",
        ListDocumentsInput,
        ListDocumentsResult,
        Right.READ,
        _list_target,
        _list,
        resource="documents",
    )
)


def _remove_target(given: RemoveDocumentInput, ctx: Ctx) -> Target:
    return erasing(get_document(given.document_id, ctx), ctx)


def _found(given: RemoveDocumentInput | ShareDocumentInput, ctx: Ctx) -> SourceDocument:
    return get_document(given.document_id, ctx)


def _counted(given: ShareDocumentInput, ctx: Ctx) -> tuple[SourceDocument, Counted]:
    row = get_document(given.document_id, ctx)
    return row, counted(row)


def _remove(given: RemoveDocumentInput, row: SourceDocument, ctx: Ctx) -> Applied[RemoveDocumentResult]:
    found = locked(row)
    require_unheld(thing(row), row.domain_id)
    count, changes = remove(found)
    return RemoveDocumentResult(document_id=row.pk, section_count=count), changes


REMOVE_DOCUMENT = register(
    Action(
        "remove_document",
        "Take a document away for good, with its sections, shares and stored bytes that nothing else needs.",
        RemoveDocumentInput,
        RemoveDocumentResult,
        Right.ERASE,
        _remove_target,
        _found,
        _remove,
        destroys=True,
        instead="Import the document again.",
    )
)


def _share_target(given: ShareDocumentInput, ctx: Ctx) -> Target:
    row = get_document(given.document_id, ctx)
    own_document(row, ctx)
    return Target(row.domain_id, (checked_scope(given.scope, row.domain_id, ctx),))


def _share(given: ShareDocumentInput, found: tuple[SourceDocument, Counted], ctx: Ctx) -> Applied[ShareDocumentResult]:
    row = locked(found[0])
    changes = share(row, given.scope.name, found[1], ctx)
    return _shared(row, ctx), changes


def _shared(row: SourceDocument, ctx: Ctx) -> ShareDocumentResult:
    return ShareDocumentResult(document_id=row.pk, scopes=scopes_of([row], ctx).get(row.pk, []))


SHARE_DOCUMENT = register(
    Action(
        "share_document",
        "Let whoever reads a scope read a document of yours; you need the right to write the scope.",
        ShareDocumentInput,
        ShareDocumentResult,
        Right.WRITE,
        _share_target,
        _counted,
        _share,
        instead="Take the document out of the scope with unshare_document.",
    )
)


def _unshare_target(given: ShareDocumentInput, ctx: Ctx) -> Target:
    """The owner takes it out of any scope; whoever may erase there takes out what others brought."""
    row = get_document(given.document_id, ctx)
    if row.owner_id == ctx.actor.id:
        return taking_out(row, given.scope.name, ctx)
    if Right.ERASE not in held(ctx, row.domain_id, given.scope.name):
        raise ForbiddenError("Only the owner of a document, or whoever may erase in the scope, takes it out of there.")
    return Target(row.domain_id, (given.scope.name,))


def _unshare(given: ShareDocumentInput, row: SourceDocument, ctx: Ctx) -> Applied[ShareDocumentResult]:
    row = locked(row)
    changes = unshare(row, given.scope.name, ctx)
    return _shared(row, ctx), changes


UNSHARE_DOCUMENT = register(
    Action(
        "unshare_document",
        "Take a document out of a scope: those who saw it there see it no longer.",
        ShareDocumentInput,
        ShareDocumentResult,
        Right.WRITE,
        _unshare_target,
        _found,
        _unshare,
        instead="Share the document again with share_document.",
    )
)
