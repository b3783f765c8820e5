"""Stored calls: what a proposal holds is made ready, tried out or carried out as its proposer."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

from governance import services
from governance.contracts import QueuedAnswer
from governance.gate.calls import carry, hold, try_out
from governance.gate.deciding import Call, call_facts, decide_on, place, trail_of, weigh_call
from governance.gate.foretelling import tried_twice
from governance.gate.standing import no_longer
from governance.models import Proposal
from governance.policies import Weight
from kernel.actions import Action, Change, Target, get
from kernel.context import Actor, Approval, Ctx
from kernel.contracts import Contract
from kernel.errors import ConflictError, ForbiddenError, NotFoundError, StaleError
from scopes.selectors import identify_again

In = TypeVar("In", bound=Contract)
Out = TypeVar("Out", bound=Contract)
Before = TypeVar("Before")
During = TypeVar("During")


@dataclass(frozen=True, slots=True)
class Stored(Generic[In, Out]):
    """A proposal's call made ready outside the transaction, as its proposer with what they may reach now."""

    proposal: Proposal
    call: Call[In, Out]
    prepared: Any
    target: Target
    weight: Weight


def ready(proposal: Proposal, decided_by: Actor, ctx: Ctx, given: Mapping[str, Any] | None = None) -> Stored[Any, Any]:
    """Prepare a stored call in the name of a decision; `given` is its input where a person edited it.

    A draft was written for someone who may do it: it is carried out with the reach of the one who decides. Raises
    DomainError where the proposer may no longer do it, or the input is not one.
    """
    this, target = _aimed(proposal, decided_by, ctx, given)
    own = not proposal.drafted and (given is None or decided_by.id == proposal.proposer_id)
    weight = weigh_call(this, target, own=own)
    return Stored(proposal, this, this.action.prepare(this.given, this.ctx), target, weight)


def touched_by(proposal: Proposal, ctx: Ctx) -> tuple[str, ...]:
    """The scopes that a stored call is about, the one in which it is decided included. Raises DomainError as `ready`."""
    return call_facts(*_aimed(proposal, ctx.actor, ctx)).touched


def _aimed(
    proposal: Proposal, decided_by: Actor, ctx: Ctx, given: Mapping[str, Any] | None = None
) -> tuple[Call[Any, Any], Target]:
    """A stored call as its proposer's, and what it is about."""
    action = get(proposal.action)
    parsed = action.input.parse(proposal.input if given is None else given)
    identity = identify_again(proposal.proposer)
    reach = ctx.reach if proposal.drafted else identity.reach
    as_proposer = ctx.approved(Approval(proposal.id, decided_by), identity.actor, reach)
    this = Call(action, parsed, as_proposer, trail_of(action, parsed, proposal.id))
    try:
        target = action.target(parsed, as_proposer)
        decide_on(this, target)
    except (NotFoundError, ForbiddenError) as exc:
        if proposal.drafted:
            raise
        raise ConflictError(no_longer(identity.actor.name, exc.message)) from exc
    return this, target


def carry_out(stored: Stored[Any, Any]) -> dict[str, Any]:
    """Apply a stored call inside the present transaction. Raises StaleError where it would now change something else."""
    answer = carry(stored.call, stored.prepared)
    if services.changes_digest(stored.call.trail.changes) != stored.proposal.digest:
        raise StaleError(f"What proposal {stored.proposal.id} would change has changed since: look at it again.")
    return answer.body()


def tried(stored: Stored[Any, Any]) -> list[Change]:
    """What a stored call would change now, inside the present transaction; it is undone at once."""
    return try_out(stored.call, stored.prepared)


def preview(
    stored: Stored[Any, Any],
    before: Callable[[Sequence[Change]], Before],
    during: Callable[[Sequence[Change]], During],
) -> tuple[list[Change], Before, During]:
    """Try a stored call in a transaction that is rolled back: its changes, what `before` saw without them, and what
    `during` saw while they were in force. Both are given the changes."""
    return tried_twice(stored.call, stored.prepared, before, during)


def draft(action: Action[In, Out, Any], given: In, ctx: Ctx) -> QueuedAnswer:
    """Queue a call that its author may not carry out, inside the gate's open transaction: who approves it needs the
    right to it themselves. Raises DomainError where the call cannot be made at all."""
    this = Call(action, given, ctx, trail_of(action, given))
    target = action.target(given, ctx)
    place(this, target)
    this.trail.rule, this.trail.facts = "draft", call_facts(this, target)
    return hold(this, action.prepare(given, ctx), target, drafted=True)
