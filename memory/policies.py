"""Memory's own part of the policy document: what is kept, how sure it is, and for how long contexts are recorded."""

from __future__ import annotations

from typing import ClassVar

from pydantic import Field

from governance.hooks import PolicySection, register_policy_section
from kernel.contracts import Contract


class EntityGate(Contract):
    """When an entity that nobody asked to remember is kept all the same (behavioural specification 2.4)."""

    window_turns: int = Field(default=20, ge=1, le=1000, description="Turns looked back on, this one included.")
    freq_threshold: int = Field(default=2, ge=1, le=100, description="Mentions within the window.")


class ConfidenceLevels(Contract):
    """How sure an item is by where it comes from, 0 to 1."""

    user_asserted: float = Field(default=0.8, ge=0, le=1, description="Said by the user.")
    tool_derived: float = Field(default=0.9, ge=0, le=1, description="From a tool or structured output.")
    inferred: float = Field(default=0.6, ge=0, le=1, description="Concluded by a model.")


@register_policy_section
class RetentionPolicy(PolicySection):
    """What a commit keeps."""

    section: ClassVar[str] = "retention"

    summarize_after_turns: int = Field(default=12, ge=1, le=1000, description="Turns after which a summary is made.")
    entity_gate: EntityGate = Field(default=EntityGate(), description="Gate for entities.")
    confidence: ConfidenceLevels = Field(default=ConfidenceLevels(), description="Confidence by source.")
    extract_text: bool = Field(default=True, description="Learn from the text of messages by rules.")
    extract_with_model: bool = Field(
        default=True,
        description="Learn from the text of messages with the configured language model, if there is one.",
    )
    context_days: int = Field(default=30, ge=1, le=3650, description="Days for which composed contexts are kept.")
