"""What is decided on a call before anything is done: what it is about, by which policy, and with which verdict."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

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
    in_force,
    weigh,
)
from governance.services import Trail
from kernel.actions import Action, Change, Target
from kernel.canonical import digest
from kernel.context import ANY, ActorKind, Ctx, Right
from kernel.contracts import Contract, KeyedInput
from kernel.errors import ForbiddenError, NotFoundError, UnavailableError
from scopes.selectors import held

In = TypeVar("In", bound=Contract)
Out = TypeVar("Out", bound=Contract)


@dataclass(frozen=True, slots=True)
class Call(Generic[In, Out]):
    """One call on its way through the gate."""

    action: Action[In, Out, Any]
    given: In
    ctx: Ctx
    trail: Trail

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


def weigh_call(this: Call[In, Out], target: Target) -> Weight:
    """How much care the call asks for under the policy in force now."""
    of = Weighed(this.action.name, this.action.effect, this.action.right, _touched(target))
    return weigh(of, policies_for(this, target).section(ReviewPolicy))


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
        right=this.action.right,
        actor_kind=this.ctx.actor.kind,
        door=this.ctx.door,
        domain_id=target.domain_id,
        scopes=tuple(ScopeFacts(name, _rights(this.ctx, target, name)) for name in target.scopes),
        approved=this.ctx.approval is not None,
        queueable=this.action.queueable,
        waits=this.action.reviewed and not _decides_there(this, target),
        actor=this.ctx.actor.name,
    )


def _decides_there(this: Call[In, Out], target: Target) -> bool:
    if this.ctx.actor.kind is not ActorKind.PERSON:
        return False
    return Right.DECIDE in _rights(this.ctx, target, place_of(target))


def place_of(target: Target) -> str:
    """The scope in which a proposal for the call is decided."""
    return target.place or (target.scopes[0] if target.scopes else ANY)


def _touched(target: Target) -> tuple[str, ...]:
    """Every scope that the call is about, the one in which it is decided first."""
    return tuple(dict.fromkeys([place_of(target), *target.scopes]))


def _rights(ctx: Ctx, target: Target, scope: str) -> tuple[str, ...]:
    if target.domain_id is not None:
        return tuple(sorted(held(ctx, target.domain_id, scope, target.owned)))
    everywhere = (grant for grant in ctx.reach if grant.domain_id == ANY and grant.pattern == ANY)
    return tuple(sorted({right for grant in everywhere for right in grant.rights}))


def fingerprint(given: Contract) -> str:
    """The digest of an input, whatever its idempotency key."""
    tree = given.model_dump(mode="json")
    tree.pop("idempotency_key", None)
    return digest(tree)
