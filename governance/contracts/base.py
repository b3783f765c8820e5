"""Small types that the contracts of governance share."""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated

from pydantic import AfterValidator, Field

from kernel.context import Right
from kernel.text import is_invisible


def is_legible(text: str) -> bool:
    """Whether there is anything in it that a person can read."""
    return any(not char.isspace() and not is_invisible(char) for char in text)


def _legible(text: str) -> str:
    if not is_legible(text):
        raise ValueError("say why, in words that people can read")
    return text


Legible = AfterValidator(_legible)
REASON_CHARS = 2000
Reason = Annotated[
    str, Field(min_length=1, max_length=REASON_CHARS, pattern=r"\S", description="Why, in words people read."), Legible
]
UserName = Annotated[str, Field(min_length=1, max_length=150, description="User name of a person.")]
KeyRight = Annotated[Right, Field(description="`read`, `write`, `promote` or `erase`.")]


class ProposalState(StrEnum):
    """Where a proposal stands; the last four are final."""

    OPEN = "open"
    CHANGES_REQUESTED = "changes_requested"
    APPROVED = "approved"
    REJECTED = "rejected"
    WITHDRAWN = "withdrawn"
    EXPIRED = "expired"


class Outcome(StrEnum):
    """What became of a call, as the audit log says it."""

    ALLOWED = "allowed"
    QUEUED = "queued"
    DENIED = "denied"
    INVALID = "invalid"
    FAILED = "failed"


class Risk(StrEnum):
    """How much care a proposal asks for; high ones are never decided in bulk."""

    LOW = "low"
    NORMAL = "normal"
    HIGH = "high"


class Verdict(StrEnum):
    """What a person decided: one step of a proposal's history."""

    APPROVED = "approved"
    REJECTED = "rejected"
    CHANGES_REQUESTED = "changes_requested"
    REOPENED = "reopened"
    REVERTED = "reverted"


class StepKind(StrEnum):
    """What else happens to a proposal, beside decisions."""

    REVISED = "revised"
    WITHDRAWN = "withdrawn"
    EXPIRED = "expired"
    CLAIMED = "claimed"
    RELEASED = "released"
    SNOOZED = "snoozed"
    WOKEN = "woken"
    COMMENT = "comment"
    RECOMMENDATION = "recommendation"
