"""What detection takes and gives: things told, and what two of them disagree about."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from typing import Any


class Rule(StrEnum):
    """How two memories were found to be at odds."""

    SAME_KEY = "same_key"
    OTHER_OBJECT = "other_object"
    OPPOSITE = "opposite"
    CHANGED = "changed"
    NEGATION = "negation"
    NUMBER = "number"
    DATE = "date"
    NEAR_DUPLICATE = "near_duplicate"


class Label(StrEnum):
    """What a rule says of the pair: both cannot hold, one updates the other, or both say the same."""

    CONFLICT = "conflict"
    UPDATE = "update"
    NEAR_DUPLICATE = "near_duplicate"


class Severity(StrEnum):
    """How much harm it does to leave it open."""

    HIGH = "high"
    MEDIUM = "medium"
    LOW = "low"


LABELS: dict[Rule, Label] = {
    Rule.SAME_KEY: Label.CONFLICT,
    Rule.OTHER_OBJECT: Label.CONFLICT,
    Rule.OPPOSITE: Label.CONFLICT,
    Rule.CHANGED: Label.UPDATE,
    Rule.NEGATION: Label.UPDATE,
    Rule.NUMBER: Label.UPDATE,
    Rule.DATE: Label.UPDATE,
    Rule.NEAR_DUPLICATE: Label.NEAR_DUPLICATE,
}


@dataclass(frozen=True, slots=True)
class Told:
    """One memory as detection sees it: `text` is the start of its statement, so places in it are places there."""

    type: str
    key: str | None
    text: str
    value: Mapping[str, Any] = field(default_factory=dict)
    valid_from: datetime | None = None
    valid_to: datetime | None = None


@dataclass(frozen=True, slots=True)
class Difference:
    """A place where two texts differ: start and end in each, in characters; equal ones where a side lacks it."""

    kind: str
    first: tuple[int, int]
    second: tuple[int, int]


@dataclass(frozen=True, slots=True)
class Finding:
    """What is wrong between two memories, in words."""

    rule: Rule
    explanation: str
    differences: tuple[Difference, ...] = ()

    @property
    def label(self) -> Label:
        """What the rule says of the pair."""
        return LABELS[self.rule]
