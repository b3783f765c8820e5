"""What is given and answered about policies."""

from __future__ import annotations

from datetime import datetime
from typing import Any, Self
from uuid import UUID

from pydantic import Field, model_validator

from governance.contracts.base import Reason
from kernel.context import ActorKind, Door
from kernel.contracts import Contract, KeyedInput, KeyedResult
from scopes.contracts import DomainId, ScopePattern


class PolicyInput(Contract):
    """Whose policy to show."""

    domain_id: DomainId | None = Field(default=None, description="The domain; left out: the whole installation.")


class SetPolicyInput(KeyedInput):
    """A new policy version; it replaces the version before and lies over the defaults and `brain.yml`."""

    domain_id: DomainId | None = Field(default=None, description="The domain; left out: the whole installation.")
    document: dict[str, Any] = Field(description="`{section: {field: value}}`; only what differs.")
    reason: Reason


class PolicyResult(KeyedResult):
    """The policy in force."""

    domain_id: str | None = Field(description="The domain; null for the whole installation.")
    version: str = Field(description="Names the file and versions that were laid over each other.")
    document: dict[str, Any] = Field(description="Every section with every field.")


class WhatIf(Contract):
    """A call that nobody made: who would do what, and where."""

    name: str = Field(min_length=1, max_length=150, description="Name of the principal, or user name of the person.")
    kind: ActorKind = Field(default=ActorKind.AGENT, description="`agent` or `person`.")
    action: str = Field(min_length=1, max_length=80, description="Name of the action.")
    domain_id: DomainId | None = Field(default=None, description="The domain; left out: the whole installation.")
    scope: ScopePattern = Field(default="*", description="The scope, `type:id`, or `*` for the whole domain.")
    target_scope: ScopePattern | None = Field(
        default=None,
        description="For a call that leads elsewhere, such as `promote_to_scope` or `narrow_item`: where to. `scope` is then "
        "where it starts, and a promotion is decided in this one. For a decision on a conflict the side that would go; both "
        "sides need the right. Left out: as if both were the same.",
    )
    door: Door = Field(default=Door.HTTP, description="Door of the call.")


class ExplainPolicyInput(Contract):
    """A decision to explain: one that was made, or one that would be made. Send exactly one of the three."""

    audit_entry_id: UUID | None = Field(default=None, description="A call that is in the audit log.")
    proposal_id: UUID | None = Field(default=None, description="A proposal: why does it wait?")
    what_if: WhatIf | None = Field(default=None, description="A call that nobody made.")

    @model_validator(mode="after")
    def _one(self) -> Self:
        if sum(each is not None for each in (self.audit_entry_id, self.proposal_id, self.what_if)) != 1:
            raise ValueError("send exactly one of audit_entry_id, proposal_id and what_if")
        return self


class DecisionNow(Contract):
    """What the policy in force makes of the same facts."""

    verdict: str = Field(description="`allow`, `queue` or `deny`.")
    rule: str = Field(description="Rule that decides.")
    policy_version: str = Field(description="Policy version in force.")
    differs: bool = Field(description="Whether the verdict is another one than was recorded.")


class PartDecision(Contract):
    """What becomes of the parts of a call that are judged by themselves."""

    action: str = Field(description="Action as which they are judged, such as `write_memory_item` in `commit_turn`.")
    verdict: str = Field(description="`allow`, `queue` or `deny`.")
    rule: str = Field(description="Rule that decides.")


class ExplainPolicyResult(Contract):
    """A decision, the rule and version that made it, and why in words."""

    verdict: str | None = Field(
        description="`allow`, `queue` or `deny`; null where the call never came to a decision, as with unreadable input."
    )
    rule: str = Field(description="Rule that decided.")
    policy_version: str = Field(description="Policy version that it was decided by.")
    code: str = Field(description="Error code of a refused call; empty otherwise.")
    message: str = Field(description="What the caller was told, or would be; empty where the call is allowed.")
    words: list[str] = Field(description="Why, sentence by sentence.")
    facts: dict[str, Any] = Field(description="What the decision rests on.")
    now: DecisionNow | None = Field(default=None, description="For a recorded call: what would be decided now.")
    parts: list[PartDecision] = Field(
        default=[],
        description="For an imagined call that is allowed: what would be decided on its parts there, which may wait by "
        "themselves while the rest is done.",
    )


class ReplayPolicyInput(Contract):
    """A draft policy to try on what was decided before. Nothing is stored and no call is repeated."""

    domain_id: DomainId | None = Field(default=None, description="The domain; left out: the whole installation.")
    document: dict[str, Any] = Field(description="As for `set_policy`: it would replace the version before.")
    days: int = Field(default=30, ge=1, le=30, description="How far back to look, 1 to 30 days.")
    limit: int = Field(default=50_000, ge=1, le=50_000, description="Newest calls to look at, at most.")


class ReplayExample(Contract):
    """A call that would be decided otherwise."""

    audit_entry_id: UUID = Field(description="Its audit entry.")
    at: datetime = Field(description="When it was made.")
    actor: str = Field(description="Who made it.")
    domain_id: str | None = Field(description="Domain; null for the installation.")
    scope: str = Field(description="Scope, `type:id` or `*`.")


class ReplayLine(Contract):
    """A kind of call that the draft would decide otherwise."""

    action: str = Field(description="Action called.")
    verdict: str = Field(description="What the policy in force decides: `allow`, `queue` or `deny`.")
    rule: str = Field(description="By which rule.")
    new_verdict: str = Field(description="What the draft would decide.")
    new_rule: str = Field(description="By which rule.")
    count: int = Field(description="How many calls.")
    examples: list[ReplayExample] = Field(description="The newest of them, three at most.")


class ReplayPolicyResult(Contract):
    """What a draft policy would decide otherwise than the policy in force."""

    since: datetime = Field(description="Calls since then were looked at.")
    looked_at: int = Field(description="Audit entries looked at, as far as you may see them.")
    decided: int = Field(description="Of them, entries of calls that came to a decision.")
    otherwise: int = Field(
        description="Of them, calls that the draft would decide otherwise than the policy in force, or a part of which."
    )
    complete: bool = Field(
        description="False where more calls were made than `limit`: only the newest were looked at."
    )
    lines: list[ReplayLine] = Field(description="Kinds of call that it would decide otherwise, most frequent first.")
