"""Moving memories and relations as a decision says: one takes the place of another, or what was comes back as a new row.

Nothing is erased and no past is rewritten: a memory that comes back is a new version of its key.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any
from uuid import UUID

from django.db import IntegrityError, transaction

from kernel.actions import Change
from kernel.context import Ctx
from kernel.errors import ConflictError
from kernel.ids import new_id
from memory.contracts.items import Status
from memory.models import EvidenceLink, KgEdge, KnowledgeEvent, MemoryItem
from memory.services import notices
from memory.services.conflicts.following import follow
from memory.services.items import after_all, event_of
from memory.services.restoring import KEPT, append
from memory.statements import content_hash
from search import services as index
from search.contracts import Kind

_MAIN = {
    "preferences": "value",
    "goals": "description",
    "tasks": "title",
    "decisions": "decision",
    "events": "title",
    "cases": "problem",
    "patterns": "rule",
}


@dataclass(slots=True)
class Moved:
    """What was moved: changes for the audit log, and what is needed to take it back."""

    changes: list[Change] = field(default_factory=list)
    undo: list[dict[str, str]] = field(default_factory=list)


def supersede(losers: Sequence[MemoryItem], winner: MemoryItem, reason: str, ctx: Ctx) -> Moved:
    """Let one memory take the place of others. Raises ConflictError where one of them has left meanwhile."""
    at = after_all([*losers, winner], ctx)
    moved = Moved()
    events = []
    for loser in losers:
        before, scopes = loser.standing, (loser.scope.name,)
        closed = MemoryItem.objects.filter(pk=loser.pk, current_until=None, status=Status.ACTIVE)
        if not closed.update(status=Status.SUPERSEDED, current_until=at, successor=winner):
            raise ConflictError(f"Memory {loser.pk} is no longer in force: look at the conflict again.")
        loser.refresh_from_db()
        events.append(event_of(loser, "superseded", before, ctx, reason=f"replaced by {winner.pk}: {reason}"))
        after = {"status": loser.status, "successor": str(winner.pk)}
        moved.changes.append(Change("memory_items", str(loser.pk), {"status": before}, after, scopes=scopes))
        moved.undo.append({"item": str(loser.pk)})
    KnowledgeEvent.objects.bulk_create(events)
    index.close(Kind.MEMORY, [loser.pk for loser in losers], at)
    moved.changes += follow([loser.pk for loser in losers], ctx)
    for loser in losers:
        notices.tell(loser, "corrected", reason, winner, ctx)
    return moved


def retract(row: MemoryItem, reason: str, ctx: Ctx) -> list[Change]:
    """Take a memory out of force that no other takes the place of."""
    before, at, scopes = row.standing, after_all([row], ctx), (row.scope.name,)
    MemoryItem.objects.filter(pk=row.pk, current_until=None).update(status=Status.RETRACTED, current_until=at)
    row.refresh_from_db()
    event_of(row, "retracted", before, ctx, reason=reason).save()
    index.close(Kind.MEMORY, [row.pk], at)
    notices.tell(row, "retracted", reason, None, ctx)
    after = {"status": row.status, "reason": reason}
    return [Change("memory_items", str(row.pk), {"status": before}, after, scopes=scopes)]


def end_edge(loser: KgEdge, ctx: Ctx) -> Moved:
    """End a relation. Raises ConflictError where it has ended meanwhile."""
    at = max(ctx.now, loser.recorded_at)
    if not KgEdge.objects.filter(pk=loser.pk, current_until=None).update(current_until=at):
        raise ConflictError(f"Relation {loser.pk} has ended: look at the conflict again.")
    after = {"current_until": at.isoformat()}
    change = Change("kg_edges", str(loser.pk), {"current_until": None}, after, scopes=(loser.scope.name,))
    return Moved([change, *follow([loser.pk], ctx)], [{"edge": str(loser.pk)}])


def restore_edge(row: KgEdge, ctx: Ctx) -> tuple[KgEdge, list[Change]]:
    """What a relation said as a new one that holds."""
    kept = ("domain_id", "scope_id", "subject", "predicate", "object", "subject_folded", "object_folded", "content_hash",
            "status", "confidence", "valid_from", "valid_to", "source_session_id", "source_turn_id")  # fmt: skip
    try:
        with transaction.atomic():
            new = KgEdge.objects.create(**{name: getattr(row, name) for name in kept}, recorded_at=ctx.now)
    except IntegrityError as exc:
        raise ConflictError("The same relation holds again already: look at the conflict again.") from exc
    after = {"subject": new.subject, "predicate": new.predicate, "object": new.object, "restores": str(row.pk)}
    return new, [Change("kg_edges", str(new.pk), None, after, scopes=(row.scope.name,))]


def merge(one: MemoryItem, other: MemoryItem, text: str, reason: str, ctx: Ctx) -> tuple[MemoryItem, Moved]:
    """A new version of the later one's key that says the merged text in place of both."""
    at = after_all([one, other], ctx)
    merged_id = new_id()
    moved = _leave(one, other, at, ctx, reason)
    value: dict[str, Any] = {**other.value, "statement": text}
    if other.type in _MAIN:
        value[_MAIN[other.type]] = text
    fields = {name: getattr(other, name) for name in KEPT} | {
        "id": merged_id,
        "value": value,
        "statement": text,
        "confidence": min(one.confidence, other.confidence),
        "importance": max(one.importance, other.importance),
        "pinned": one.pinned or other.pinned,
        "origin": "merge",
        "author_id": ctx.actor.id,
        "author_name": ctx.actor.name,
        "content_hash": content_hash(other.type, other.key, value),
    }
    taken = ConflictError(f"{other.key} has another value by now: decide on that one.")
    evidence = _inherited([one.pk, other.pk])
    item, changes = append(fields, [other, one], ("created", reason), evidence, taken, ctx)
    MemoryItem.objects.filter(pk__in=[one.pk, other.pk]).update(successor=item)
    for side in (one, other):
        notices.tell(side, "corrected", reason, item, ctx)
    moved.changes += changes
    return item, moved


def _leave(one: MemoryItem, other: MemoryItem, at: datetime, ctx: Ctx, reason: str) -> Moved:
    """Close both sides of a merge before the merged row takes their key."""
    moved = Moved()
    for loser in (one, other):
        before, scopes = loser.standing, (loser.scope.name,)
        closed = MemoryItem.objects.filter(pk=loser.pk, current_until=None, status=Status.ACTIVE)
        if not closed.update(status=Status.SUPERSEDED, current_until=at):
            raise ConflictError(f"Memory {loser.pk} is no longer in force: look at the conflict again.")
        loser.refresh_from_db()
        event_of(loser, "superseded", before, ctx, reason=f"merged: {reason}").save()
        moved.changes.append(
            Change(
                "memory_items",
                str(loser.pk),
                {"status": before},
                {"status": loser.status, "merged": True},
                scopes=scopes,
            )
        )
        moved.undo.append({"item": str(loser.pk)})
    index.close(Kind.MEMORY, [one.pk, other.pk], at)
    moved.changes += follow([one.pk, other.pk], ctx)
    return moved


def _inherited(sources: Sequence[UUID]) -> list[tuple[str, str, str]]:
    """The merged memory rests on what both rested on, and on both."""
    rows = EvidenceLink.objects.filter(item__in=sources).values_list("kind", "ref", "role").order_by("id")
    return [*rows, *(("memory", str(source), "supporting") for source in sources)]
