"""Undoing what an act did to memory: new rows restore what was, and nothing is erased."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any
from uuid import UUID

from kernel.actions import Change
from kernel.context import Ctx, Right
from kernel.errors import ForbiddenError, StaleError
from memory.contracts.items import Lifecycle, Status
from memory.models import MemoryItem
from memory.services import notices
from memory.services.conflicts import follow_out
from memory.services.hiding import show_again
from memory.services.items import after_all, event_of, state_of
from memory.services.restoring import bring_back
from scopes.services import lock_scopes
from search import services as index
from search.contracts import Kind

TABLE = "memory_items"


def reverse(given: Any, changes: Sequence[Change], ctx: Ctx) -> list[Change]:
    """Undo an applied call from the changes that it made: rows that it added are taken back, rows that it closed come
    back as new versions, and a demoted row is trusted as before.

    Raises StaleError where one of them was changed again since, ForbiddenError as `require_may_undo` says.
    """
    ours = [change for change in changes if change.table == TABLE]
    found = MemoryItem.objects.select_related("scope").filter(pk__in=[UUID(change.id) for change in ours])
    rows = {row.id: row for row in found}
    if given is None:
        require_may_undo(rows.values(), ctx)
    lock_scopes({row.scope_id for row in rows.values()})
    done: list[Change] = []
    added = [rows[UUID(change.id)] for change in ours if change.before is None]
    closed = [change for change in ours if change.before and _was_closed(change)]
    for row in added:
        done += _take_back(row, ctx)
    done += show_again(ours)
    for change in closed:
        row, instead = rows[UUID(change.id)], (change.after or {}).get("successor")
        done += bring_back(row, [each for each in added if str(each.pk) == instead], _changed(row), ctx)[1]
    for change in ours:
        if change.before is not None and "lifecycle" in change.before:
            done.append(_trust_again(rows[UUID(change.id)], change.before, ctx))
    return done


def require_may_undo(rows: Iterable[MemoryItem], ctx: Ctx) -> None:
    """Refuse to undo a call that nobody reviewed where it reached a scope on which the person may not decide."""
    if not all(ctx.may(Right.DECIDE, row.domain_id, row.scope.name) for row in rows):
        raise ForbiddenError("That call changed memories on whose scope you may not decide: ask who reviews them.")


def _was_closed(change: Change) -> bool:
    after = change.after or {}
    return "status" in after and ("successor" in after or after["status"] == Status.RETRACTED)


def _take_back(row: MemoryItem, ctx: Ctx) -> list[Change]:
    """A row that the call added leaves again."""
    before, at = f"{row.status}/{row.lifecycle_status}", after_all([row], ctx)
    taken = MemoryItem.objects.filter(pk=row.pk, current_until=None, status=Status.ACTIVE)
    if not taken.update(status=Status.RETRACTED, current_until=at):
        raise _changed(row)
    row.status, row.current_until = Status.RETRACTED, at
    event_of(row, "undone", before, ctx).save()
    index.close(Kind.MEMORY, [row.pk], at)
    after = {"status": row.status, "undone": True}
    taken_back = Change(TABLE, str(row.id), {"status": before}, after, scopes=(row.scope.name,))
    return [taken_back, *follow_out(row, ctx)]


def _trust_again(row: MemoryItem, before: dict[str, Any], ctx: Ctx) -> Change:
    """A demoted row is trusted as it was before."""
    was = Lifecycle(row.lifecycle_status)
    held = MemoryItem.objects.filter(pk=row.pk, current_until=None, status=Status.ACTIVE, lifecycle_status=was)
    known = was in (Lifecycle.DEMOTED, Lifecycle.RETIRED)
    pinned = bool(before.get("pinned", False))
    if not known or not held.update(lifecycle_status=before["lifecycle"], pinned=pinned):
        raise _changed(row)
    state, scope = f"{row.status}/{row.lifecycle_status}", row.scope.name
    row.refresh_from_db()
    event_of(row, "restored", state, ctx).save()
    notices.withdraw(row)
    index.set_state(Kind.MEMORY, [row.pk], state_of(row))
    return Change(TABLE, str(row.id), {"lifecycle": was}, {"lifecycle": row.lifecycle_status}, scopes=(scope,))


def _changed(row: MemoryItem) -> StaleError:
    return StaleError(f"Memory item {row.id} was changed again since: look at it and decide anew.")
