"""The policy sections of composing: what is retrieved, and how much of it is shown."""

from __future__ import annotations

from typing import ClassVar, Literal

from pydantic import Field

from governance.hooks import PolicySection, register_policy_section
from kernel.contracts import Contract


class ExpansionPolicy(Contract):
    """Widened queries."""

    enabled: bool = Field(default=True, description="Whether the message is also asked in shorter forms.")
    max_queries: int = Field(default=8, ge=1, le=20, description="Queries of a plan, the message included.")


@register_policy_section
class RetrievalPolicy(PolicySection):
    """What is retrieved for a message."""

    section: ClassVar[str] = "retrieval"

    enable_resource_retrieval: Literal["auto"] | bool = Field(
        default="auto", description="Ask the document store: `auto` (where the message calls for it), true or false."
    )
    top_k: int = Field(default=30, ge=1, le=100, description="Results of a plan.")
    candidate_k: int = Field(default=200, ge=1, le=1000, description="Candidates of a plan.")
    query_expansion: ExpansionPolicy = Field(default=ExpansionPolicy(), description="Widened queries.")
    scope_filter: Literal["closed", "warn"] = Field(
        default="closed",
        description="Where the document store cannot filter by scope: `closed` takes no evidence from it, "
        "`warn` takes it with a warning.",
    )


class DiversityPolicy(Contract):
    """Caps on a shared origin."""

    by_document: int = Field(default=3, ge=1, le=100, description="Evidence of one document.")
    by_source_uri: int = Field(default=2, ge=1, le=100, description="Evidence of one source URI.")
    by_lineage: int = Field(default=2, ge=1, le=100, description="Evidence of one line of copies and versions.")
    memory_resource_ratio: str = Field(
        default="40/60",
        pattern=r"^\d{1,3}/\d{1,3}$",
        description="Share of memory and of documents; what one leaves free the other takes. `0/0` means 40/60.",
    )


@register_policy_section
class CompositionPolicy(PolicySection):
    """How much is shown to the model."""

    section: ClassVar[str] = "composition"

    token_limit: int = Field(default=8192, ge=100, le=2_000_000, description="Tokens of a package, by our estimate.")
    system_blocks_max_tokens: int = Field(default=800, ge=0, le=1_000_000, description="Tokens of the system blocks.")
    summary_max_tokens: int = Field(default=600, ge=0, le=1_000_000, description="Tokens of the working summary.")
    recent_turns_max: int = Field(default=8, ge=0, le=1000, description="Recent turns, the newest ones.")
    evidence_max_items: int = Field(default=12, ge=0, le=200, description="Evidence, memory and documents together.")
    max_snippet_chars: int = Field(default=800, ge=20, le=20_000, description="Characters of a snippet.")
    diversity: DiversityPolicy = Field(default=DiversityPolicy(), description="Caps on a shared origin.")
