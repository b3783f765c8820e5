"""Trying a call before it is made: what it would change, and who would gain or lose sight of something."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from governance import gate, selectors, services
from governance.actions.effects import compare, effect, snapshots
from governance.contracts.previews import PreviewCallInput, PreviewCallResult
from kernel.actions import Action, Target, get, register
from kernel.context import ANY, Ctx, Right
from kernel.contracts import Contract
from kernel.errors import InvalidInputError


@dataclass(frozen=True, slots=True)
class _Tried:
    """The call that is to be tried, read, and what it is about."""

    action: Action[Any, Any, Any]
    given: Contract
    target: Target


def _tried(given: PreviewCallInput, ctx: Ctx) -> _Tried:
    return ctx.once("tried call", lambda: _read(given, ctx))


def _read(given: PreviewCallInput, ctx: Ctx) -> _Tried:
    """Read the call. One that cannot be taken back may do what no rollback undoes, so it is refused."""
    action = get(given.action)
    if action.reverse is None:
        raise InvalidInputError(f"action: {action.name} cannot be tried: only what can be taken back can.")
    parsed = action.input.parse(given.input)
    return _Tried(action, parsed, action.target(parsed, ctx))


def _target(given: PreviewCallInput, ctx: Ctx) -> Target:
    target = _tried(given, ctx).target
    return Target(target.domain_id, target.scopes, target.owned)


def _preview(given: PreviewCallInput, ctx: Ctx) -> PreviewCallResult:
    tried = _tried(given, ctx)
    found = gate.foretell(
        tried.action,
        tried.given,
        tried.target,
        ctx,
        lambda changes: snapshots(changes, ctx),
        lambda changes: effect(changes, ctx),
    )
    withheld = not ctx.may(Right.DECIDE, tried.target.domain_id or ANY, found.place)
    before, (lines, after) = found.seen if found.seen is not None and not withheld else ([], ([], []))
    rows = [change.as_json() for change in found.changes if not (change.incidental or withheld)]
    return PreviewCallResult(
        waits=found.waits,
        rule=found.rule,
        already=found.seen is None,
        digest=services.changes_digest(found.changes),
        withheld=withheld,
        rows=selectors.view_changes(rows),
        lines=lines,
        shown=compare(before, after),
    )


PREVIEW_CALL = register(
    Action(
        "preview_call",
        "Show what a call would do before it is made, from a dry run that is undone: rows, who gains or loses sight.",
        PreviewCallInput,
        PreviewCallResult,
        Right.DECIDE,
        _target,
        _preview,
    )
)
