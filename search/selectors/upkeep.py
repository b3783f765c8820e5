"""Looking over the index itself: what in it is stale, how much there is, and what it amounts to."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from typing import Any, NamedTuple, TypeVar
from uuid import UUID

from django.db.models import Exists, Model, OuterRef, QuerySet

from kernel import tokens
from search.contracts import Kind
from search.models import IndexEntry

Row = TypeVar("Row", bound=Model)


class EntrySeen(NamedTuple):
    """An entry by its number: what it is an entry of, and whether another tokeniser made it."""

    number: int
    kind: str
    object_id: UUID
    stale: bool


def entries_after(domain_id: str, number: int, most: int) -> list[EntrySeen]:
    """The entries of a domain after that number, in their order."""
    rows = IndexEntry.objects.filter(pk__gt=number, domain_id=domain_id).order_by("pk")
    found = rows.values_list("pk", "kind", "object_id", "tokeniser")[:most]
    return [EntrySeen(pk, kind, object_id, made_by != tokens.VERSION) for pk, kind, object_id, made_by in found]


def count_entries(domain_id: str | None) -> tuple[int, int]:
    """How many entries a domain has, or the installation, and how many of them another tokeniser made."""
    rows = IndexEntry.objects.all() if domain_id is None else IndexEntry.objects.filter(domain_id=domain_id)
    return rows.count(), rows.exclude(tokeniser=tokens.VERSION).count()


def without_entry(rows: QuerySet[Row], kind: Kind, of: str = "pk") -> QuerySet[Row]:
    """Those of the rows that should be found as this kind of text, under the id in the column `of`, and are not."""
    return rows.filter(~Exists(IndexEntry.objects.filter(object_id=OuterRef(of), kind=kind.value)))


def has_entry(kind: Kind, object_id: OuterRef, **scope: Any) -> Exists:
    """A condition on rows of another table: an object has an entry of this kind in a scope whose columns are these."""
    return Exists(IndexEntry.objects.filter(object_id=object_id, kind=kind.value, **scope))


def entries_of(kind: Kind) -> QuerySet[IndexEntry]:
    """All entries of a kind, in their order, for their owner to compare with what it has."""
    return IndexEntry.objects.filter(kind=kind.value).order_by("pk")


def outdated_entries(kind: Kind) -> QuerySet[IndexEntry]:
    """Those that another tokeniser made."""
    return entries_of(kind).exclude(tokeniser=tokens.VERSION)


def index_digest(domain_id: str) -> str:
    """SHA-256 over all that searching a domain rests on, but the numbers of its rows: equal for equal indexes."""
    columns: Sequence[str] = (
        *("kind", "object_id", "scope_id", "session_key", "sequence", "author", "label", "trust", "event_time"),
        *("recorded_at", "current_until", "valid_from", "valid_to", "state", "tokeniser", "length", "terms"),
    )
    total = hashlib.sha256()
    rows = IndexEntry.objects.filter(domain_id=domain_id).order_by("object_id", "kind", "scope_id")
    for row in rows.values_list(*columns).iterator(chunk_size=500):
        plain = [bytes(value).hex() if isinstance(value, bytes | memoryview) else str(value) for value in row]
        total.update("\x1f".join(plain).encode() + b"\x1e")
    return total.hexdigest()
