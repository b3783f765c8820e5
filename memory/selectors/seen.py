"""Items as contexts and searches show them: the few columns that they need, read by compiled queries."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from datetime import datetime
from typing import Any, NamedTuple
from uuid import UUID

from django.db.models import Q, QuerySet

from kernel.compiled import Given, compiled
from kernel.db import checked
from memory.models import MemoryItem
from memory.selectors.items import current_items
from memory.selectors.standing import STANDING_TYPES
from search.contracts import Hydrated

MAX_STANDING = 200


class ItemSeen(NamedTuple):
    """A memory with what shows where it comes from. `source_session` is the caller's own id of the session."""

    id: UUID
    scope_id: int
    type: str
    key: str | None
    value: dict[str, Any]
    statement: str
    tier: str
    pinned: bool
    source_item_id: UUID | None
    source_turn_id: UUID | None
    source_message_id: UUID | None
    source_session: str | None
    message_id: str | None
    said_at: datetime | None
    valid_from: datetime | None
    recorded_at: datetime
    author_name: str


_COLUMNS = (
    *("id", "scope_id", "type", "key", "value", "statement", "tier", "pinned"),
    *("source_item_id", "source_turn_id", "source_message_id"),
    *("source_session__external_id", "source_message__external_id", "source_message__created_at"),
    *("valid_from", "recorded_at", "author_name"),
)


@compiled(ItemSeen)
def _by_id(domain: Given, scopes: Given, ids: Given) -> QuerySet[MemoryItem, Any]:
    inside = Q(narrowed_to=None) | Q(narrowed_to_id__among=scopes)
    rows = MemoryItem.objects.filter(inside, *checked(domain_id=domain, scope_id__among=scopes), pk__among=ids)
    return rows.values_list(*_COLUMNS)


@compiled(ItemSeen)
def _standing(domain: Given, scopes: Given, moment: Given) -> QuerySet[MemoryItem, Any]:
    rows = current_items(domain, scopes, moment).filter(type__in=STANDING_TYPES)
    return rows.order_by("-recorded_at", "-id").values_list(*_COLUMNS)[:MAX_STANDING]


@compiled(ItemSeen)
def _of_keys(
    domain: Given, scopes: Given, moment: Given, types: Given, keys: Given, known: Given
) -> QuerySet[MemoryItem, Any]:
    rows = current_items(domain, scopes, moment).filter(type__among=types, key__among=keys)
    return rows.exclude(pk__among=known).values_list(*_COLUMNS)


def items_seen(ids: Collection[UUID], domain_id: str, scope_keys: Collection[int]) -> dict[UUID, ItemSeen]:
    """Those of the items that lie in scopes that the caller was found to be allowed to read, current or not, and that
    were not narrowed to another scope."""
    return {row.id: row for row in _by_id(domain=domain_id, scopes=scope_keys, ids=ids)} if ids else {}


def standing_items(domain_id: str, scope_keys: Collection[int], moment: datetime) -> list[ItemSeen]:
    """The newest current items of the types that a context shows unasked."""
    return _standing(domain=domain_id, scopes=scope_keys, moment=moment)


def items_of_keys(
    known: Mapping[UUID, ItemSeen], domain_id: str, scope_keys: Collection[int], moment: datetime
) -> list[ItemSeen]:
    """The other current items in any of the scopes that have the types and keys of known ones; of other pairs of a type
    and a key as well."""
    keyed = [item for item in known.values() if item.key]
    if not keyed:
        return []
    types, keys = {item.type for item in keyed}, {item.key for item in keyed}
    return _of_keys(domain=domain_id, scopes=scope_keys, moment=moment, types=types, keys=keys, known=known.keys())


def hydrate_items(
    ids: Collection[UUID], domain_id: str, scope_keys: Collection[int], _reader: str
) -> Mapping[UUID, Hydrated]:
    """Items that may be shown in these scopes, by id, to whoever reads them."""
    return {item_id: hydrated_item(row) for item_id, row in items_seen(ids, domain_id, scope_keys).items()}


def hydrated_item(row: ItemSeen) -> Hydrated:
    """An item as a search result tells of it."""
    message_uuid = row.source_message_id
    return Hydrated(
        text=row.statement,
        author=row.author_name,
        event_time=row.valid_from or row.said_at or row.recorded_at,
        recorded_at=row.recorded_at,
        session_id=row.source_session,
        turn_id=row.source_turn_id,
        message_id=(row.message_id or str(message_uuid)) if message_uuid else None,
        message_uuid=message_uuid,
        item_id=row.id,
        title=row.key or row.type,
    )
