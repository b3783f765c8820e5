"""Profiles as sets of facts: what is said adds to what is known, fact by fact."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from kernel.text import fold
from memory.candidates import Candidate
from memory.statements import statement


def with_facts_of(candidate: Candidate, known: Mapping[str, Any]) -> Candidate:
    """The candidate with the facts already known, each replaced where it says something newer of the same name."""
    told = [fact for fact in candidate.value.get("facts", []) if isinstance(fact, dict)]
    names = {fold(str(fact.get("k", ""))) for fact in told}
    kept = [fact for fact in known.get("facts", []) if fold(str(fact.get("k", ""))) not in names]
    value = {**known, **candidate.value, "facts": [*kept, *told]}
    value.pop("statement", None)
    return replace(candidate, value=value, statement=statement("profile", value))


def without_facts(known: Mapping[str, Any], denied: Sequence[tuple[str, str | None]]) -> dict[str, Any]:
    """The profile without the denied facts; a denial without a value denies the fact whatever it says."""
    gone = {(fold(name), fold(value) if value is not None else None) for name, value in denied}
    facts = [fact for fact in known.get("facts", []) if not _is_denied(fact, gone)]
    value = {**known, "facts": facts}
    value.pop("statement", None)
    return value


def _is_denied(fact: Mapping[str, Any], gone: set[tuple[str, str | None]]) -> bool:
    name = fold(str(fact.get("k", "")))
    return (name, None) in gone or (name, fold(str(fact.get("v", "")))) in gone
