"""Undoing what an act did to memory: new rows restore what was, and nothing is erased."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from typing import Any
from uuid import UUID

from kernel.actions import Change
from kernel.context import Ctx, Right
from kernel.errors import ForbiddenError, StaleError, TransitionError
from memory.contracts.items import TRUSTED, Lifecycle, Status
from memory.models import MemoryItem
from memory.services import notices
from memory.services.conflicts import find_conflicts, follow_out
from memory.services.hiding import show_again
from memory.services.items import after_all, event_of, state_of
from memory.services.restoring import bring_back
from memory.services.summary import summarise_again
from scopes.services import lock_scopes
from search import services as index
from search.contracts import Kind

TABLE = "memory_items"
_LEFT = ("superseded", "narrowed_to")  # kinds of the steps by which a row leaves force for another


def reverse(_given: Any, changes: Sequence[Change], ctx: Ctx) -> list[Change]:
    """Undo an applied call from the changes that it made: rows that it added are taken back, rows that it closed come
    back as new versions, and what was trusted or not, in force or history is so again.

    Raises StaleError where one of them was changed again since, ForbiddenError as `require_may_undo` says.
    """
    ours = [change for change in changes if change.table == TABLE]
    found = MemoryItem.objects.select_related("scope").filter(pk__in=[UUID(change.id) for change in ours])
    lock_scopes(set(found.values_list("scope_id", flat=True)))
    rows = {row.id: row for row in found}
    require_may_undo(rows.values(), ctx)
    done: list[Change] = []
    added = [rows[UUID(change.id)] for change in ours if change.before is None]
    for row in added:
        done += _take_back(row, ctx)
    done += show_again(ours)
    for change in ours:
        if change.before is not None:
            done += _restore(rows[UUID(change.id)], change.before, change.after or {}, added, ctx)
    summarise_again(rows.values(), ctx)
    return done


def require_may_undo(rows: Iterable[MemoryItem], ctx: Ctx) -> None:
    """Refuse to undo a call where it reached a scope on which the person may not decide."""
    if not all(ctx.may(Right.DECIDE, row.domain_id, row.scope.name) for row in rows):
        raise ForbiddenError("That call changed memories on whose scope you may not decide: ask who reviews them.")


def _take_back(row: MemoryItem, ctx: Ctx) -> list[Change]:
    """A row that the call added leaves again."""
    before, at = row.standing, after_all([row], ctx)
    taken = MemoryItem.objects.filter(pk=row.pk, current_until=None, status=Status.ACTIVE)
    if not taken.update(status=Status.RETRACTED, current_until=at):
        raise _changed(row)
    row.status, row.current_until = Status.RETRACTED, at
    event_of(row, "undone", before, ctx).save()
    index.close(Kind.MEMORY, [row.pk], at)
    after = {"status": row.status, "undone": True}
    taken_back = Change(TABLE, str(row.id), {"status": before}, after, scopes=(row.scope.name,))
    return [taken_back, *follow_out(row, ctx)]


def _restore(
    row: MemoryItem, before: Mapping[str, Any], after: Mapping[str, Any], added: Sequence[MemoryItem], ctx: Ctx
) -> list[Change]:
    """What one change did to a row that was there, undone. `added` are the rows that the call made."""
    if "status" in after:
        return _hold_again(row, before, after, added, ctx)
    if "lifecycle" in after:
        return _trust_as_before(row, before, after, ctx)
    if "review_by" in after:
        return [_look_when_it_was_due(row, before["review_by"], after["review_by"])]
    if "narrowed_to" in after:
        return []  # an earlier version that was hidden: `show_again` has shown it
    raise TransitionError(f"What was changed of memory item {row.id} cannot be undone: make the opposite change.")


def _hold_again(
    row: MemoryItem, before: Mapping[str, Any], after: Mapping[str, Any], added: Sequence[MemoryItem], ctx: Ctx
) -> list[Change]:
    """A row that the call closed comes back as a new version; one that was history before is history again."""
    if (row.status == Status.RETRACTED) != (after["status"] == Status.RETRACTED):
        raise _changed(row)
    if after["status"] == Status.RETRACTED and not _was_in_force(row, before):
        return [_keep_as_history(row, Status(before["status"].partition("/")[0]), ctx)]
    instead = [each for each in added if str(each.pk) == after.get("successor")]
    return bring_back(row, instead, _changed(row), ctx)[1]


def _was_in_force(row: MemoryItem, before: Mapping[str, Any]) -> bool:
    """Whether a row was in force when it was retracted. Where that step does not tell, those before it do."""
    step = row.events.filter(kind="retracted").order_by("-id").values_list("metadata", flat=True).first() or {}
    if "in_force" in step:
        return bool(step["in_force"])
    active = before["status"].partition("/")[0] == Status.ACTIVE
    return active and row.successor_id is None and not row.events.filter(kind__in=_LEFT).exists()


def _keep_as_history(row: MemoryItem, status: Status, ctx: Ctx) -> Change:
    """A row that was history when it was retracted is history as before: what is in force stays so."""
    state = row.standing
    held = MemoryItem.objects.filter(pk=row.pk, status=Status.RETRACTED).exclude(current_until=None)
    if not held.update(status=status):
        raise _changed(row)
    row.status = status
    event_of(row, "restored", state, ctx).save()
    notices.withdraw(row, "retracted")
    return Change(TABLE, str(row.id), {"status": state}, {"status": row.status}, scopes=(row.scope.name,))


def _trust_as_before(row: MemoryItem, before: Mapping[str, Any], after: Mapping[str, Any], ctx: Ctx) -> list[Change]:
    """A row that was demoted is trusted as it was, and what it contradicts is found; one that was only a candidate is one
    again, and its conflicts are over."""
    state, scope, demoted = row.standing, row.scope, "lifecycle" in before
    was = before["lifecycle"] if demoted else before["status"].partition("/")[2]
    columns = {"lifecycle_status": was, **({"pinned": bool(before.get("pinned", False))} if demoted else {})}
    if "confidence" in before:
        columns["confidence"] = before["confidence"]
    held = MemoryItem.objects.filter(
        pk=row.pk, current_until=None, status=Status.ACTIVE, lifecycle_status=after["lifecycle"]
    )
    if not held.update(**columns):
        raise _changed(row)
    row.refresh_from_db()
    row.scope = scope
    event_of(row, "restored" if demoted else "undone", state, ctx).save()
    if demoted:
        notices.withdraw(row)
    index.set_state(Kind.MEMORY, [row.pk], state_of(row))
    told = {name: after[name] for name in ("lifecycle", "confidence") if name in after}
    now = {"lifecycle": row.lifecycle_status, "confidence": row.confidence}
    change = Change(TABLE, str(row.id), told, {name: now[name] for name in told}, scopes=(scope.name,))
    trusted = Lifecycle(row.lifecycle_status) in TRUSTED
    return [change, *(find_conflicts([row], ctx).changes if trusted else follow_out(row, ctx))]


def _look_when_it_was_due(row: MemoryItem, before: str | None, after: str) -> Change:
    """A row is to be looked at again when that was due before."""
    held = MemoryItem.objects.filter(
        pk=row.pk, current_until=None, status=Status.ACTIVE, review_by=datetime.fromisoformat(after)
    )
    if not held.update(review_by=datetime.fromisoformat(before) if before else None):
        raise _changed(row)
    return Change(TABLE, str(row.id), {"review_by": after}, {"review_by": before}, scopes=(row.scope.name,))


def _changed(row: MemoryItem) -> StaleError:
    return StaleError(f"Memory item {row.id} was changed again since: look at it and decide anew.")
