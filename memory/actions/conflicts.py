"""Actions on conflicts: list them, look at one."""

from __future__ import annotations

from uuid import UUID

from kernel.actions import Action, Target, register
from kernel.context import Ctx, Right
from kernel.paging import page
from memory.contracts.conflicts import ListConflictsInput, ListConflictsResult
from memory.selectors.conflicts import filter_conflicts, view_conflict
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
