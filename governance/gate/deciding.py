"""What is decided on a call before anything is done: what it is about, by which policy, and with which verdict."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import reduce
from typing import Any, Generic, TypeVar
from uuid import UUID

from governance.gate.advice import advised
from governance.gate.system import register_file
from governance.policies import (
    Decision,
    Facts,
    Policies,
    ReviewPolicy,
    ScopeFacts,
    Verdict,
    Weighed,
    Weight,
    decide,
    effective_or_defaults,
    heavier,
    in_force,
    weigh,
)
from governance.services import Trail
from kernel.actions import Action, Change, Target, get
from kernel.canonical import digest
from kernel.context import ANY, ActorKind, Ctx, Right
from kernel.contracts import Contract, KeyedInput
from kernel.errors import ForbiddenError, NotFoundError, UnavailableError
from scopes.selectors import held

In = TypeVar("In", bound=Contract)
Out = TypeVar("Out", bound=Contract)


REASON_CHARS = 2000


@dataclass(frozen=True, slots=True)
class Call(Generic[In, Out]):
    """One call on its way through the gate. `expecting` is the digest of what its maker was shown that it would change;
    empty: they were shown nothing."""

    action: Action[In, Out, Any]
    given: In
    ctx: Ctx
    trail: Trail
    expecting: str = ""

    @property
    def key(self) -> str | None:
        """Its idempotency key."""
        return self.given.idempotency_key if isinstance(self.given, KeyedInput) else None

    def apply(self, prepared: Any) -> tuple[Out, Sequence[Change]]:
        """Run the action's own apply."""
        if self.action.apply is None:
            raise TypeError(f"{self.action.name} only reads")
        return self.action.apply(self.given, prepared, self.ctx)


def foresee(action: Action[Any, Any, Any], target: Target, ctx: Ctx) -> tuple[Facts, Decision, Policies]:
    """What would be decided on a call of `ctx` about `target`, and by which policies; nothing is done or recorded."""
    this: Call[Any, Any] = Call(action, None, ctx, Trail(action=action.name))
    policies = policies_for(this, target)
    facts = call_facts(this, target)
    return facts, advised(action, decide(facts, policies), target, ctx), policies


def decide_on(this: Call[In, Out], target: Target) -> Verdict:
    """Ask the policy about a call and note in its trail what the decision rests on. Raises where it is denied."""
    policies = place(this, target)
    facts = this.trail.facts = call_facts(this, target)
    decision = advised(this.action, decide(facts, policies), target, this.ctx)
    this.trail.rule = decision.rule
    if decision.verdict is Verdict.DENY:
        raise NotFoundError(decision.message) if decision.code == "not_found" else ForbiddenError(decision.message)
    if this.action.apply is not None:
        register_file(policies)
    return decision.verdict


def place(this: Call[In, Out], target: Target) -> Policies:
    """Note in the trail what the call is about, and give the policy in force there."""
    policies = policies_for(this, target)
    this.trail.domain_id, this.trail.policy_version = target.domain_id, policies.version
    this.trail.proposal_id = this.trail.proposal_id or target.proposal_id
    this.trail.scope = place_of(target)
    return policies


def weigh_call(this: Call[In, Out], target: Target, *, own: bool = True) -> Weight:
    """How much care the call asks for under the policy in force now, the largest of all actions as which it is judged.
    Where it is the proposer's own (`own`), a person who could decide on it stands for it as one of those who must."""
    each = [this.action, *(get(name) for name in this.action.judged_as)]
    return reduce(heavier, (_weigh_as(replace(this, action=action), target, own=own) for action in each))


def _weigh_as(this: Call[In, Out], target: Target, *, own: bool) -> Weight:
    of = Weighed(this.action.name, this.action.effect, this.action.right, _touched(target))
    weight = weigh(of, policies_for(this, target).section(ReviewPolicy))
    if own and weight.approvals > 1 and _stands_for(this, target):
        return replace(weight, approvals=weight.approvals - 1)
    return weight


def _stands_for(this: Call[In, Out], target: Target) -> bool:
    """Whether the actor's own word counts: of a person who decides there, or who operates what only operators change."""
    if this.action.right is Right.OPERATE and this.ctx.actor.kind is ActorKind.PERSON:
        return Right.OPERATE in _rights(this.ctx, target, place_of(target))
    return _decides_there(this, target)


def policies_for(this: Call[In, Out], target: Target) -> Policies:
    """The policy in force. While it cannot be used nothing is done but what an operator needs to repair it."""
    try:
        return in_force(target.domain_id, this.ctx)
    except UnavailableError:
        if this.action.right is not Right.OPERATE:
            raise
        return effective_or_defaults(target.domain_id)


def call_facts(this: Call[In, Out], target: Target) -> Facts:
    """What a decision on the call rests on."""
    return Facts(
        action=this.action.name,
        effect=this.action.effect,
        right=target.needs or this.action.right,
        actor_kind=this.ctx.actor.kind,
        door=this.ctx.door,
        domain_id=target.domain_id,
        scopes=tuple(ScopeFacts(name, _rights(this.ctx, target, name)) for name in target.scopes),
        approved=this.ctx.approval is not None,
        queueable=this.action.queueable,
        waits=this.action.reviewed and not _decides_there(this, target),
        actor=this.ctx.actor.name,
        or_decide=this.action.or_decide,
        place=target.place,
        judged_as=this.action.judged_as,
    )


def _decides_there(this: Call[In, Out], target: Target) -> bool:
    if this.ctx.actor.kind is not ActorKind.PERSON:
        return False
    return Right.DECIDE in _rights(this.ctx, target, place_of(target))


def place_of(target: Target) -> str:
    """The scope in which a proposal for the call is decided."""
    return target.place or (target.scopes[0] if target.scopes else ANY)


def decided_in(target: Target) -> tuple[str, ...]:
    """The scopes on which whoever lets the call happen must decide: its place, or all that it is about where it names
    none. What its actor opened itself counts as the actor's."""
    if target.place:
        return (target.place,)
    return tuple(name for name in target.scopes if name not in target.owned) or (place_of(target),)


def _touched(target: Target) -> tuple[str, ...]:
    """Every scope that the call is about, the one in which it is decided first."""
    return tuple(dict.fromkeys([place_of(target), *target.scopes]))


def _rights(ctx: Ctx, target: Target, scope: str) -> tuple[str, ...]:
    return rights_of(ctx, target.domain_id, scope, target.owned)


def rights_of(ctx: Ctx, domain_id: str | None, scope: str, owned: frozenset[str]) -> tuple[str, ...]:
    """What the actor holds on a scope, on `owned` ones as who opened them; without a domain over the installation."""
    if domain_id is not None:
        return tuple(sorted(held(ctx, domain_id, scope, owned)))
    everywhere = (grant for grant in ctx.reach if grant.domain_id == ANY and grant.pattern == ANY)
    return tuple(sorted({right for grant in everywhere for right in grant.rights}))


def trail_of(action: Action[Any, Any, Any], given: Contract, proposal_id: UUID | None = None) -> Trail:
    """The trail of a call that is about to be made, with the reason that it gives."""
    reason = getattr(given, "reason", None)
    return Trail(
        action=action.name,
        input_digest=_fingerprint(given),
        proposal_id=proposal_id,
        reason=reason[:REASON_CHARS] if isinstance(reason, str) else "",
    )


def _fingerprint(given: Contract) -> str:
    """The digest of an input, whatever its idempotency key."""
    tree = given.model_dump(mode="json")
    tree.pop("idempotency_key", None)
    return digest(tree)
