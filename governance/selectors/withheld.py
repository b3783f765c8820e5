"""What of an audit entry the one who asks may see: changes in scopes that they audit, and of the rest only how many.

A call may reach several scopes of a domain; who audits one of them learns nothing of what it did in the others.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from governance.models import AuditEntry
from kernel.context import ANY, Ctx, Right

WITHHELD = "(withheld)"


@dataclass(frozen=True, slots=True)
class Sighted:
    """An entry as far as it is seen. `scope` is where the call was decided, or where that is out of sight the first
    scope in sight that it changed something in, and `placed` is False."""

    scope: str
    placed: bool
    changes: list[dict[str, Any]]
    facts: dict[str, Any]
    withheld: int


def sighted(row: AuditEntry, ctx: Ctx) -> Sighted:
    """What the actor sees of an entry that it may see at all."""
    if _audits(row, ANY, ctx):
        return Sighted(row.scope, True, row.changes, row.facts, 0)
    seen = [change for change in row.changes if may_see(row, change, ctx)]
    hidden = {change["id"] for change in row.changes} - {change["id"] for change in seen}
    changes = [_masked(change, hidden) for change in seen]
    placed = _audits(row, row.scope, ctx)
    scopes = (scope for change in seen for scope in _scopes(row, change))
    scope = row.scope if placed else next(scopes, WITHHELD)
    return Sighted(scope, placed, changes, shown_facts(row, ctx), len(row.changes) - len(seen))


def may_see(row: AuditEntry, change: Mapping[str, Any], ctx: Ctx) -> bool:
    """Whether the actor audits every scope in which the changed row lies."""
    return all(_audits(row, scope, ctx) for scope in _scopes(row, change))


def shown_facts(row: AuditEntry, ctx: Ctx) -> dict[str, Any]:
    """What the decision rested on, without the names of scopes that the actor does not audit."""
    scopes = [
        each if _audits(row, each["name"], ctx) else {"name": WITHHELD, "held": []}
        for each in row.facts.get("scopes", [])
    ]
    shown = {**row.facts, "scopes": scopes} if scopes else {**row.facts}
    if "parts" in shown:
        shown["parts"] = [part for part in shown["parts"] if _audits(row, part[1], ctx)]
    return shown


def _scopes(row: AuditEntry, change: Mapping[str, Any]) -> Iterator[str]:
    """Where a changed row lies: where that was not said, in all that the call was about."""
    told = change.get("scopes")
    if told:
        yield from told
        return
    yield row.scope
    yield from (each["name"] for each in row.facts.get("scopes", []))


def _audits(row: AuditEntry, scope: str, ctx: Ctx) -> bool:
    return ctx.may(Right.AUDIT, row.domain_id or ANY, scope)


def _masked(told: Any, hidden: set[str]) -> Any:
    """A change in sight may name a row that is not, such as the one that took its place."""
    if isinstance(told, dict):
        return {name: _masked(value, hidden) for name, value in told.items()}
    if isinstance(told, list):
        return [_masked(value, hidden) for value in told]
    return WITHHELD if isinstance(told, str) and told in hidden else told
