"""Undoing what an act did to memory: new rows restore what was, and nothing is erased."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any
from uuid import UUID

from django.db import IntegrityError, transaction

from kernel.actions import Change
from kernel.context import Ctx, Right
from kernel.errors import ForbiddenError, StaleError
from memory.contracts.items import Lifecycle, Status
from memory.models import Entity, EvidenceLink, KnowledgeEvent, MemoryItem
from memory.services.conflicts import follow
from memory.services.items import Commit, Pending, Written, after_all, event_of, settle, state_of
from scopes.services import lock_scopes
from search import services as index
from search.contracts import Kind

TABLE = "memory_items"
_KEPT = (
    "domain_id", "scope_id", "type", "key", "value", "statement", "confidence", "lifecycle_status", "memory_kind", "tier",
    "field", "audience", "importance", "pinned", "origin", "source_session_id", "source_turn_id", "source_message_id",
    "source_item_id", "promotion_event", "valid_from", "valid_to", "review_by", "author_id", "author_name", "content_hash",
)  # fmt: skip


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
    closed = [rows[UUID(change.id)] for change in ours if change.before and _was_closed(change)]
    for row in added:
        done.append(_take_back(row, ctx))
    for row in closed:
        done.append(_bring_back(row, added, ctx))
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


def _take_back(row: MemoryItem, ctx: Ctx) -> Change:
    """A row that the call added leaves again."""
    before, at = f"{row.status}/{row.lifecycle_status}", after_all([row], ctx)
    taken = MemoryItem.objects.filter(pk=row.pk, current_until=None, status=Status.ACTIVE)
    if not taken.update(status=Status.RETRACTED, current_until=at):
        raise _changed(row)
    row.status, row.current_until = Status.RETRACTED, at
    event_of(row, "undone", before, ctx).save()
    index.close(Kind.MEMORY, [row.pk], at)
    follow([row.pk], ctx)
    return Change(TABLE, str(row.id), {"status": before}, {"status": row.status, "undone": True})


def _bring_back(old: MemoryItem, added: Sequence[MemoryItem], ctx: Ctx) -> Change:
    """What the call closed comes back as a new version that says the same."""
    fields = {name: getattr(old, name) for name in _KEPT}
    at = after_all([old, *added], ctx)
    commit = Commit(old.source_turn, [], ctx, Written(), Pending())
    try:
        with transaction.atomic():
            row = MemoryItem.objects.create(
                **fields, status=Status.ACTIVE, recorded_at=at, version=max(each.version for each in [old, *added]) + 1
            )
    except IntegrityError as exc:
        raise _changed(old) from exc
    said = old.source_message.created_at if old.source_message else old.recorded_at
    commit.pending.items[row.id] = (row, row.valid_from or said)
    restored: KnowledgeEvent = event_of(row, "restored", "", ctx)
    restored.metadata = {"item_id": str(old.id)}
    commit.pending.events.append(restored)
    commit.pending.evidence += [
        EvidenceLink(
            domain_id=row.domain_id, item=row, kind=link.kind, ref=link.ref, role=link.role, created_at=ctx.now
        )
        for link in old.evidence.all()
    ]
    settle(commit)
    MemoryItem.objects.filter(pk__in=[old.pk, *(each.pk for each in added if each.key == old.key)]).filter(
        scope_id=old.scope_id
    ).update(successor=row)
    Entity.objects.filter(item__in=[old, *added], scope_id=old.scope_id).update(item=row)
    return Change(TABLE, str(row.id), None, {"type": row.type, "key": row.key, "restores": str(old.id)})


def _trust_again(row: MemoryItem, before: dict[str, Any], ctx: Ctx) -> Change:
    """A demoted row is trusted as it was before."""
    was = Lifecycle(row.lifecycle_status)
    held = MemoryItem.objects.filter(pk=row.pk, current_until=None, status=Status.ACTIVE, lifecycle_status=was)
    known = was in (Lifecycle.DEMOTED, Lifecycle.RETIRED)
    pinned = bool(before.get("pinned", False))
    if not known or not held.update(lifecycle_status=before["lifecycle"], pinned=pinned):
        raise _changed(row)
    state = f"{row.status}/{row.lifecycle_status}"
    row.refresh_from_db()
    event_of(row, "restored", state, ctx).save()
    index.set_state(Kind.MEMORY, [row.pk], state_of(row))
    return Change(TABLE, str(row.id), {"lifecycle": was}, {"lifecycle": row.lifecycle_status})


def _changed(row: MemoryItem) -> StaleError:
    return StaleError(f"Memory item {row.id} was changed again since: look at it and decide anew.")
