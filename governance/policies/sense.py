"""Refusing a policy document that names actions or scope types that do not exist: such a rule would guard nothing.

Only a document that is about to be stored or tried is held to this, and only by what the policy in force does not name
already: a stored rule stays in force when an action that it names goes away, and does not stand in the way of another.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from difflib import get_close_matches
from fnmatch import fnmatchcase
from typing import Any

from governance.policies.effective import Draft, effective, effective_or_defaults, validate_document
from governance.policies.sections import ScopesPolicy
from kernel.actions import all_actions
from kernel.context import ANY
from kernel.errors import InvalidInputError
from scopes.contracts import SESSION

RULES = ("queue", "allow", "two_person", "high_risk")


def check_document(document: Mapping[str, Any], domain_id: str | None) -> None:
    """Refuse a document that cannot be read, or whose rules name what is not there. Raises InvalidInputError that names
    the place."""
    validate_document(document)
    allowed = effective(domain_id, Draft(domain_id, document)).section(ScopesPolicy).allowed_types
    types = list(dict.fromkeys([*allowed, SESSION]))
    actions = sorted(action.name for action in all_actions())
    now = effective_or_defaults(domain_id).document()
    standing = {(place[1], kind, name) for place, kind, name in _names(now)}
    for place, kind, name in _names(document):
        if (place[1], kind, name) in standing:
            continue
        if kind == "action" and not any(fnmatchcase(each, name) for each in actions):
            raise _unknown(place, kind, name, actions)
        if kind == "scope type" and name not in (*types, ANY):
            raise _unknown(place, kind, name, types)
    priority = document.get("scopes", {}).get("conflict_priority", [])
    if priority != now["scopes"]["conflict_priority"]:
        _check_priority(priority, types)


def _check_priority(named: Sequence[str], types: Sequence[str]) -> None:
    place = ["scopes", "conflict_priority"]
    for scope_type in named:
        if scope_type not in types:
            raise _unknown(place, "scope type", scope_type, types)
    if len(set(named)) < len(named):
        raise _fault(place, "a scope type is named twice: only its first place counts")


def _names(document: Mapping[str, Any]) -> Iterator[tuple[list[str | int], str, str]]:
    """What the rules of a document name: the place, the kind of thing, and its name or pattern."""
    review = document.get("review", {})
    for name in RULES:
        for number, rule in enumerate(review.get(name, [])):
            for field, kind in (("actions", "action"), ("scope_types", "scope type")):
                for named in rule.get(field, []):
                    yield ["review", name, number, field], kind, named


def _unknown(place: Sequence[str | int], kind: str, name: str, known: Sequence[str]) -> InvalidInputError:
    near = get_close_matches(name, known, n=1)
    hint = (
        f"did you mean {near[0]!r}?" if near else f"there are {', '.join(known[:5])}{', …' if len(known) > 5 else ''}."
    )
    return _fault(place, f"there is no {kind} {name!r}, so it would have no effect: {hint}")


def _fault(place: Sequence[str | int], message: str) -> InvalidInputError:
    where = ".".join(map(str, place))
    return InvalidInputError(
        f"policies.{where}: {message}",
        errors=[{"loc": ["document", *place], "msg": message, "type": "no_effect"}],
    )
