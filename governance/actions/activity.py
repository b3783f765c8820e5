"""Reading what agents and people did lately."""

from __future__ import annotations

from datetime import timedelta

from governance.audit import activity
from governance.contracts import AgentActivityInput, AgentActivityResult
from kernel.actions import Action, Target, register
from kernel.context import Ctx, Right
from kernel.errors import ForbiddenError
from scopes.selectors import require_domain


def _target(given: AgentActivityInput, ctx: Ctx) -> Target:
    if given.domain_id is not None:
        require_domain(given.domain_id, ctx)
    if not any(Right.AUDIT in grant.rights for grant in ctx.reach):
        raise ForbiddenError("Only reviewers, auditors and operators see what others did.")
    return Target(given.domain_id, scopes=())


def _sum_up(given: AgentActivityInput, ctx: Ctx) -> AgentActivityResult:
    since = ctx.now - timedelta(days=given.days)
    rows, complete = activity.newest(given, since, ctx)
    actors = activity.sum_up(rows, given, since, ctx)
    looked_at = sum(each.calls for each in actors)
    return AgentActivityResult(since=since, looked_at=looked_at, complete=complete, actors=actors)


AGENT_ACTIVITY = register(
    Action(
        "agent_activity",
        "Sum up what each agent or person did lately: calls, writes, denials, bursts, proposals and what became of them.",
        AgentActivityInput,
        AgentActivityResult,
        Right.AUDIT,
        _target,
        _sum_up,
    )
)
