"""The decision: a pure function from facts and policy to allow, queue or deny, so that it can be tabled and replayed."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields
from enum import StrEnum
from fnmatch import fnmatchcase
from typing import TYPE_CHECKING, Any

from governance.policies.sections import AllowRule, QueueRule, ReviewPolicy
from kernel.actions import Effect
from kernel.context import ActorKind, Right, covers

if TYPE_CHECKING:
    from governance.policies.effective import Policies


ALWAYS_REVIEWED = "always_reviewed"


class Verdict(StrEnum):
    """What the gate does with a call."""

    ALLOW = "allow"
    QUEUE = "queue"
    DENY = "deny"


@dataclass(frozen=True, slots=True)
class ScopeFacts:
    """A scope that the call is about, and the rights that the actor holds on it."""

    name: str
    held: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Facts:
    """Everything a decision rests on; kept in the audit log. `waits`: the action always waits for a person, and the
    actor is none who may decide there."""

    action: str
    effect: str
    right: str
    actor_kind: str
    door: str
    domain_id: str | None
    scopes: tuple[ScopeFacts, ...]
    approved: bool
    queueable: bool = True
    waits: bool = False
    actor: str = ""

    def as_json(self) -> dict[str, Any]:
        """The form kept in the audit log."""
        return asdict(self)

    @classmethod
    def from_json(cls, kept: Mapping[str, Any]) -> Facts:
        """Facts read back from the audit log; what was not recorded yet when they were kept has its default."""
        known = {each.name: kept[each.name] for each in fields(cls) if each.name in kept}
        scopes = tuple(ScopeFacts(scope["name"], tuple(scope["held"])) for scope in kept["scopes"])
        return cls(**{**known, "scopes": scopes})


@dataclass(frozen=True, slots=True)
class Decision:
    """The verdict, the rule that gave it, and for a denial the error code and a message that says what to do."""

    verdict: Verdict
    rule: str
    code: str = ""
    message: str = ""


def decide(facts: Facts, policies: Policies) -> Decision:
    """Apply the rules in order: visible, permitted, already approved, always reviewed, queued by policy, else allowed."""
    for scope in facts.scopes:
        denied = _denied(facts, scope)
        if denied is not None:
            return denied
    if facts.approved:
        return Decision(Verdict.ALLOW, "approved")
    if facts.waits:
        return Decision(Verdict.QUEUE, ALWAYS_REVIEWED)
    if facts.effect != Effect.READ and facts.queueable:
        review = policies.section(ReviewPolicy)
        queued = next((rule for rule in review.queue if _matches(rule, facts)), None)
        allowed = next((rule for rule in review.allow if queued and _excepts(rule, facts)), None)
        if allowed is not None:
            return Decision(Verdict.ALLOW, f"review.allow:{allowed.name}")
        if queued is not None:
            return Decision(Verdict.QUEUE, f"review.queue:{queued.name}")
    return Decision(Verdict.ALLOW, f"right:{facts.right}")


def may_wait(policies: Policies, action: str, actor_kind: str, scope_type: str) -> bool:
    """Whether a rule could queue such a call at all: a cheap first look, before the call itself is put together."""
    rules = policies.section(ReviewPolicy).queue
    return any(
        actor_kind in rule.actor_kinds
        and any(fnmatchcase(action, pattern) for pattern in rule.actions)
        and (not rule.scope_types or scope_type in rule.scope_types)
        for rule in rules
    )


def _denied(facts: Facts, scope: ScopeFacts) -> Decision | None:
    if facts.right in scope.held:
        return None
    if facts.domain_id is not None and Right.READ not in scope.held:
        what = f"scope {scope.name!r}" if scope.name != "*" else f"domain {facts.domain_id!r}"
        return Decision(Verdict.DENY, "not_visible", "not_found", f"No {what} that you can see.")
    where = f"on {scope.name!r}" if facts.domain_id is not None else "over the installation"
    return Decision(
        Verdict.DENY,
        f"missing_right:{facts.right}",
        "forbidden",
        f"{facts.action} needs the right {str(facts.right)!r} {where}, which you do not hold.",
    )


def _matches(rule: QueueRule, facts: Facts) -> bool:
    if facts.actor_kind not in rule.actor_kinds:
        return False
    if not any(fnmatchcase(facts.action, pattern) for pattern in rule.actions):
        return False
    types = {scope.name.partition(":")[0] for scope in facts.scopes}
    return not rule.scope_types or bool(types & set(rule.scope_types))


def _excepts(rule: AllowRule, facts: Facts) -> bool:
    if facts.actor_kind != ActorKind.AGENT or facts.actor not in rule.actors:
        return False
    if not any(fnmatchcase(facts.action, pattern) for pattern in rule.actions):
        return False
    return bool(facts.scopes) and all(
        any(covers(pattern, scope.name) for pattern in rule.scopes) for scope in facts.scopes
    )
