"""Governance's own parts of the policy document."""

from __future__ import annotations

from typing import ClassVar

from pydantic import Field

from governance.hooks import PolicySection, register_policy_section
from kernel.context import ActorKind
from kernel.contracts import Contract
from scopes.contracts import SCOPE_TYPES


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


class QueueRule(Contract):
    """Calls that wait for a person: all fields must match; a `*` in an action name stands for any letters."""

    name: str = Field(
        min_length=1, max_length=80, description="Name by which the audit log and screens call the rule."
    )
    actions: list[str] = Field(min_length=1, description="Action names, such as `commit_turn` or `*`.")
    scope_types: list[str] = Field(default=[], description="Scope types written to; empty: any.")
    actor_kinds: list[ActorKind] = Field(default=[ActorKind.AGENT], description="Who has to wait.")


@register_policy_section
class ReviewPolicy(PolicySection):
    """What waits for a person before it takes effect."""

    section: ClassVar[str] = "review"

    queue: list[QueueRule] = Field(default=[], description="Rules in order; the first that matches queues the call.")
