"""EvidencePack: what a document store found, how, and what it could not do."""

from __future__ import annotations

from typing import Literal
from uuid import UUID

from pydantic import Field, JsonValue

from kernel.contracts import Instant
from media.contracts.retrieval.lenient import Id, Lenient, Many
from media.contracts.retrieval.plan import QueryMode, RetrievalPlan
from scopes.contracts import ScopeRef

NO_SCORE = 0.4  # of a result whose store gives no score at all


class PackSignals(Lenient):
    """What the score is made of; at least one of the first three is expected."""

    rrf_score: float | None = Field(default=None, description="Reciprocal rank fusion.")
    vector_score: float | None = Field(default=None, description="Similarity of vectors.")
    fts_score: float | None = Field(default=None, description="Full-text score.")
    rerank_score: float | None = Field(default=None, description="Score of a reranker.")
    vector_rank: int | None = Field(default=None, description="Place in the vector list.")
    fts_rank: int | None = Field(default=None, description="Place in the full-text list.")
    tag_score: float | None = Field(default=None, description="Agreement of tags.")
    topic_score: float | None = Field(default=None, description="Agreement of topics.")
    recency_score: float | None = Field(default=None, description="Freshness.")


class PackProvenance(Lenient):
    """Which query found it."""

    mode: QueryMode = Field(description="How it was matched.")
    query_text: str = Field(default="", description="Query that found it.")
    query_index: int | None = Field(default=None, description="Its place in the plan.")
    retrieved_at: Instant | None = Field(default=None, description="When.")


class PackMetadata(Lenient):
    """Where in the document."""

    chunk_index: int | None = Field(default=None, description="Chunk.")
    offset_start: int | None = Field(default=None, description="First character.")
    offset_end: int | None = Field(default=None, description="Character after the last.")
    page: int | None = Field(default=None, description="Page on which the snippet's words stand, from 1.")
    section_title: str | None = Field(default=None, description="Heading.")
    media_type: str | None = Field(default=None, description="`document`, `image`, `audio` or `video`.")
    media: dict[str, JsonValue] | None = Field(default=None, description="Media facts, passed through.")
    semantic: dict[str, JsonValue] | None = Field(default=None, description="Semantic facts, passed through.")
    start_ms: int | None = Field(default=None, description="Start in the recording.")
    end_ms: int | None = Field(default=None, description="End in the recording.")
    frame_timestamp_ms: int | None = Field(default=None, description="Time of the frame.")
    extraction_kind: str | None = Field(default=None, description="How the text was made.")
    speaker: str | None = Field(default=None, description="Who speaks.")


class PackRaw(Lenient):
    """Reference to the full content; only if asked for."""

    content_ref: str | None = Field(default=None, description="Where the content is.")
    content_hash: str | None = Field(default=None, description="Its hash.")
    debug_payload: JsonValue = Field(default=None, description="Anything more.")


class PackEvidence(Lenient):
    """One found text."""

    id: Id = Field(min_length=1, max_length=300, description="Stable id, such as `section:<id>`.")
    kind: Literal["resource_section", "resource_doc", "memory_chunk", "other"] = Field(
        default="other", description="What it is."
    )
    document_id: Id | None = Field(default=None, max_length=300, description="Document.")
    section_id: Id | None = Field(default=None, max_length=300, description="Section.")
    title: str = Field(default="", description="Title.")
    source_uri: str = Field(max_length=4000, description="Where it comes from.")
    source_type: str = Field(default="other", max_length=40, description="`url`, `file`, `manual`, `memory_snapshot`.")
    language: str | None = Field(default=None, max_length=40, description="Language.")
    snippet: str = Field(description="The text, cut to `max_snippet_chars`; empty if snippets are off.")
    snippet_policy: str = Field(default="", max_length=40, description="How it was cut.")
    score: float | None = Field(default=None, description="The store's own final score, where it has one.")
    signals: PackSignals = Field(default=PackSignals(), description="What the score is made of.")
    provenance: PackProvenance = Field(description="Which query found it.")
    metadata: PackMetadata = Field(default=PackMetadata(), description="Where in the document.")
    raw: PackRaw | None = Field(default=None, description="Reference to the full content.")
    scope: ScopeRef | None = Field(default=None, description="Scope through which it may be seen, where it is known.")
    event_time: Instant | None = Field(default=None, description="When it happened or was published.")


class ModeStats(Lenient):
    """Counts of one mode."""

    candidates: int = Field(default=0, ge=0, description="Texts ranked.")
    returned: int = Field(default=0, ge=0, description="Texts returned.")


class PackStats(Lenient):
    """Counts and time."""

    candidates: int = Field(default=0, ge=0, description="Texts ranked.")
    returned: int = Field(default=0, ge=0, description="Texts returned.")
    took_ms: float = Field(default=0.0, ge=0, description="Milliseconds, measured by the one who asked.")
    by_mode: dict[str, ModeStats] = Field(default={}, description="Counts of each mode.")


class PackDiversity(Lenient):
    """Caps that were in force."""

    by_document: int | None = Field(default=None, description="Results of one document.")
    by_source: int | None = Field(default=None, description="Results of one source.")
    by_section: int | None = Field(default=None, description="Results of one section.")
    applied: bool = Field(default=False, description="Whether a result was left out for it.")


class PackExplain(Lenient):
    """What was really done."""

    fusion: dict[str, JsonValue] = Field(default={}, description="`method`, `rrf_k`, `weights`.")
    rerank: dict[str, JsonValue] = Field(default={}, description="`enabled`, `model`, `top_n`.")
    filters_applied: dict[str, JsonValue] = Field(
        default={}, description="Filters that were really applied; `scopes` lists scopes as `type:id`."
    )
    diversity: PackDiversity = Field(default=PackDiversity(), description="Caps that were in force.")
    ignored_fields: Many = Field(default=[], description="Parts of the plan that had no effect.")


class EvidencePack(Lenient):
    """An answer of version 0.1 to a plan; without evidence it says why in `warnings`."""

    version: str = Field(pattern=r"^0\.\d{1,3}$", description="Version of the protocol.")
    plan: RetrievalPlan | None = Field(default=None, description="The plan as it was carried out.")
    plan_id: Id = Field(min_length=1, max_length=200, description="The store's name of this retrieval.")
    request_id: UUID = Field(description="`request_id` of the plan.")
    generated_at: Instant = Field(description="When.")
    evidences: list[PackEvidence] = Field(description="Found texts, best first.")
    stats: PackStats = Field(default=PackStats(), description="Counts and time.")
    explain: PackExplain = Field(default=PackExplain(), description="What was really done.")
    warnings: Many = Field(default=[], description="What went wrong or was left out.")
    supports_language_filter: bool = Field(default=False, description="Whether language filters are applied.")
    supports_scope_filter: bool = Field(default=False, description="Whether scope filters are applied.")


def resource_score(evidence: PackEvidence) -> tuple[str, float]:
    """The score to rank by and the name of its scale: own score, reranker, RRF, else a middle value on `unit`."""
    signals = evidence.signals
    for scale, value in (
        ("score", evidence.score),
        ("rerank_score", signals.rerank_score),
        ("rrf_score", signals.rrf_score),
    ):
        if value is not None:
            return scale, value
    return "unit", NO_SCORE
