"""Deciding conflicts and taking decisions back: of two reviewers one decides, and the other is told who did."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from uuid import UUID

from django.db.models import Q

from kernel.actions import Change
from kernel.context import Ctx, Right
from kernel.errors import ConflictError, InvalidInputError, StaleError, TransitionError
from memory.contracts.conflicts import (
    AppliedTo,
    ConflictOutcome,
    ConflictState,
    ReopenConflictInput,
    ResolveConflictInput,
)
from memory.contracts.items import TRUSTED, Status
from memory.models import Conflict, ConflictDecision, KgEdge, MemoryItem
from memory.selectors import visible_items
from memory.selectors.conflicts import neighbours_of, sides_of
from memory.services.conflicts.following import follow, scopes_of
from memory.services.conflicts.rewriting import Moved, end_edge, merge, restore_edge, retract, supersede
from memory.services.restoring import bring_back
from memory.services.summary import summarise_again
from scopes.services import lock_domain, lock_scopes

REOPENED = "reopened"
_KEPT = (ConflictOutcome.BOTH_VALID, ConflictOutcome.NOT_A_CONFLICT)


@dataclass(slots=True)
class Decided:
    """What a decision did."""

    result: MemoryItem | None = None
    applied: list[AppliedTo] = field(default_factory=list)
    moved: Moved = field(default_factory=Moved)


def require_state(row: Conflict, wanted: ConflictState, revision: int | None) -> None:
    """Refuse where someone else was first, and say who; or where the caller looked at another state of it."""
    if row.state != wanted:
        when = f" on {row.decided_at:%Y-%m-%d %H:%M} UTC" if row.decided_at else ""
        who = f" by {row.decided_by}" if row.decided_by else " because one side left"
        told = f"resolved{who}{when}" + (f" ({row.outcome})" if row.outcome else "")
        said = told if row.state == ConflictState.RESOLVED else "open"
        raise TransitionError(f"Conflict {row.pk} is {said}: nothing was changed.")
    if revision is not None and revision != row.revision:
        raise StaleError(f"Conflict {row.pk} is at revision {row.revision} now: look at it again.")


def check_decision(given: ResolveConflictInput, row: Conflict) -> None:
    """Refuse a decision that lacks what its outcome needs, before anything is written."""
    outcome = given.outcome
    needs = {ConflictOutcome.BOTH_VALID: "condition", ConflictOutcome.MERGE: "text"}
    for name in ("condition", "text"):
        said, wanted = getattr(given, name).strip(), needs.get(outcome) == name
        if wanted and not said:
            raise _invalid(name, f"{name} is missing: {outcome.value} needs it.")
        if said and not wanted:
            raise _invalid(name, f"{name} means nothing for {outcome.value}: leave it out.")
    if not given.reason.strip():
        raise _invalid("reason", "reason is empty: say why.")
    if outcome is ConflictOutcome.MERGE and row.item_a is None:
        raise _invalid("outcome", "Relations cannot be merged: keep one of them.")
    if outcome is ConflictOutcome.MERGE and row.scope_id != row.other_scope_id:
        raise _invalid("outcome", "The two lie in different scopes: keep one of them, or promote one first.")


def _invalid(name: str, message: str) -> InvalidInputError:
    return InvalidInputError(message, errors=[{"loc": [name], "msg": message, "type": "outcome"}])


def resolve(given: ResolveConflictInput, row: Conflict, ctx: Ctx) -> tuple[Decided, list[Change]]:
    """Carry out a decision about an open conflict."""
    neighbours = {each.memory_item_id: each for each in neighbours_of(row, ctx)} if given.apply_to else {}
    _hold(row, given.apply_to)
    if not _close(row, given, ctx):
        row.refresh_from_db()
        require_state(row, ConflictState.OPEN, row.revision)
        raise StaleError(f"Conflict {row.pk} has changed: look at it again.")
    decided = _carry_out(given, row, ctx)
    for item_id in dict.fromkeys(given.apply_to):
        relation = neighbours.get(item_id)
        result = _apply_to(item_id, given, row, decided, ctx) if relation else "not_a_neighbour"
        decided.applied.append(AppliedTo.model_validate({"memory_item_id": item_id, "result": result}))
    gone = MemoryItem.objects.filter(pk__in=[each["item"] for each in decided.moved.undo if "item" in each])
    summarise_again([*gone, *([decided.result] if decided.result else [])], ctx)
    return decided, [_told(row, given, decided, ctx), *decided.moved.changes]


def _hold(row: Conflict, items: Iterable[UUID]) -> None:
    """Let other writers of all that is touched wait: the scopes first, then the domain, as every writer does."""
    touched = MemoryItem.objects.filter(pk__in=list(items)).values_list("scope_id", flat=True)
    lock_scopes({row.scope_id, row.other_scope_id, *touched})
    lock_domain(row.domain_id)


def _close(row: Conflict, given: ResolveConflictInput, ctx: Ctx) -> bool:
    """Give an open conflict its outcome; False where it moved on since it was read."""
    by = ctx.approval.decided_by if ctx.approval else ctx.actor
    rows = Conflict.objects.filter(pk=row.pk, state=ConflictState.OPEN, revision=row.revision)
    return bool(
        rows.update(
            state=ConflictState.RESOLVED,
            outcome=given.outcome,
            condition=given.condition.strip(),
            revision=row.revision + 1,
            decided_at=ctx.now,
            decided_by=by.name,
        )
    )


def _told(row: Conflict, given: ResolveConflictInput, decided: Decided, ctx: Ctx) -> Change:
    """Append to the history of a conflict what was decided, and give the change for the audit log."""
    by = ctx.approval.decided_by if ctx.approval else ctx.actor
    ConflictDecision.objects.create(
        domain_id=row.domain_id,
        conflict=row,
        verdict=given.outcome,
        reason=given.reason,
        condition=given.condition.strip(),
        result=decided.result,
        changed=decided.moved.undo,
        by_id=by.id,
        by_name=by.name,
        created_at=ctx.now,
    )
    before = {"state": "open", "revision": row.revision}
    after = {"state": "resolved", "outcome": given.outcome.value, "revision": row.revision + 1, "reason": given.reason}
    return Change("conflicts", str(row.pk), before, after, scopes=scopes_of(row))


def _carry_out(given: ResolveConflictInput, row: Conflict, ctx: Ctx) -> Decided:
    one, other = sides_of(row)
    if given.outcome in _KEPT:
        _require_in_force(one, other)
        return Decided()
    if given.outcome is ConflictOutcome.MERGE and isinstance(one, MemoryItem) and isinstance(other, MemoryItem):
        result, moved = merge(one, other, given.text.strip(), given.reason, ctx)
        return Decided(result, moved=moved)
    winner, loser = (one, other) if given.outcome is ConflictOutcome.KEEP_A else (other, one)
    _require_in_force(winner)
    if isinstance(loser, KgEdge):
        return Decided(moved=end_edge(loser, ctx))
    if not isinstance(winner, MemoryItem):
        raise TypeError("a conflict is between two of a kind")
    return Decided(moved=supersede([loser], winner, given.reason, ctx))


def _require_in_force(*sides: MemoryItem | KgEdge) -> None:
    for side in sides:
        if isinstance(side, MemoryItem):
            held = MemoryItem.objects.filter(pk=side.pk, current_until=None, status=Status.ACTIVE).exists()
        else:
            held = KgEdge.objects.filter(pk=side.pk, current_until=None).exists()
        if not held:
            raise ConflictError(f"{side} is no longer in force: look at the conflict again.")


def _apply_to(item_id: UUID, given: ResolveConflictInput, row: Conflict, decided: Decided, ctx: Ctx) -> str:
    """The same decision for one neighbour."""
    item = visible_items(ctx).filter(pk=item_id).first()
    if item is None or not _may_move(item, given.outcome, row, ctx):
        return "not_permitted"
    if given.outcome in _KEPT:
        decided.moved.changes += _settle_like(item, given, row, ctx)
        return "kept"
    if item.current_until is not None or item.status != Status.ACTIVE:
        return "not_current"
    if item.pinned:
        return "governed"
    winner = decided.result or (row.item_a if given.outcome is ConflictOutcome.KEEP_A else row.item_b)
    if winner is None or winner.pk == item.pk:
        return "not_a_neighbour"
    moved = supersede([item], winner, given.reason, ctx)
    decided.moved.changes += moved.changes
    decided.moved.undo += moved.undo
    return "superseded"


def _may_move(item: MemoryItem, outcome: ConflictOutcome, row: Conflict, ctx: Ctx) -> bool:
    """Where a side would go, whoever may decide the conflict may decide on its neighbours; elsewhere only who decides
    there."""
    if item.scope_id == (row.other_scope_id if outcome is ConflictOutcome.KEEP_B else row.scope_id):
        return True
    return ctx.approval is None and ctx.may(Right.DECIDE, item.domain_id, item.scope.name)


def _settle_like(item: MemoryItem, given: ResolveConflictInput, row: Conflict, ctx: Ctx) -> list[Change]:
    """Open conflicts of a neighbour with a side of the conflict have the same outcome, each with a step of its own, so
    that it can be taken back by itself."""
    sides = [row.item_a_id, row.item_b_id]
    of_both = Q(item_a=item, item_b__in=sides) | Q(item_b=item, item_a__in=sides)
    alike = (
        Conflict.objects.filter(of_both, state=ConflictState.OPEN)
        .select_related("scope", "other_scope")
        .order_by("id")
    )
    return [_told(other, given, Decided(), ctx) for other in alike if _close(other, given, ctx)]


def reopen(
    given: ReopenConflictInput, row: Conflict, last: ConflictDecision, ctx: Ctx
) -> tuple[list[MemoryItem], list[Change]]:
    """Take the last decision back: what left comes back as new rows, and the conflict is open again, or over where its
    other side left since. Raises ConflictError where the same two were said again since and are at odds in an open
    conflict of their own, or where what left was retracted since."""
    came: dict[UUID, MemoryItem] = {}
    changes: list[Change] = []
    _hold(row, [UUID(each["item"]) for each in last.changed if "item" in each])
    _require_not_open_elsewhere(row)
    if last.result is not None:
        changes += _withdraw(last.result, given.reason, ctx)
    restored: dict[UUID, MemoryItem | KgEdge] = {}
    left = _left(last)
    _require_not_retracted(left[0])
    for edge in left[1]:
        new_edge, more = restore_edge(edge, ctx)
        restored[edge.pk], changes = new_edge, [*changes, *more]
    moved = _reopen_row(row, ctx)
    for item in left[0]:
        taken = ConflictError(f"{item.key} has another value by now: decide on that one.")
        new, more = bring_back(item, [], taken, ctx, given.reason)
        restored[item.pk] = came[item.pk] = new
        changes += more
    _point_to(row, restored)
    ConflictDecision.objects.create(
        domain_id=row.domain_id,
        conflict=row,
        verdict=REOPENED,
        reason=given.reason,
        by_id=ctx.actor.id,
        by_name=ctx.actor.name,
        created_at=ctx.now,
    )
    summarise_again([*came.values(), *([last.result] if last.result else [])], ctx)
    return list(came.values()), [moved, *changes, *follow(_sides_gone(row, restored), ctx)]


def _sides_gone(row: Conflict, restored: Mapping[UUID, MemoryItem | KgEdge]) -> list[UUID]:
    """Of the sides of a conflict that is open again those that are no longer in force; `restored` are those that are, by
    what came back in the place of what."""
    items = {side for side in (row.item_a_id, row.item_b_id) if side is not None} - restored.keys()
    edges = {side for side in (row.edge_a_id, row.edge_b_id) if side is not None} - restored.keys()
    held = MemoryItem.objects.filter(current_until=None, status=Status.ACTIVE, lifecycle_status__in=TRUSTED)
    gone = items - set(held.filter(pk__in=items).values_list("pk", flat=True))
    ended = KgEdge.objects.filter(pk__in=edges).exclude(current_until=None)
    return sorted(gone.union(ended.values_list("pk", flat=True)))


def _left(last: ConflictDecision) -> tuple[list[MemoryItem], list[KgEdge]]:
    """The rows that the decision closed, in the order in which it did."""
    items = [UUID(each["item"]) for each in last.changed if "item" in each]
    edges = [UUID(each["edge"]) for each in last.changed if "edge" in each]
    found = {row.pk: row for row in MemoryItem.objects.filter(pk__in=items).select_related("source_session", "scope")}
    return [found[pk] for pk in items if pk in found], list(KgEdge.objects.filter(pk__in=edges).order_by("id"))


def _require_not_retracted(items: Iterable[MemoryItem]) -> None:
    retracted = next((item for item in items if item.status == Status.RETRACTED), None)
    if retracted is not None:
        raise ConflictError(f"Memory {retracted.pk} was taken back since: undo that first, or leave it.")


def _withdraw(merged: MemoryItem, reason: str, ctx: Ctx) -> list[Change]:
    """Take a merged memory out of force before what it replaced comes back."""
    if merged.current_until is not None or merged.status != Status.ACTIVE:
        raise StaleError("The merged memory was changed since: change that one instead.")
    return retract(merged, reason, ctx)


def _require_not_open_elsewhere(row: Conflict) -> None:
    rows = Conflict.objects.filter(domain_id=row.domain_id, pair=row.pair, state=ConflictState.OPEN)
    other = rows.exclude(pk=row.pk).values_list("pk", flat=True).first()
    if other is not None:
        raise ConflictError(f"Both were said again since: decide conflict {other}, which is open.")


def _reopen_row(row: Conflict, ctx: Ctx) -> Change:
    won = Conflict.objects.filter(pk=row.pk, state=ConflictState.RESOLVED, revision=row.revision).update(
        state=ConflictState.OPEN, outcome="", condition="", revision=row.revision + 1, decided_at=None, decided_by=""
    )
    if not won:
        row.refresh_from_db()
        require_state(row, ConflictState.RESOLVED, row.revision)
        raise StaleError(f"Conflict {row.pk} has changed: look at it again.")
    before = {"state": "resolved", "outcome": row.outcome, "revision": row.revision}
    after = {"state": "open", "revision": row.revision + 1}
    return Change("conflicts", str(row.pk), before, after, scopes=scopes_of(row))


def _point_to(row: Conflict, restored: dict[UUID, MemoryItem | KgEdge]) -> None:
    """Let the conflict speak of the rows that are in force."""
    columns = {
        name: restored[side_id].pk
        for name in ("item_a_id", "item_b_id", "edge_a_id", "edge_b_id")
        if (side_id := getattr(row, name)) in restored
    }
    if columns:
        Conflict.objects.filter(pk=row.pk).update(**columns)
