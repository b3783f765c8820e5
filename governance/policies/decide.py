"""The decision: a pure function from facts and policy to allow, queue or deny, so that it can be tabled and replayed."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass, fields, replace
from enum import StrEnum
from fnmatch import fnmatchcase
from typing import TYPE_CHECKING, Any

from governance.policies.sections import AllowRule, CareRule, QueueRule, ReviewPolicy
from governance.policies.weigh import by_two
from kernel.actions import Action, Effect
from kernel.context import ActorKind, Right, covers, suffices

if TYPE_CHECKING:
    from governance.policies.effective import Policies


ALWAYS_REVIEWED = "always_reviewed"
TWO_PERSON = "review.two_person:"
QUEUE_RULE = "review.queue:"
ALLOW_RULE = "review.allow:"


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
    actor is none who may decide there. `or_decide`: a person who may decide on a scope needs no other right there.
    `place`: the scope in which a proposal for the call is decided, where it is none of `scopes`. `parts`: what was done
    within the call that policy judges as calls of other actions, as pairs of action and scope. `judged_as`: further
    actions as which policy judges the call beside its own name."""

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
    or_decide: bool = False
    place: str = ""
    parts: tuple[tuple[str, str], ...] = ()
    judged_as: tuple[str, ...] = ()

    @property
    def touched(self) -> tuple[str, ...]:
        """Every scope that the call is about, the one in which it is decided included."""
        return (*(scope.name for scope in self.scopes), *((self.place,) if self.place else ()))

    def calls_within(self) -> Iterator[Facts]:
        """Each part as the call that it is judged as. What the actor held was enough for it, where that is not told."""
        told = {scope.name: scope for scope in self.scopes}
        for action, name in self.parts:
            scope = told.get(name, ScopeFacts(name, (self.right,)))
            yield replace(self, action=action, scopes=(scope,), place="", parts=(), judged_as=())

    def permits(self, scope: ScopeFacts) -> bool:
        """Whether what the actor holds on the scope is enough for the call."""
        return suffices(scope.held, self.right, self.actor_kind, or_decide=self.or_decide)

    def as_json(self) -> dict[str, Any]:
        """The form kept in the audit log."""
        kept = asdict(self)
        return {name: told for name, told in kept.items() if told or name not in ("parts", "judged_as")}

    @classmethod
    def from_json(cls, kept: Mapping[str, Any]) -> Facts:
        """Facts read back from the audit log; what was not recorded yet when they were kept has its default."""
        known = {each.name: kept[each.name] for each in fields(cls) if each.name in kept}
        scopes = tuple(ScopeFacts(scope["name"], tuple(scope["held"])) for scope in kept["scopes"])
        parts = tuple((action, scope) for action, scope in kept.get("parts", ()))
        judged_as = tuple(kept.get("judged_as", ()))
        return cls(**{**known, "scopes": scopes, "parts": parts, "judged_as": judged_as})


@dataclass(frozen=True, slots=True)
class Decision:
    """The verdict, the rule that gave it, and for a denial the error code and a message that says what to do."""

    verdict: Verdict
    rule: str
    code: str = ""
    message: str = ""


def decide(facts: Facts, policies: Policies) -> Decision:
    """Apply the rules in order: visible, permitted, already approved, always reviewed, queued by policy, a person's call
    for which two stand, else allowed. Of a call that is judged as several actions the first that holds it back counts."""
    if facts.judged_as:
        return _strictest(facts, policies)
    refused = denied(facts)
    if refused is not None:
        return refused
    if facts.approved:
        return Decision(Verdict.ALLOW, "approved")
    if facts.waits:
        return Decision(Verdict.QUEUE, ALWAYS_REVIEWED)
    if facts.effect != Effect.READ and facts.queueable:
        review = policies.section(ReviewPolicy)
        queued = next((rule for rule in review.queue if _matches(rule, facts)), None)
        allowed = next((rule for rule in review.allow if queued and _excepts(rule, facts)), None)
        if allowed is not None:
            return Decision(Verdict.ALLOW, f"{ALLOW_RULE}{allowed.name}")
        if queued is not None:
            return Decision(Verdict.QUEUE, f"{QUEUE_RULE}{queued.name}")
        shared = _shared(facts, review)
        if shared is not None:
            return Decision(Verdict.QUEUE, f"{TWO_PERSON}{shared.name}")
    lacking = any(facts.right not in scope.held for scope in facts.scopes)
    return Decision(Verdict.ALLOW, f"right:{Right.DECIDE if lacking else facts.right}")


