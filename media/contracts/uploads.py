"""Bringing the bytes of a file, to be imported afterwards."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Self

from pydantic import Field, PrivateAttr

from kernel.contracts import Contract
from media.contracts.kinds import MediaType
from scopes.contracts import DomainId


class UploadMediaInput(Contract):
    """A file. Over HTTP send large ones as a form to `/v1/media` instead."""

    domain_id: Annotated[
        DomainId | None,
        Field(description="Where it will be imported; left out, the only domain that you can reach, else `legacy`."),
    ] = None
    name: str = Field(min_length=1, max_length=255, pattern=r"\S", description="Its name with the extension.")
    data: str = Field(default="", description="Its bytes in base64.")
    _path: Path | None = PrivateAttr(default=None)

    @classmethod
    def of_file(cls, path: Path, name: str, domain_id: str | None = None) -> Self:
        """A file that a door of this server has received already: no caller can say this in JSON."""
        given = cls.parse({"name": name[-255:], "domain_id": domain_id})
        given._path = path  # noqa: SLF001  its own
        return given

    @property
    def path(self) -> Path | None:
        """Where a door put it; None where the bytes are in the input."""
        return self._path


class UploadMediaResult(Contract):
    """The file, ready to be imported."""

    source: str = Field(description="Give this as `source` of an import. It works for you alone, for a day at least.")
    name: str = Field(description="Give this as `options.name`, for its extension says what it is.")
    content_hash: str = Field(description="SHA-256 of its bytes, in hex.")
    byte_size: int = Field(description="Its bytes.")
    media_type: MediaType = Field(description="What it is.")
    warnings: list[str] = Field(description="What is odd about it.")
