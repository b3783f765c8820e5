"""What asks the gate about each part of what is learned for a scope that many read."""

from __future__ import annotations

from typing import Any

from governance import gate
from governance.contracts import QueuedAnswer
from governance.policies import in_force, may_wait
from kernel.actions import Action
from kernel.context import Ctx
from kernel.contracts import Contract
from memory.actions.lifecycle import RETRACT_ITEM
from memory.actions.writing import WRITE_DENIAL, WRITE_MEMORY_ITEM, WRITE_RELATION
from memory.contracts.commit import PartAction
from memory.services.holding import ELEVATED, Holding

PARTS: dict[PartAction, Action[Any, Any, Any]] = {
    "write_memory_item": WRITE_MEMORY_ITEM,
    "retract_item": RETRACT_ITEM,
    "write_relation": WRITE_RELATION,
    "write_denial": WRITE_DENIAL,
}


def held_types(action: PartAction, domain_id: str, ctx: Ctx) -> frozenset[str]:
    """The types of scopes in which a part may wait by itself, as a call of that action, while the rest is stored."""
    policies = in_force(domain_id, ctx)
    return frozenset(kind for kind in ELEVATED if may_wait(policies, PARTS[action], ctx.actor.kind, kind))


def holding_of(domain_id: str, ctx: Ctx, author: Ctx | None = None) -> Holding:
    """What asks about the parts of the call of `ctx`, as parts that its `author` says where that is someone else."""
    speaker = author or ctx

    def ask(action: PartAction, given: Contract) -> QueuedAnswer | None:
        return gate.queue_within(PARTS[action], given, speaker)

    def carried(action: PartAction, scope: str) -> None:
        for name in (action, *PARTS[action].judged_as):
            gate.carried_within(name, scope, ctx)

    return Holding({action: held_types(action, domain_id, speaker) for action in PARTS}, ask, carried)
