"""The answer to a plan: what was found as evidence, and the account of how."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from pydantic import JsonValue

from kernel.context import Ctx
from kernel.ids import new_id
from media.contracts.retrieval import (
    EvidencePack,
    GlobalFilters,
    ModeStats,
    PackDiversity,
    PackEvidence,
    PackExplain,
    PackMetadata,
    PackProvenance,
    PackRaw,
    PackSignals,
    PackStats,
    PlanOutput,
    QueryMode,
    RetrievalPlan,
)
from media.pages import page_of
from media.selectors.retrieving import Reading, SectionSeen
from media.services.retrieving.filtering import applied
from media.services.retrieving.snippets import window
from scopes.contracts import ScopeRef
from search.contracts import Hit

RRF = "rrf"
WEIGHED = frozenset({"fts", *QueryMode})
"""What a weight of fusion can be given to: the one arm that there is, and the modes."""

_PLACE = ("offset_start", "offset_end", "start_ms", "end_ms", "frame_timestamp_ms")
_WORDS = ("extraction_kind", "speaker")


@dataclass(frozen=True, slots=True)
class Result:
    """A section with its score, and the hit, place and query that brought most of it."""

    section: SectionSeen
    score: float
    hit: Hit
    place: int
    query_index: int
    mode: QueryMode
    query_text: str

    @property
    def source_uri(self) -> str:
        """Where the document comes from; what has no address is named by its id."""
        return self.section.source_uri or f"smartbrain://document/{self.section.document_id}"


@dataclass(frozen=True, slots=True)
class Outcome:
    """All that came of a plan: the candidates in order, those of them that are shown, and what there is to say."""

    ranked: Sequence[Result]
    results: Sequence[Result]
    diversified: bool
    asked: Mapping[int, GlobalFilters]
    ignored: Sequence[str]
    warnings: Sequence[str]
    candidates: Mapping[str, int]
    took_ms: float


def pack(plan: RetrievalPlan, reading: Reading, outcome: Outcome, ctx: Ctx) -> EvidencePack:
    """The pack for the outcome of a plan."""
    fusion, caps = plan.ranking.fusion, plan.budget.diversity
    returned = Counter(str(result.mode) for result in outcome.results)
    return EvidencePack(
        version=plan.version,
        plan=plan,
        plan_id=str(new_id()),
        request_id=plan.request_id,
        generated_at=ctx.now,
        evidences=[_evidence(result, plan, reading, ctx) for result in outcome.results],
        stats=PackStats(
            candidates=len(outcome.ranked),
            returned=len(outcome.results),
            took_ms=outcome.took_ms,
            by_mode={
                mode: ModeStats(candidates=count, returned=returned[mode])
                for mode, count in sorted(outcome.candidates.items())
            },
        ),
        explain=PackExplain(
            fusion={"method": fusion.method, "rrf_k": fusion.rrf_k, "weights": dict(_weights(plan)), "arms": ["fts"]},
            rerank={"enabled": False, "model": None, "top_n": 0},
            filters_applied=applied(reading, plan, outcome.asked),
            diversity=PackDiversity(
                by_document=caps.by_document,
                by_source=caps.by_source,
                by_section=caps.by_section,
                applied=outcome.diversified,
            ),
            ignored_fields=list(outcome.ignored),
        ),
        warnings=list(outcome.warnings),
        supports_language_filter=True,
        supports_scope_filter=True,
    )


def _weights(plan: RetrievalPlan) -> Mapping[str, JsonValue]:
    """The weights that had an effect."""
    return {name: weight for name, weight in plan.ranking.fusion.weights.items() if name in WEIGHED}


def _evidence(result: Result, plan: RetrievalPlan, reading: Reading, ctx: Ctx) -> PackEvidence:
    section, output = result.section, plan.output
    key = result.hit.scope_key if result.hit.scope_key in reading.scopes else section.shared_key
    scope = reading.scopes[key] if key is not None else None
    scope_type, _, scope_id = (scope or "").partition(":")
    policy = output.snippet_policy if output.snippet_policy == "head" else "auto"
    start, end = window(section.content, result.query_text, output.max_snippet_chars, policy)
    page = page_of(section.metadata, section.content, result.query_text, start, end)
    return PackEvidence(
        id=f"section:{section.id}",
        kind="resource_section",
        document_id=str(section.document_id),
        section_id=str(section.id),
        title=section.document_title,
        source_uri=result.source_uri,
        source_type=section.source_type,
        language=section.language or None,
        snippet=section.content[start:end] if output.include_snippets else "",
        snippet_policy=policy if output.include_snippets else "none",
        score=None if plan.ranking.fusion.method == RRF else result.score,
        signals=_signals(result, plan),
        provenance=_provenance(result, output, ctx),
        metadata=_metadata(section, page),
        raw=_raw(section) if output.include_raw else None,
        scope=ScopeRef(type=scope_type, id=scope_id) if scope else None,
        event_time=section.event_time,
    )


def _signals(result: Result, plan: RetrievalPlan) -> PackSignals:
    """What the score is made of; without signals the one that results are compared by stays."""
    is_rrf = plan.ranking.fusion.method == RRF
    fused = result.score if is_rrf else None
    if not plan.output.include_signals:
        return PackSignals(rrf_score=fused, fts_score=None if is_rrf else result.hit.score)
    return PackSignals(
        rrf_score=fused,
        fts_score=result.hit.score,
        fts_rank=result.place,
        recency_score=result.hit.signals.get("recency"),
    )


def _provenance(result: Result, output: PlanOutput, ctx: Ctx) -> PackProvenance:
    """Which query found it; the mode is always told."""
    if not output.include_provenance:
        return PackProvenance(mode=result.mode)
    return PackProvenance(
        mode=result.mode, query_text=result.query_text, query_index=result.query_index, retrieved_at=ctx.now
    )


def _metadata(section: SectionSeen, page: int | None) -> PackMetadata:
    """Where in the document, and what the document is; the page is that of the snippet."""
    places = {name: value for name in _PLACE if isinstance(value := section.metadata.get(name), int)}
    words = {name: value for name in _WORDS if isinstance(value := section.metadata.get(name), str)}
    facts = {name: value for name in ("media", "semantic") if isinstance(value := section.document.get(name), dict)}
    return PackMetadata.model_validate(
        {
            "chunk_index": section.number - 1,
            "section_title": section.title or None,
            "media_type": section.media_type,
            **places,
            "page": page,
            **words,
            **facts,
        }
    )


def _raw(section: SectionSeen) -> PackRaw:
    return PackRaw(content_ref=f"smartbrain://section/{section.id}", content_hash=section.content_hash)
