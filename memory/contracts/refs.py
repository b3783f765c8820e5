"""References to evidence: what a memory, a promotion or a demotion rests on."""

from __future__ import annotations

from typing import Annotated, Any, Literal
from urllib.parse import urlsplit
from uuid import UUID

from pydantic import BeforeValidator, Field, field_validator, model_validator

from kernel.contracts import Contract

RefKind = Literal["memory", "message", "section", "document", "card", "url"]


class EvidenceRef(Contract):
    """What something rests on: its kind and its id."""

    kind: RefKind = Field(description="What it is.")
    id: str = Field(min_length=1, max_length=2000, description="Its id, or the address of a url; 2,000 bytes at most.")

    @field_validator("id")
    @classmethod
    def _fits_an_index(cls, value: str) -> str:
        if len(value.encode("utf-8")) > 2000:
            raise ValueError("has more than 2,000 bytes: write an address in its percent-encoded form, or shorten it")
        return value

    @model_validator(mode="after")
    def _readable(self) -> EvidenceRef:
        if self.kind == "url" and not is_address(self.id):
            raise ValueError("is no web address: give one that begins with http:// or https:// and names a host")
        return self


def is_address(text: str) -> bool:
    """Whether a text is an http(s) address with a host and no white space."""
    try:
        parts = urlsplit(text)
        named = bool(parts.hostname)
    except ValueError:
        return False
    return parts.scheme in ("http", "https") and named and not any(char.isspace() for char in text)


def _bare(given: Any) -> Any:
    """A bare UUID stands for a memory item."""
    if not isinstance(given, str):
        return given
    try:
        return {"kind": "memory", "id": str(UUID(given))}
    except ValueError as exc:
        raise ValueError("is neither {kind, id} nor the UUID of a memory item") from exc


EvidenceRefIn = Annotated[EvidenceRef, BeforeValidator(_bare, json_schema_input_type=UUID | EvidenceRef)]
EvidenceRefs = Annotated[
    list[EvidenceRefIn],
    Field(max_length=50, description="What it rests on: `{kind, id}` each, or the bare UUID of a memory item."),
]
