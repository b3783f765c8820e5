"""RetrievalPlan: what to look for, where, how much of it, and why."""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum
from typing import Annotated, Any, Literal
from uuid import UUID

from pydantic import Field, JsonValue, model_validator

from kernel.contracts import Since, Until
from media.contracts.retrieval.lenient import Lenient, Many, survey
from scopes.contracts import ScopeContext


class Purpose(StrEnum):
    """What the answer is for."""

    QA = "qa"
    CONTINUE_TASK = "continue_task"
    DEBUG = "debug"
    SUMMARIZE = "summarize"
    RESEARCH = "research"
    OTHER = "other"


class QueryMode(StrEnum):
    """How a query is to be matched."""

    EXACT = "exact"
    SEMANTIC = "semantic"
    HYBRID = "hybrid"
    RELATIONAL = "relational"
    ASSOCIATIVE = "associative"


class TieBreaker(StrEnum):
    """What decides between equal scores."""

    RECENCY = "recency"
    SOURCE_PRIORITY = "source_priority"
    NONE = "none"


class PlanTimeRange(Lenient):
    """From an instant (included) to an instant (not included). A plain date such as 2026-12-01 is the whole day in UTC."""

    from_: Since | None = Field(default=None, alias="from", description="At or after; a date: from its beginning.")
    to: Until | None = Field(default=None, description="Before; a date: to its end.")


class GlobalFilters(Lenient):
    """Filters of every query; a query's own filter of the same name counts instead; an empty one is none."""

    document_ids: Many = Field(default=[], description="Only these documents.")
    tag_ids: Many = Field(default=[], description="Only texts with one of these tags.")
    topic_ids: Many = Field(default=[], description="Only texts of one of these topics.")
    source_type: Many = Field(default=[], description="`url`, `file`, `manual`, `memory_snapshot`, `other`.")
    source_uri_prefix: Many = Field(default=[], description="Only sources whose URI starts with one of these.")
    language: Many = Field(default=[], description="ISO 639-1 codes, such as `zh` and `en`.")
    media_type: Many = Field(default=[], description="`document`, `image`, `audio`, `video`; one or several.")
    time_range: PlanTimeRange | None = Field(default=None, description="Only what happened in this time.")


class PlanQuery(Lenient):
    """One question to the stores."""

    text: str = Field(
        min_length=1,
        max_length=4000,
        pattern=r"\S",
        description="What to look for. Texts must hold what stands in double quotes; AND, OR and NOT in capitals join.",
    )
    mode: QueryMode = Field(default=QueryMode.HYBRID, description="How to match it.")
    weight: float = Field(default=1.0, gt=0, le=10, description="Weight in fusion; zero or less counts as 1.0.")
    filters: GlobalFilters = Field(default=GlobalFilters(), description="Filters of this query only.")
    hints: dict[str, JsonValue] = Field(
        default={},
        description="`expanded: true` on widened queries; `entities` names what the question is about; `weak: true` "
        "asks for doubtful matches too.",
    )


_ModeLimit = Annotated[int, Field(ge=1, le=200)]


class PerModeK(Lenient):
    """How many candidates each mode may bring."""

    exact: _ModeLimit = Field(default=10, ge=1, le=200, description="Exact matches.")
    semantic: _ModeLimit = Field(default=10, ge=1, le=200, description="Semantic matches.")
    hybrid: int | None = Field(default=None, ge=1, le=200, description="Hybrid matches; left out, `top_k`.")
    relational: _ModeLimit = Field(default=10, ge=1, le=200, description="Matches over entities and references.")
    associative: _ModeLimit = Field(default=8, ge=1, le=200, description="Matches of widened queries.")


class PlanDiversity(Lenient):
    """How many results may share an origin."""

    by_document: int = Field(default=3, ge=1, le=100, description="Results of one document.")
    by_source: int = Field(default=2, ge=1, le=100, description="Results of one source URI.")
    by_section: int = Field(default=1, ge=1, le=100, description="Results of one section.")


class PlanBudget(Lenient):
    """How much to fetch and to return. Numbers outside their bounds are clamped and named in `debug.clamped`."""

    top_k: int = Field(default=30, ge=1, le=100, description="Results to return, 1 to 100.")
    candidate_k: int = Field(default=200, ge=1, le=1000, description="Candidates to rank, 1 to 1000.")
    per_mode_k: PerModeK = Field(default=PerModeK(), description="Candidates of each mode.")
    diversity: PlanDiversity = Field(default=PlanDiversity(), description="Caps on a shared origin.")


class PlanFusion(Lenient):
    """How lists become one."""

    method: Literal["rrf", "weighted_sum", "none"] = Field(
        default="rrf",
        description="`rrf` adds up places, `weighted_sum` scores brought to 0..1, `none` takes the best single score.",
    )
    rrf_k: int = Field(default=60, ge=1, le=1000, description="Constant of reciprocal rank fusion.")
    weights: dict[str, float] = Field(default={}, description="Weight of each arm, such as `fts` and `vector`.")


