"""Reading what the file of a visible document is."""

from __future__ import annotations

from uuid import UUID

from kernel.context import Ctx
from kernel.errors import NotFoundError
from media.contracts.files import GetDocumentFileResult
from media.models import SourceDocument
from media.selectors.documents import get_document
from media.selectors.objects import object_of

CONTENT_PATH = "/v1/documents/{id}/content"


def get_document_file(document_id: UUID, ctx: Ctx) -> GetDocumentFileResult:
    """The file of a document that the actor may see. Raises NotFoundError where it may not, or no bytes are kept."""
    document = get_document(document_id, ctx)
    row = object_of(document)
    if row is None:
        raise NotFoundError(f"No file is kept of the document {str(document_id)!r}.")
    return GetDocumentFileResult(
        document_id=document.pk,
        name=_name(document),
        mime=row.mime or "application/octet-stream",
        byte_size=row.byte_size,
        content_hash=row.content_hash,
        path=CONTENT_PATH.format(id=document.pk),
    )


def _name(document: SourceDocument) -> str:
    said = document.metadata.get("file_name")
    name = said if isinstance(said, str) and said else document.title
    plain = "".join(letter if letter.isprintable() and letter not in "/\\" else " " for letter in name)
    return plain.strip(" .") or str(document.pk)
