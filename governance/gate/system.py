"""What the server does in its own name: keeping a changed policy file, and entering what happens at sign-in."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from governance import services
from governance.contracts import Outcome
from governance.gate.opening import writing
from governance.policies import Policies
from governance.services import Trail
from kernel.actions import Change
from kernel.context import Actor, ActorKind, Ctx, Door
from scopes.selectors import EVERYTHING


def system_ctx(name: str, door: Door) -> Ctx:
    """The context of the server itself, or of the operator at its shell."""
    return Ctx(Actor(ActorKind.SYSTEM, f"system:{name}"[:64], name), door, EVERYTHING)


def register_file(policies: Policies) -> None:
    """Keep a changed `brain.yml` as a version before the first write that it governs."""
    if policies.unregistered_file is None:
        return
    ctx = system_ctx("brain.yml", Door.JOB)
    with writing():
        change = services.register_file(policies.unregistered_file, ctx)
        if change is None:
            return
        trail = Trail(action="register_policy_file", policy_version=policies.version, rule="system", changes=[change])
        services.record(trail, ctx, Outcome.ALLOWED)


def by_itself(event: str, write: Callable[[], Sequence[Change]], ctx: Ctx) -> None:
    """Write, in a transaction of the gate's own, what the server has to know while it prepares a call, such as that
    bytes are about to be stored; `event` is its name in the audit log, where it stands if `write` reports changes.
    Nothing is decided: the call it serves was."""
    with writing():
        changes = write()
        if changes:
            services.record(Trail(action=event, rule="system", changes=changes), ctx, Outcome.ALLOWED)


def note(event: str, ctx: Ctx, outcome: Outcome, reason: str = "") -> None:
    """Enter into the audit log what happened outside of any action, such as a sign-in; `event` is its name there."""
    with writing():
        services.record(Trail(action=event, rule="system"), ctx, outcome, reason=reason[:2000])