class PlanRerank(Lenient):
    """Whether a model orders the best results again."""

    enabled: bool = Field(default=False, description="Whether to rerank.")
    model: str | None = Field(default=None, max_length=200, description="Name of the model.")
    top_n: int = Field(default=30, ge=1, le=200, description="How many results it sees.")


class PlanRanking(Lenient):
    """How results are ordered."""

    fusion: PlanFusion = Field(default=PlanFusion(), description="Fusion.")
    rerank: PlanRerank = Field(default=PlanRerank(), description="Reranking.")
    tie_breaker: TieBreaker = Field(default=TieBreaker.RECENCY, description="What decides between equal scores.")
    source_priority: dict[str, float] = Field(
        default={"file": 1.0, "url": 0.9, "manual": 0.8, "memory_snapshot": 0.7},
        description="Priority of each source type, for the tie-breaker `source_priority`.",
    )


class PlanOutput(Lenient):
    """What each result shall hold."""

    include_snippets: bool = Field(default=True, description="Text of the results.")
    snippet_policy: str = Field(
        default="auto", max_length=40, description="How the text is cut: `auto` around the words, `head` at the start."
    )
    include_signals: bool = Field(default=True, description="What the score is made of.")
    include_provenance: bool = Field(default=True, description="Where it comes from.")
    include_raw: bool = Field(default=False, description="Reference to the full content.")
    max_snippet_chars: int = Field(default=800, ge=1, le=20_000, description="Characters of a snippet.")


class ResourceDecision(Lenient):
    """Whether documents are asked too, and the true reason."""

    enabled: bool = Field(default=False, description="Whether documents are asked.")
    reason: str = Field(default="", max_length=500, description="Why, or why not.")


class Caller(Lenient):
    """Who asks."""

    app: str = Field(default="smart_brain", max_length=200, description="Application.")
    domain_id: str | None = Field(default=None, max_length=64, description="Domain of the request.")
    session_id: str | None = Field(default=None, max_length=200, description="Conversation.")


class PlanDebug(Lenient):
    """How the plan came about."""

    trace: bool = Field(default=True, description="Whether to keep a trace.")
    notes: list[str] = Field(default=[], description="What the planner noticed.")
    caller: Caller = Field(default=Caller(), description="Who asks.")
    recent_turns_count: int = Field(default=0, ge=0, le=1_000_000, description="Recent messages that were looked at.")
    agent_state: dict[str, JsonValue] = Field(default={}, description="The agent's own state, any JSON.")
    ignored_fields: list[str] = Field(default=[], description="Parts of the plan that have no effect.")
    clamped: list[str] = Field(
        default=[], description="Numbers that were brought into their bounds, as `path: a -> b`."
    )


class RetrievalPlan(Lenient):
    """A plan of version 0.1. Unknown fields are ignored and named; numbers out of bounds are clamped and named."""

    version: str = Field(pattern=r"^0\.\d{1,3}$", description="Version of the protocol: 0.1.")
    request_id: UUID = Field(description="UUID made by the caller.")
    purpose: Purpose = Field(description="What the answer is for.")
    queries: list[PlanQuery] = Field(min_length=1, max_length=50, description="Questions, the most important first.")
    global_filters: GlobalFilters = Field(default=GlobalFilters(), description="Filters of every query.")
    filters: GlobalFilters = Field(
        default=GlobalFilters(), description="The same under its short name; of one given in both, this one counts."
    )
    budget: PlanBudget = Field(description="How much to fetch and to return.")
    ranking: PlanRanking = Field(default=PlanRanking(), description="How results are ordered.")
    output: PlanOutput = Field(default=PlanOutput(), description="What each result shall hold.")
    resource_retrieval: ResourceDecision = Field(
        default=ResourceDecision(), description="Whether documents are asked."
    )
    debug: PlanDebug = Field(default=PlanDebug(), description="How the plan came about.")
    scope_context: ScopeContext | None = Field(default=None, description="Scopes that may be read and written.")

    @model_validator(mode="before")
    @classmethod
    def _declare(cls, value: Any) -> Any:
        if not isinstance(value, Mapping):
            return value
        tree, ignored, clamped = survey(cls, value)
        debug = tree.get("debug", {})
        if isinstance(debug, Mapping) and (ignored or clamped):
            tree["debug"] = {
                **debug,
                "ignored_fields": [*_listed(debug, "ignored_fields"), *ignored],
                "clamped": [*_listed(debug, "clamped"), *clamped],
            }
        return tree


def _listed(debug: Mapping[str, Any], name: str) -> list[Any]:
    found = debug.get(name, [])
    return found if isinstance(found, list) else [found]
