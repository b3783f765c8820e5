"""Whether who proposed a call may still make it: what its decision rested on, with what they hold now."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from uuid import UUID

from governance.contracts import Outcome
from governance.gate.deciding import rights_of
from governance.models import AuditEntry, Proposal
from governance.policies import Facts, ScopeFacts, denied
from kernel.context import ActorKind, Approval, Ctx
from scopes.selectors import identify_agents

OWN_TYPES = frozenset({"session", "owner"})  # of scopes that who proposed may have opened, which facts do not tell


def makers(rows: Sequence[Proposal], ctx: Ctx) -> dict[UUID, Ctx]:
    """The contexts in which calls would be carried out that `ctx` approves, as `ready` makes them: of what agents proposed
    with what they reach now, and of drafts with the reach of who decides. One statement, however many."""
    agents = identify_agents(row.proposer for row in rows if not row.drafted)
    found = {}
    for row in rows:
        identity = agents.get(row.proposer_id) if row.proposer_kind == ActorKind.AGENT else None
        approval = Approval(row.id, ctx.actor)
        if row.drafted:
            found[row.id] = ctx.approved(approval, row.proposer, ctx.reach)
        elif identity is not None:
            found[row.id] = ctx.approved(approval, identity.actor, identity.reach)
    return found


def may_no_longer(rows: Sequence[Proposal], made_by: Mapping[UUID, Ctx]) -> dict[UUID, str]:
    """Why calls would be denied by now, by the id of their proposal: by the rule that decides on them, on what was recorded
    when they were queued. One statement; what was revised since is not looked at, for its scopes may be others."""
    asked = {row.id: row for row in rows if row.id in made_by and row.revision == 1}
    kept = AuditEntry.objects.filter(proposal__in=asked, outcome=Outcome.QUEUED).order_by("-id")
    found = {}
    for proposal_id, action, told in kept.values_list("proposal_id", "action", "facts"):
        if action == asked[proposal_id].action and told:
            found[proposal_id] = _why(Facts.from_json(told), asked[proposal_id], made_by[proposal_id])
    return {proposal_id: why for proposal_id, why in found.items() if why}


def _why(facts: Facts, row: Proposal, maker: Ctx) -> str:
    own = frozenset(scope.name for scope in facts.scopes if scope.name.partition(":")[0] in OWN_TYPES)
    held = (ScopeFacts(scope.name, rights_of(maker, row.domain_id, scope.name, own)) for scope in facts.scopes)
    refused = denied(replace(facts, scopes=tuple(held)))
    if refused is None:
        return ""
    return refused.message if row.drafted else no_longer(row.proposer_name, refused.message)


def no_longer(name: str, why: str) -> str:
    """What is said of a call that its proposer may not make any more."""
    return f"Its proposer {name!r} may no longer do this: {why}"
