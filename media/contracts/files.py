"""The file that a document was made of."""

from __future__ import annotations

from uuid import UUID

from pydantic import Field

from kernel.contracts import Contract


class GetDocumentFileInput(Contract):
    """Which document."""

    document_id: UUID = Field(description="The document.")


class GetDocumentFileResult(Contract):
    """What its file is, and where its bytes are."""

    document_id: UUID = Field(description="The document.")
    name: str = Field(description="What the file is called.")
    mime: str = Field(description="What its content shows it to be.")
    byte_size: int = Field(description="Bytes.")
    content_hash: str = Field(description="SHA-256 of its bytes, in hex.")
    path: str = Field(description="Where its bytes are: GET this address of the server with your key.")
