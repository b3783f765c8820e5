"""References to evidence: what a memory, a promotion or a demotion rests on."""

from __future__ import annotations

from typing import Annotated, Any, Literal
from urllib.parse import quote, unquote, urlsplit
from uuid import UUID

from pydantic import (
    AfterValidator,
    BeforeValidator,
    Field,
    TypeAdapter,
    ValidationError,
    ValidationInfo,
    field_validator,
    model_validator,
)

from kernel.contracts import Contract

RefKind = Literal["memory", "message", "section", "document", "card", "url"]


class EvidenceRef(Contract):
    """What something rests on: its kind and its id."""

    kind: RefKind = Field(description="What it is.")
    id: str = Field(min_length=1, max_length=2000, description="Its id, or the address of a url; 2,000 bytes at most.")

    @field_validator("id")
    @classmethod
    def _in_one_form(cls, value: str, info: ValidationInfo) -> str:
        if info.data.get("kind") == "memory":
            try:
                return str(UUID(value))
            except ValueError:
                return value  # no item has such an id; whoever looks it up says so
        return value

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

    @property
    def identity(self) -> tuple[str, str]:
        """Equal for references that name the same thing, however an address is spelt."""
        return self.kind, address_named(self.id) if self.kind == "url" else self.id


_PORTS = {"http": 80, "https": 443}


def address_named(text: str) -> str:
    """What an address names, whatever its spelling: without fragment, user and default port, host in lower case, no
    slash at the end."""
    try:
        parts = urlsplit(text)
        host, port = (parts.hostname or "").rstrip("."), parts.port
    except ValueError:
        return text
    where = host if port is None or port == _PORTS.get(parts.scheme) else f"{host}:{port}"
    path = quote(unquote(parts.path), safe="/:@!$&'()*+,;=~").rstrip("/")
    return f"{parts.scheme}://{where}{path}" + (f"?{parts.query}" if parts.query else "")


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


def _each_once(refs: list[EvidenceRef]) -> list[EvidenceRef]:
    """The references in their order, of those that name the same thing the first."""
    once: dict[tuple[str, str], EvidenceRef] = {}
    for ref in refs:
        once.setdefault(ref.identity, ref)
    return list(once.values())


_ANY: TypeAdapter[EvidenceRef] = TypeAdapter(EvidenceRefIn)


def ref_of(given: Any) -> EvidenceRef | None:
    """A reference as it was given, before it is checked; None for what is none."""
    try:
        return _ANY.validate_python(given)
    except ValidationError:
        return None


def identity_of(given: Any) -> tuple[str, str] | None:
    """The identity of a reference as it was given, before it is checked; None for what is none."""
    ref = ref_of(given)
    return ref.identity if ref is not None else None


EvidenceRefs = Annotated[
    list[EvidenceRefIn],
    Field(max_length=50, description="What it rests on: `{kind, id}` each, or the bare UUID of a memory item."),
    AfterValidator(_each_once),
]
