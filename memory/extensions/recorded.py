"""What a decided proposal about memory changed, or would have changed: from the record, however memory stands today.

The words of a memory never change. Its state does, so that is told as the recorded change tells it, and what may differ by
now without a record of what it was is left out.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any
from uuid import UUID

from governance.contracts.presenting import RowChange
from kernel.actions import Change
from kernel.context import Ctx
from kernel.ids import uuids_in
from memory.contracts.items import Status
from memory.extensions.showing import TABLE, UNREADABLE, fields_of, page_of, row_change
from memory.models import MemoryItem
from memory.selectors.near import readable

Place = tuple[str, str, str | None]  # scope, type and key of a memory
MAX_ROWS = 50
_UNRECORDED = frozenset({"status", "lifecycle", "confidence", "review_by", "pinned"})
_TOLD = ("status", "lifecycle", "confidence", "review_by", "narrowed_to")


def fields_then(item: MemoryItem, changes: Sequence[Change] = ()) -> dict[str, Any]:
    """What people compare of a memory as it was before these changes."""
    told = next((_state(change.before) for change in changes if _is_of(change, item.pk) and change.before), {})
    fields = fields_of(item)
    return {name: told.get(name, each) for name, each in fields.items() if name in told or name not in _UNRECORDED}


def rows_then(
    changes: Sequence[Change], new: Mapping[Place, Mapping[str, Any]], known: Iterable[MemoryItem], ctx: Ctx
) -> list[RowChange]:
    """The memories among some recorded changes, those that are new first. `new` says what the call asked for by its
    place, which stands for a row that was never made; `known` are rows that whoever decides is offered."""
    told = [change for change in changes if change.table == TABLE][:MAX_ROWS]
    rows = {row.pk: row for row in known}
    ids = uuids_in(change.id for change in told)
    rows |= readable([each for each in ids.values() if each not in rows], ctx)
    held = {change.id: rows[ids[change.id]] for change in told if ids.get(change.id) in rows}
    before = {
        str((change.after or {}).get("successor")): fields_then(held[change.id], changes)
        for change in told
        if change.id in held
    }
    added = [
        _added(change, held.get(change.id), new, before.get(change.id), ctx)
        for change in told
        if change.before is None
    ]
    return [
        *added,
        *(_changed(change, held.get(change.id), changes, ctx) for change in told if change.before is not None),
    ]


def _added(
    change: Change,
    row: MemoryItem | None,
    new: Mapping[Place, Mapping[str, Any]],
    before: Mapping[str, Any] | None,
    ctx: Ctx,
) -> RowChange:
    """A new row as it was asked for; one that the call did not name, such as what a text told, as it was made."""
    made = change.after or {}
    place = (change.scopes[0] if change.scopes else "", str(made.get("type", "")), made.get("key"))
    asked = new.get(place)
    if asked is not None:
        made_of = {name: each for name, each in asked.items() if name != "confidence"}
    else:
        made_of = fields_then(row) if row is not None else _thin(place)
    before, after = _comparable(before, {"status": Status.ACTIVE.value, **made_of})
    told = row_change(before, after, change.id, str(after.get("statement", "")))
    return told.model_copy(update={"kind": "added", "link": page_of(row, ctx)})


def _comparable(
    before: Mapping[str, Any] | None, after: Mapping[str, Any]
) -> tuple[Mapping[str, Any] | None, Mapping[str, Any]]:
    """A new row and the one that made way for it, without what is known of one side only for want of a record."""
    if before is None:
        return None, after
    old = {name: each for name, each in before.items() if name in after or name not in _UNRECORDED}
    return old, {name: each for name, each in after.items() if each or name in old or name not in _UNRECORDED}


def _thin(place: Place) -> dict[str, Any]:
    scope, item_type, key = place
    return {"scope": scope or None, "type": item_type or None, "key": key}


def _changed(change: Change, row: MemoryItem | None, changes: Sequence[Change], ctx: Ctx) -> RowChange:
    """A row that was there; of one that the reviewer may not read, no more than that it changed."""
    if row is None:
        return RowChange(table=TABLE, id=change.id, kind="changed", title=UNREADABLE, fields=[])
    before = fields_then(row, changes)
    told = row_change(before, {**before, **_state(change.after or {})}, change.id, row.statement)
    return told.model_copy(update={"link": page_of(row, ctx)})


def _is_of(change: Change, item_id: UUID) -> bool:
    return change.table == TABLE and change.id == str(item_id)


def _state(told: Mapping[str, Any] | None) -> dict[str, Any]:
    """What one side of a recorded change says of the state: `active/promoted` is both of them."""
    found = {name: told[name] for name in _TOLD if told and name in told}
    if told and told.get("successor"):
        return {**found, "status": Status.SUPERSEDED.value}  # also where it stays true as an earlier version
    status, _, lifecycle = str(found.get("status", "")).partition("/")
    return {**found, "status": status, "lifecycle": lifecycle} if lifecycle else found
