"""How memory is doing in one domain."""

from __future__ import annotations

from datetime import datetime
from uuid import UUID

from pydantic import Field

from governance.contracts.health import DiagnosticsPart
from kernel.contracts import Contract
from scopes.contracts import LEGACY_DOMAIN, DomainId


class DiagnosticsInput(Contract):
    """Which domain, and how many log lines."""

    domain_id: DomainId = Field(default=LEGACY_DOMAIN, description="The isolation domain; `legacy` where left out.")
    limit: int = Field(default=20, ge=1, le=100, description="Lines of each log, 1 to 100.")


class ComposeLog(Contract):
    """One composed context."""

    context_id: UUID = Field(description="Context.")
    session_id: str | None = Field(description="Conversation.")
    request_id: UUID = Field(description="Request.")
    plan_id: str = Field(description="Retrieval from documents.")
    selected_evidence: int = Field(description="Evidence in the context.")
    ignored_fields: list[str] = Field(description="Parts of the plan without effect.")
    token_used: int = Field(description="Tokens, by estimate.")
    token_limit: int = Field(description="Limit.")
    took_ms: float = Field(description="Milliseconds.")
    at: datetime = Field(description="When.")


class CommitLog(Contract):
    """One committed turn."""

    commit_id: UUID = Field(description="Commit.")
    session_id: str = Field(description="Conversation.")
    turn_id: UUID = Field(description="Turn.")
    memory_items: int = Field(description="Items that it stored.")
    conflicts: int = Field(description="Items that it replaced or retracted.")
    summary_triggered: bool = Field(description="Whether it made a summary.")
    at: datetime = Field(description="When.")


class Metrics(Contract):
    """Figures over the newest 1,000 contexts of the domain."""

    compose_p95_ms: float = Field(description="95th percentile of composing, milliseconds; 0 where there is none.")
    memory_resource_ratio: str = Field(description="Selected memories and documents, `m/r`.")
    token_over_budget_rate: float = Field(description="Share of contexts over their limit, to three places.")


class Counters(Contract):
    """Counts since the beginning of what is kept."""

    writes_by_scope_type: dict[str, int] = Field(description="Items stored in each type of scope.")
    recalls_by_scope_type: dict[str, int] = Field(description="Evidence shown from each type of scope.")
    shadowed: int = Field(description="Rows that gave way to another of the same key.")
    conflicts: int = Field(description="Items replaced or retracted.")
    promotions: int = Field(description="Items promoted from another scope.")
    validation_failures: int = Field(description="Calls refused for their input, or for what they named.")
    scope_filter_failures: int = Field(description="Contexts whose document store could not filter by scope.")


class DiagnosticsResult(Contract):
    """How memory is doing in the domain."""

    domain_id: str = Field(description="The domain.")
    compose_logs: list[ComposeLog] = Field(description="Newest contexts.")
    commit_logs: list[CommitLog] = Field(description="Newest turns.")
    metrics: Metrics = Field(description="Figures.")
    counters: Counters = Field(description="Counts.")
    turns: int = Field(description="Turns stored.")
    index_entries: int = Field(description="Entries of the search index.")
    stale_index_entries: int = Field(
        description="Of those, made by an earlier tokeniser: `rebuild_index` brings them up to date."
    )
    parts: list[DiagnosticsPart] = Field(
        description="Figures of the rest of the product over the whole domain: `media` counts documents, sections, those "
        "that no search finds (`lost_sections`), stored bytes, and jobs by their status and those stuck."
    )
