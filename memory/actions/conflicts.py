"""Actions on conflicts: list them, look at one or at several, decide it, take the decision back."""

from __future__ import annotations

from collections.abc import Sequence
from uuid import UUID

from kernel.actions import Action, Applied, Change, Target, register
from kernel.canonical import digest
from kernel.context import Ctx, Right
from kernel.errors import NotFoundError, StaleError, TransitionError
from kernel.paging import page
from memory.contracts.conflicts import (
    ConflictOutcome,
    ConflictState,
    DifferenceView,
    GetConflictInput,
    GetConflictResult,
    ListConflictsInput,
    ListConflictsResult,
    ReopenConflictInput,
    ReopenConflictResult,
    ResolveConflictInput,
    ResolveConflictResult,
    ShowConflictsInput,
    ShowConflictsResult,
)
from memory.models import Conflict, ConflictDecision, MemoryItem
from memory.selectors.conflicts import (
    conflict_by_id,
    details_of,
    filter_conflicts,
    neighbours_of,
    sides_of,
    statement_of,
    steps_of,
    view_conflict,
    visible_conflicts,
    with_sides,
)
from memory.services.conflicts.deciding import check_decision, reopen, require_state, resolve
from memory.services.conflicts.following import FOLLOWED
from memory.services.reversing import TABLE, require_may_undo
from scopes.selectors import require_domain


def _list_target(given: ListConflictsInput, ctx: Ctx) -> Target:
    require_domain(given.domain_id, ctx)
    return Target(given.domain_id, scopes=())


def _list(given: ListConflictsInput, ctx: Ctx) -> ListConflictsResult:
    found, cursor = page(filter_conflicts(given, ctx), given, "id", UUID, newest_first=True)
    return ListConflictsResult(conflicts=[view_conflict(row) for row in found], next_cursor=cursor)


LIST_CONFLICTS = register(
    Action(
        "list_conflicts",
        "List memories that do not go together, as far as you may read both sides, newest first.",
        ListConflictsInput,
        ListConflictsResult,
        Right.READ,
        _list_target,
        _list,
        resource="conflicts",
    )
)


def _its_target(given: GetConflictInput | ResolveConflictInput | ReopenConflictInput, ctx: Ctx) -> Target:
    """The scopes of both sides; the decision is made where the side lies that would go, or come back."""
    row = ctx.once(("conflict", given.id), lambda: conflict_by_id(given.id, ctx))
    here, there = row.scope, row.other_scope
    owned = frozenset(scope.name for scope in (here, there) if scope.owner == ctx.actor.id)
    outcome = getattr(given, "outcome", row.outcome)
    place = there if outcome == ConflictOutcome.KEEP_B else here
    return Target(
        row.domain_id,
        tuple(dict.fromkeys([here.name, there.name])),
        owned,
        subject=f"conflict:{row.pk}",
        place=place.name,
        evidence=_rests_on(row, outcome),
    )


def _rests_on(row: Conflict, outcome: str) -> str:
    """What a proposed decision rests on: what both sides say, how often it was decided before, and the outcome. A rejected
    one bars neither another outcome nor one about sides that changed."""
    sides = [[str(side.pk), statement_of(side)] for side in sides_of(row)]
    return digest([sides, row.revision, outcome])


def _get(given: GetConflictInput, ctx: Ctx) -> GetConflictResult:
    row = ctx.once(("conflict", given.id), lambda: conflict_by_id(given.id, ctx))
    one, other = details_of(sides_of(row), ctx)
    return GetConflictResult(
        conflict=view_conflict(row),
        differences=[DifferenceView.model_validate(each) for each in row.differences],
        a=one,
        b=other,
        also=neighbours_of(row, ctx),
        history=steps_of(row),
        may_decide=all(ctx.may(Right.DECIDE, row.domain_id, scope.name) for scope in (row.scope, row.other_scope)),
    )


GET_CONFLICT = register(
    Action(
        "get_conflict",
        "Show one conflict: both sides, what differs, what they rest on, what is near, and what was decided.",
        GetConflictInput,
        GetConflictResult,
        Right.READ,
        _its_target,
        _get,
    )
)


def _named(given: ShowConflictsInput, ctx: Ctx) -> dict[UUID, Conflict]:
    """The conflicts named that the actor may see, read once in the call. Raises NotFoundError where there is none."""
    rows = ctx.once(
        ("conflicts", *given.ids), lambda: with_sides(visible_conflicts(ctx)).filter(pk__in=given.ids).in_bulk()
    )
    if not rows:
        raise NotFoundError("No conflict among these ids that you can see.")
    return rows


