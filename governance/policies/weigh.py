"""How much care a call asks for: a pure function from what it does, where, and the policy."""

from __future__ import annotations

from collections.abc import Sequence
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


def heavier(first: Weight, second: Weight) -> Weight:
    """The care that a call asks for which is weighed as two actions: the larger risk, and the more persons."""
    risk = max(first.risk, second.risk, key=list(Risk).index)
    return Weight(risk, max(first.approvals, second.approvals))


def weigh(of: Weighed, review: ReviewPolicy) -> Weight:
    """Weigh a call: high where it destroys, operates or a rule says so; low where it stays in a session or task."""
    approvals = 1 if by_two(of.action, of.scopes, review) is None else 2
    grave = of.effect is Effect.DESTROY or of.right in GRAVE_RIGHTS
    if grave or any(_matches(rule, of.action, of.scopes) for rule in review.high_risk):
        return Weight(Risk.HIGH, approvals)
    passing = all(_type(scope) in PASSING_TYPES for scope in of.scopes)
    return Weight(Risk.LOW if passing else Risk.NORMAL, approvals)


def by_two(action: str, scopes: Sequence[str], review: ReviewPolicy) -> CareRule | None:
    """The first rule by which two persons stand for such a call on scopes (`type:id`, or `*`); None: one is enough."""
    return next((rule for rule in review.two_person if _matches(rule, action, scopes)), None)


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


def _matches(rule: CareRule, action: str, scopes: Sequence[str]) -> bool:
    if not any(fnmatchcase(action, pattern) for pattern in rule.actions):
        return False
    return not rule.scope_types or any(_type(scope) in rule.scope_types for scope in scopes)


def _type(scope: str) -> str:
    return scope.partition(":")[0]
