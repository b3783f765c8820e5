"""Whether a job may do what it is asked to: the same as its operation may at once, decided anew each time."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from governance.gate import foresee
from governance.policies import Verdict
from kernel.context import ActorKind, Ctx
from kernel.contracts import Contract
from kernel.errors import ForbiddenError, NotFoundError
from media.selectors.jobs import may_import
from media.services.operations import action_of


def require_import(operation: str, parsed: Contract, domain_id: str, scopes: Sequence[str], ctx: Ctx) -> None:
    """Raise where the actor may not import this here and now.

    People import where they decide or operate. For anyone else it is what the gate would say of the operation itself,
    so that a job is no way around the right it needs or the review it waits for. Who approves that a job is asked for
    does not approve what it imports: the worker, whom nobody approved, would be told the same.
    """
    if ctx.actor.kind is ActorKind.PERSON:
        if not may_import(ctx, domain_id, tuple(scopes)):
            raise ForbiddenError("People import where they review or operate: name a scope that is assigned to you.")
        return
    action = action_of(operation)
    _, decision, _ = foresee(action, action.target(parsed, ctx), replace(ctx, approval=None))
    if decision.verdict is Verdict.DENY:
        raise NotFoundError(decision.message) if decision.code == "not_found" else ForbiddenError(decision.message)
    if decision.verdict is Verdict.QUEUE:
        raise ForbiddenError(f"Here {operation} waits for a person: call it without a job.")
