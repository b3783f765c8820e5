"""What stands in the way of calls about memory that wait: the memory that they name, or would change, has left."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from datetime import datetime
from typing import Any, NamedTuple
from uuid import UUID

from governance.hooks import HeldCall
from kernel.context import Ctx
from memory.contracts.items import OUT_OF_USE, Status
from memory.extensions.lost import lost_evidence, refs_in
from memory.models import MemoryItem
from memory.selectors.near import read_in
from memory.selectors.proof import why_no_proof

ITEMS = "memory_items"
IN_FORCE = frozenset({"promote_to_scope", "raise_tier", "correct_item", "narrow_item", "demote", "demote_from_scope"})
IN_USE = frozenset({"promote_to_scope", "raise_tier", "narrow_item"})  # these refuse what is demoted or retired too
PROVEN_BY = {"promote_to_scope": ("verification",), "raise_tier": ("supporting", "verification", "teaching")}
HISTORY = frozenset({"retract_item"})  # takes back what is history by now as well


class Row(NamedTuple):
    """How a memory stands now."""

    status: str
    lifecycle_status: str
    current_until: datetime | None
    successor_id: UUID | None


def obstacles(calls: Mapping[UUID, HeldCall], ctx: Ctx) -> dict[UUID, str]:
    """Why calls would be refused, by the id of their proposal. One statement at most, however many calls there are; where
    their makers are given LOOKS more, which tell whether they still see what they name as evidence."""
    named, altered, roles = {}, {}, {}
    for proposal, call in calls.items():
        named[proposal] = _named(call)
        altered[proposal] = _altered(call)
        roles[proposal] = _proof(call)
    ids = {item for item in named.values() if item is not None}.union(*altered.values(), *roles.values())
    found = _standing(ids, ctx)
    told = {
        proposal: _why(calls[proposal], named[proposal], altered[proposal], found)
        or why_no_proof({item: role for item, role in roles[proposal].items() if item != named[proposal]}, found)
        for proposal in calls
    }
    unknown = {proposal: call for proposal, call in calls.items() if not told[proposal] and call.maker is not None}
    told |= lost_evidence(unknown)
    return {proposal: why for proposal, why in told.items() if why}


def _standing(ids: Collection[UUID], ctx: Ctx) -> dict[UUID, Row]:
    if not ids:
        return {}
    found = {
        item: Row(*(getattr(row, name) for name in Row._fields)) for item, row in read_in(ctx).items() if item in ids
    }
    missing = set(ids) - found.keys()
    if missing:
        rows = MemoryItem.objects.filter(pk__in=missing).order_by().values_list("pk", *Row._fields)
        found |= {item: Row(*columns) for item, *columns in rows}
    return found


def _proof(call: HeldCall) -> dict[UUID, str]:
    """The memories that have to hold for a call because they are its proof, each with its role."""
    found: dict[UUID, str] = {}
    for role in PROVEN_BY.get(call.action, ()):
        for ref in refs_in(call.given, f"{role}_refs"):
            item = _as_id(ref.id) if ref.kind == "memory" else None
            if item is not None:
                found[item] = role
    return found


def _named(call: HeldCall) -> UUID | None:
    """The memory that a call names, where that has to be in force."""
    return _as_id(call.given.get("memory_item_id")) if call.action in IN_FORCE else None


def _altered(call: HeldCall) -> dict[UUID, str]:
    """The memories that a call would alter, each with the state that it had then: status and lifecycle."""
    found: dict[UUID, str] = {}
    for change in call.changes:
        state = (change["before"] or {}).get("status")
        item = _as_id(change["id"])
        if change["table"] == ITEMS and item is not None and state:
            found.setdefault(item, state)
    return found


def _as_id(value: Any) -> UUID | None:
    try:
        return UUID(str(value))
    except ValueError:
        return None


def _why(call: HeldCall, named: UUID | None, altered: Mapping[UUID, str], rows: Mapping[UUID, Row]) -> str:
    row = rows.get(named) if named is not None else None
    if row is not None and not _holds(row):
        return _gone(row)
    if row is not None and call.action in IN_USE and row.lifecycle_status in OUT_OF_USE:
        return f"Its memory is {row.lifecycle_status} by now."
    for item, state in altered.items():
        found = rows.get(item)
        if found is None:
            continue
        if not _holds(found) and call.action not in HISTORY:
            return _gone(found)
        if f"{found.status}/{found.lifecycle_status}" != state:
            return _gone(found) if not _holds(found) else f"Its memory is {found.lifecycle_status} by now."
    return ""


def _holds(row: Row) -> bool:
    return row.current_until is None and row.status == Status.ACTIVE


def _gone(row: Row) -> str:
    how = "another took its place"
    if row.status == Status.RETRACTED:
        how = "it was taken back"
    elif row.successor_id is None and row.status != Status.SUPERSEDED:
        how = "its time ended"
    return f"Its memory is no longer in force: {how} since this was proposed."