def _strictest(facts: Facts, policies: Policies) -> Decision:
    """What is decided on a call that is judged as several actions. An exception that names its own action, without a
    wildcard, excepts it as whatever it is judged."""
    each = [replace(facts, action=name, judged_as=()) for name in (facts.action, *facts.judged_as)]
    decided = [decide(alone, policies) for alone in each]
    held = next((found for found in decided if found.verdict is not Verdict.ALLOW), None)
    if held is None or not held.rule.startswith(QUEUE_RULE):
        return held or decided[0]
    named = (rule for rule in policies.section(ReviewPolicy).allow if facts.action in rule.actions)
    allowed = next((rule for rule in named if _excepts(rule, facts)), None)
    return Decision(Verdict.ALLOW, f"{ALLOW_RULE}{allowed.name}") if allowed else held


def may_wait(policies: Policies, action: Action[Any, Any, Any], actor_kind: str, scope_type: str) -> bool:
    """Whether a rule could queue such a call at all: a cheap first look, before the call itself is put together."""
    review = policies.section(ReviewPolicy)
    return any(_may_wait(name, actor_kind, scope_type, review) for name in (action.name, *action.judged_as))


def _may_wait(action: str, actor_kind: str, scope_type: str, review: ReviewPolicy) -> bool:
    if actor_kind == ActorKind.PERSON and by_two(action, (scope_type,), review) is not None:
        return True
    return any(
        actor_kind in rule.actor_kinds
        and any(fnmatchcase(action, pattern) for pattern in rule.actions)
        and (not rule.scope_types or scope_type in rule.scope_types)
        for rule in review.queue
    )


def denied(facts: Facts) -> Decision | None:
    """Why a call is denied, whatever the policy says and whoever approved it: what the actor holds is not enough."""
    return next((found for scope in facts.scopes if (found := _denied(facts, scope)) is not None), None)


def _denied(facts: Facts, scope: ScopeFacts) -> Decision | None:
    if facts.permits(scope):
        return None
    if facts.domain_id is not None and Right.READ not in scope.held:
        what = f"scope {scope.name!r}" if scope.name != "*" else f"domain {facts.domain_id!r}"
        return Decision(Verdict.DENY, "not_visible", "not_found", f"No {what} that you can see.")
    where = f"on {scope.name!r}" if facts.domain_id is not None else "over the installation"
    return Decision(
        Verdict.DENY,
        f"missing_right:{facts.right}",
        "forbidden",
        f"{facts.action} needs the right {_needed(facts)} {where}, which you do not hold.",
    )


def _needed(facts: Facts) -> str:
    """The right in quotes, with the other one that would do for this actor."""
    either = facts.or_decide and facts.actor_kind == ActorKind.PERSON
    return f"{str(facts.right)!r} or {str(Right.DECIDE)!r}" if either else repr(str(facts.right))


def _matches(rule: QueueRule, facts: Facts) -> bool:
    if facts.actor_kind not in rule.actor_kinds:
        return False
    if not any(fnmatchcase(facts.action, pattern) for pattern in rule.actions):
        return False
    types = {name.partition(":")[0] for name in facts.touched}
    return not rule.scope_types or bool(types & set(rule.scope_types))


def _shared(facts: Facts, review: ReviewPolicy) -> CareRule | None:
    """The rule by which a person's call needs another person too."""
    if facts.actor_kind != ActorKind.PERSON:
        return None
    return by_two(facts.action, facts.touched, review)


def _excepts(rule: AllowRule, facts: Facts) -> bool:
    if facts.actor_kind != ActorKind.AGENT or facts.actor not in rule.actors:
        return False
    if not any(fnmatchcase(facts.action, pattern) for pattern in rule.actions):
        return False
    touched = facts.touched
    return bool(touched) and all(any(covers(pattern, name) for pattern in rule.scopes) for name in touched)
