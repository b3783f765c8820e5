"""Governance's own parts of the policy document."""

from __future__ import annotations

from typing import ClassVar

from pydantic import Field

from governance.hooks import PolicySection, register_policy_section
from kernel.context import ActorKind
from kernel.contracts import Contract
from scopes.contracts import SCOPE_TYPES, ScopePattern


@register_policy_section
class ScopesPolicy(PolicySection):
    """Which scopes a domain knows."""

    section: ClassVar[str] = "scopes"

    allowed_types: list[str] = Field(
        default=list(SCOPE_TYPES), min_length=1, description="Scope types that calls may name."
    )
    conflict_priority: list[str] = Field(
        default=["task", "project", "expert", "global", "session"],
        description="Whose row of a key counts when several scopes hold one, the first named first.",
    )
    max_items_per_scope: int = Field(default=10, ge=1, le=100, description="Evidence of one scope in a context.")
    require_explicit_elevated_write: bool = Field(
        default=True,
        description="True: project, expert and global scopes are written only where a call names them, as an item's "
        "`scope_ref` or as `default_write`. False: a call without `default_write` writes to the first scope of `write`.",
    )


class QueueRule(Contract):
    """Calls that wait for a person: all fields must match; a `*` in an action name stands for any letters."""

    name: str = Field(
        min_length=1, max_length=80, description="Name by which the audit log and screens call the rule."
    )
    actions: list[str] = Field(min_length=1, description="Action names, such as `commit_turn` or `*`.")
    scope_types: list[str] = Field(default=[], description="Scope types written to; empty: any.")
    actor_kinds: list[ActorKind] = Field(default=[ActorKind.AGENT], description="Who has to wait.")


class AllowRule(Contract):
    """Calls that need not wait although a rule of `queue` matches: all fields must match."""

    name: str = Field(min_length=1, max_length=80, description="Name by which the audit log calls the rule.")
    actions: list[str] = Field(min_length=1, description="Action names; a `*` stands for any letters.")
    scopes: list[ScopePattern] = Field(
        default=["*"], min_length=1, description="`type:id`, `type:*` or `*`: every scope of the call must be named."
    )
    actors: list[str] = Field(min_length=1, description="Names of the principals that need not wait.")


class CareRule(Contract):
    """Calls that ask for more care: all fields must match; a `*` in an action name stands for any letters."""

    name: str = Field(min_length=1, max_length=80, description="Name by which screens call the rule.")
    actions: list[str] = Field(min_length=1, description="Action names, such as `set_policy` or `*`.")
    scope_types: list[str] = Field(default=[], description="Scope types written to; empty: any.")


@register_policy_section
class ReviewPolicy(PolicySection):
    """What waits for a person before it takes effect, and how people decide."""

    section: ClassVar[str] = "review"

    queue: list[QueueRule] = Field(default=[], description="Rules in order; the first that matches queues the call.")
    allow: list[AllowRule] = Field(default=[], description="Exceptions from `queue` for named agents.")
    two_person: list[CareRule] = Field(
        default=[],
        description="What two persons stand for: two approve it, or one beside a proposer who could decide on it. A person's own "
        "call waits for that other person; an agent's where a rule of `queue` holds it.",
    )
    high_risk: list[CareRule] = Field(default=[], description="What is of high risk beside what always is.")
    claim_minutes: int = Field(default=10, ge=1, le=1440, description="Minutes for which a claim lasts.")
    bulk_cap: int = Field(
        default=50,
        ge=1,
        le=500,
        description="Proposals decided in one bulk call; of several domains that it touches the smallest counts.",
    )
    daily_cap: int = Field(
        default=0,
        ge=0,
        le=100_000,
        description="Decisions of one person in a day (UTC), wherever made and also if undone since, after which a further "
        "one in the domain is refused; 0: no limit.",
    )
    undo_minutes: int = Field(
        default=10, ge=0, le=1440, description="Minutes in which one undoes an own decision without giving a reason."
    )
    revert_days: int = Field(default=30, ge=0, le=3650, description="Days in which a decision or change is reverted.")
    expire_days: int = Field(
        default=90, ge=0, le=3650, description="Days after which a proposal that nobody touched expires; 0: never."
    )
    burst_per_hour: int = Field(
        default=20, ge=1, le=100_000, description="Proposals of one source in an hour that count as a burst."
    )
    blind_sample: float = Field(
        default=0, ge=0, le=1, description="Share of the decided proposals that a second reviewer looks at blindly."
    )
    canned_reasons: dict[ScopePattern, list[str]] = Field(
        default={}, description="Reasons to choose from, by scope pattern; nine at most are shown."
    )
    guidelines: dict[ScopePattern, str] = Field(default={}, description="What reviewers go by, by scope pattern.")