def _named_target(given: ShowConflictsInput, ctx: Ctx) -> Target:
    """The domain in which they lie; the installation where they lie in several."""
    domains = {row.domain_id for row in _named(given, ctx).values()}
    return Target(domains.pop() if len(domains) == 1 else None, scopes=())


def _get_several(given: ShowConflictsInput, ctx: Ctx) -> ShowConflictsResult:
    rows, wanted = _named(given, ctx), list(dict.fromkeys(given.ids))
    return ShowConflictsResult(
        conflicts=[view_conflict(rows[each]) for each in wanted if each in rows],
        missing=[each for each in wanted if each not in rows],
    )


SHOW_CONFLICTS = register(
    Action(
        "show_conflicts",
        "Show several conflicts by their ids: what both sides say, by which rule they were found, what was decided.",
        ShowConflictsInput,
        ShowConflictsResult,
        Right.READ,
        _named_target,
        _get_several,
    )
)


def _prepare_decision(given: ResolveConflictInput, ctx: Ctx) -> Conflict:
    row = conflict_by_id(given.id, ctx)
    require_state(row, ConflictState.OPEN, given.revision)
    check_decision(given, row)
    return row


def _resolve(given: ResolveConflictInput, row: Conflict, ctx: Ctx) -> Applied[ResolveConflictResult]:
    decided, changes = resolve(given, conflict_by_id(row.pk, ctx), ctx)
    after = conflict_by_id(row.pk, ctx)
    result = ResolveConflictResult(
        conflict=view_conflict(after),
        result_id=decided.result.pk if decided.result is not None else None,
        applied=decided.applied,
        also=neighbours_of(after, ctx),
    )
    return result, changes


def _undo(_given: ResolveConflictInput | None, changes: Sequence[Change], ctx: Ctx) -> Sequence[Change]:
    """Reopen the conflicts that the changes resolved, unless one was decided again since."""
    moved = [UUID(each.id) for each in changes if each.table == TABLE]
    require_may_undo(MemoryItem.objects.select_related("scope").filter(pk__in=moved), ctx)
    done: list[Change] = []
    for change in changes:
        after = change.after or {}
        if change.table == "conflicts" and after.get("outcome"):
            done += _reopen_again(conflict_by_id(UUID(change.id), ctx), after["revision"], ctx)
    return done


def _reopen_again(row: Conflict, revision: int, ctx: Ctx) -> Sequence[Change]:
    if row.revision != revision:
        raise StaleError(f"Conflict {row.pk} was decided again since: look at it again.")
    again = ReopenConflictInput(id=row.pk, revision=row.revision, reason="the decision was taken back")
    return reopen(again, row, _last(row), ctx)[1]


RESOLVE_CONFLICT = register(
    Action(
        "resolve_conflict",
        "Decide a conflict: keep one side, merge both, let both stand, or say that it is none. An agent's decision waits.",
        ResolveConflictInput,
        ResolveConflictResult,
        Right.PROMOTE,
        _its_target,
        _prepare_decision,
        _resolve,
        reverse=_undo,
        reviewed=True,
        undone_as=("reopen_conflict",),
    )
)


def _last(row: Conflict) -> ConflictDecision:
    """The decision to take back. Raises TransitionError where no person decided."""
    last = row.decisions.order_by("-id").select_related("result").first()
    if last is None or last.verdict == FOLLOWED:
        raise TransitionError(f"Conflict {row.pk} is over because one side left: there is no decision to take back.")
    return last


def _prepare_reopening(given: ReopenConflictInput, ctx: Ctx) -> Conflict:
    row = conflict_by_id(given.id, ctx)
    require_state(row, ConflictState.RESOLVED, given.revision)
    _last(row)
    return row


def _reopen(given: ReopenConflictInput, row: Conflict, ctx: Ctx) -> Applied[ReopenConflictResult]:
    row = conflict_by_id(row.pk, ctx)
    restored, changes = reopen(given, row, _last(row), ctx)
    view = view_conflict(conflict_by_id(row.pk, ctx))
    return ReopenConflictResult(conflict=view, restored=[item.pk for item in restored]), changes


REOPEN_CONFLICT = register(
    Action(
        "reopen_conflict",
        "Take back what was decided about a conflict: what left comes back as new versions, and it is open again.",
        ReopenConflictInput,
        ReopenConflictResult,
        Right.PROMOTE,
        _its_target,
        _prepare_reopening,
        _reopen,
        reviewed=True,
    )
)
