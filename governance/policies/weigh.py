"""How much care a call asks for: a pure function from what it does, where, and the policy."""

from __future__ import annotations

from dataclasses import dataclass
from fnmatch import fnmatchcase

from governance.contracts import Risk
from governance.policies.sections import CareRule, ReviewPolicy
from kernel.actions import Effect
from kernel.context import ANY, Right, covers

GRAVE_RIGHTS = frozenset({Right.ERASE, Right.OPERATE})
PASSING_TYPES = frozenset({"session", "task"})


@dataclass(frozen=True, slots=True)
class Weighed:
    """What a call does and where; `scopes` are `type:id`, or `*` for a whole domain."""

    action: str
    effect: Effect
    right: Right
    scopes: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Weight:
    """The risk of a call, and how many persons must approve it: 1 or 2."""

    risk: Risk
    approvals: int


def weigh(of: Weighed, review: ReviewPolicy) -> Weight:
    """Weigh a call: high where it destroys, operates or a rule says so; low where it stays in a session or task."""
    approvals = 2 if any(_matches(rule, of) for rule in review.two_person) else 1
    grave = of.effect is Effect.DESTROY or of.right in GRAVE_RIGHTS
    if grave or any(_matches(rule, of) for rule in review.high_risk):
        return Weight(Risk.HIGH, approvals)
    passing = all(_type(scope) in PASSING_TYPES for scope in of.scopes)
    return Weight(Risk.LOW if passing else Risk.NORMAL, approvals)


def for_scope(by_pattern: dict[str, list[str]] | dict[str, str], scope: str) -> list[str]:
    """What a policy says of a scope, the most exact pattern first: its entries, each once."""
    found: list[str] = []
    for pattern in sorted(by_pattern, key=_exactness):
        said = by_pattern[pattern]
        if covers(pattern, scope):
            found += [said] if isinstance(said, str) else said
    return list(dict.fromkeys(found))


def _exactness(pattern: str) -> tuple[int, str]:
    return (2 if pattern == ANY else 1 if pattern.endswith(":*") else 0, pattern)


def _matches(rule: CareRule, of: Weighed) -> bool:
    if not any(fnmatchcase(of.action, pattern) for pattern in rule.actions):
        return False
    return not rule.scope_types or any(_type(scope) in rule.scope_types for scope in of.scopes)


def _type(scope: str) -> str:
    return scope.partition(":")[0]
