"""The action that opens the file of a document: each download goes through it, and leaves its entry."""

from __future__ import annotations

from kernel.actions import Action, Target, register
from kernel.context import Ctx, Right
from media.contracts.files import GetDocumentFileInput, GetDocumentFileResult
from media.selectors.documents import get_document
from media.selectors.files import get_document_file


def _seen(given: GetDocumentFileInput, ctx: Ctx) -> Target:
    return Target(get_document(given.document_id, ctx).domain_id, scopes=())


GET_DOCUMENT_FILE = register(
    Action(
        "get_document_file",
        "Tell what the file of a document is and where its bytes can be downloaded.",
        GetDocumentFileInput,
        GetDocumentFileResult,
        Right.READ,
        _seen,
        lambda given, ctx: get_document_file(given.document_id, ctx),
    )
)
