"""Which row of a key counts when several scopes hold one, and why the others give way."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence

from memory.compose.contracts import Shadow
from memory.compose.values import CONFLICT_PRIORITY, DAO_TIAN, KeyedRow


def resolve(
    rows: Sequence[KeyedRow], priority: Sequence[str] = CONFLICT_PRIORITY
) -> tuple[list[KeyedRow], list[Shadow]]:
    """The rows that count, in the order given, and one entry for each that gives way.

    For one type and key: a pinned `dao_tian` principle first, then the scope type that stands first in `priority`
    (types that it does not name come last); equal ones by the newest, then by the greater id, which is the later one.
    Rows without a key never give way.
    """
    groups: defaultdict[tuple[str, str], list[KeyedRow]] = defaultdict(list)
    for row in rows:
        if row.key:
            groups[row.type, row.key].append(row)
    best = {name: max(group, key=lambda row: _standing(row, priority)) for name, group in groups.items()}
    winners = [row for row in rows if not row.key or best[row.type, row.key] is row]
    shadowed = [
        _shadow(best[name], row, priority)
        for name, group in sorted(groups.items())
        for row in sorted(group, key=lambda row: _standing(row, priority), reverse=True)
        if row is not best[name]
    ]
    return winners, shadowed


def _is_principle(row: KeyedRow) -> bool:
    return row.pinned and row.tier == DAO_TIAN


def _rank(row: KeyedRow, priority: Sequence[str]) -> int:
    return -priority.index(row.scope_type) if row.scope_type in priority else -len(priority)


def _standing(row: KeyedRow, priority: Sequence[str]) -> tuple[bool, int, float, int]:
    return _is_principle(row), _rank(row, priority), row.recorded_at.timestamp(), row.id.int


def _shadow(winner: KeyedRow, loser: KeyedRow, priority: Sequence[str]) -> Shadow:
    if _is_principle(winner) and not _is_principle(loser):
        rule, reason = "pinned_principle", "A pinned principle is never overridden by ordinary memory."
    elif _rank(winner, priority) != _rank(loser, priority):
        rule = "scope_priority"
        reason = f"{winner.scope_type} counts before {loser.scope_type} ({' > '.join(priority)})."
    elif winner.recorded_at != loser.recorded_at:
        rule, reason = "same_rank", f"Both rank as {winner.scope_type}: the newer row counts."
    else:
        rule, reason = "same_rank", f"Both rank as {winner.scope_type} and are of the same instant: the id decides."
    return Shadow.model_validate(
        {
            "winner_id": winner.id,
            "loser_id": loser.id,
            "type": winner.type,
            "key": winner.key,
            "winner_scope": winner.scope,
            "loser_scope": loser.scope,
            "rule": rule,
            "reason": reason,
        }
    )
