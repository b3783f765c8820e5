"""Asking the index every query of a plan, making one list of what it finds, and taking from it what the budget allows."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from uuid import UUID

from django.db.models import Q

from kernel.context import Ctx
from kernel.text import fold
from media.contracts.retrieval import EvidencePack, GlobalFilters, PlanQuery, QueryMode, RetrievalPlan, TieBreaker
from media.contracts.wording import Wording, wording
from media.fusing import Fused, Ranking, fuse
from media.selectors.retrieving import (
    Reading,
    SectionSeen,
    condition,
    elsewhere,
    few_sections,
    passing,
    read_sections,
)
from media.services.retrieving.filtering import filters_of, strange_ids, strange_words
from media.services.retrieving.packing import WEIGHED, Outcome, Result, pack
from search import selectors as index
from search.contracts import Hit, Kind, Query

MAX_QUERIES = 12  # of a plan: more of them are named as ignored
# Where nothing matches well, what is near the best match is shown too, as long as it holds this share of the query.
NEAR_BEST, ALWAYS_WEAK = 0.7, 0.15
_AS_HYBRID = {
    QueryMode.SEMANTIC: "there are no vectors, matched as hybrid",
    QueryMode.RELATIONAL: "documents have no relations, matched as hybrid",
}
_HINTS = ("expanded", "entities", "weak")


@dataclass(slots=True)
class _Group:
    """Queries with the same filters: what passes them, and what was found and read again."""

    filters: GlobalFilters
    where: Q
    few: tuple[UUID, ...] | None
    wanted: set[UUID] = field(default_factory=set)
    seen: dict[UUID, SectionSeen] = field(default_factory=dict)


@dataclass(slots=True)
class _Asked:
    """One query with its hits, best first; `mode` is how it was really matched."""

    number: int
    query: PlanQuery
    mode: QueryMode
    group: _Group
    limit: int
    hits: list[Hit]
    wording: Wording


@dataclass(slots=True)
class _Run:
    """A plan under way: where it may look, what was asked, and what there is to say of it."""

    plan: RetrievalPlan
    reading: Reading
    ctx: Ctx
    groups: dict[str, _Group] = field(default_factory=dict)
    ignored: list[str] = field(default_factory=list)
    warnings: list[str] = field(default_factory=list)


def retrieve(plan: RetrievalPlan, reading: Reading, ctx: Ctx) -> EvidencePack:
    """The evidence for a plan, best first, with a true account of how it was found."""
    started = time.monotonic()
    run = _Run(plan, reading, ctx)
    run.ignored += plan.debug.ignored_fields
    run.warnings += [f"clamped {change}" for change in plan.debug.clamped]
    asked = [_ask(number, query, run) for number, query in enumerate(plan.queries[:MAX_QUERIES])]
    for group in run.groups.values():
        group.seen = read_sections(group.wanted, reading, group.where, ctx)
    for each in asked:
        _relax(each, run)
    _declare(run)
    fused = fuse([_ranking(each, plan) for each in asked], plan.ranking.fusion.method, plan.ranking.fusion.rrf_k)
    ranked = _ordered(fused, asked, plan)[: plan.budget.candidate_k]
    results, diversified = _diverse(ranked, plan)
    _judge(run, ranked, results, diversified)
    outcome = Outcome(
        ranked=ranked,
        results=results,
        diversified=diversified,
        asked={each.number: each.group.filters for each in asked},
        ignored=list(dict.fromkeys(run.ignored)),
        warnings=list(dict.fromkeys(run.warnings)),
        candidates=Counter(str(each.mode) for each in asked for _ in _kept(each)),
        took_ms=round((time.monotonic() - started) * 1000, 3),
    )
    return pack(plan, reading, outcome, ctx)


def _ask(number: int, query: PlanQuery, run: _Run) -> _Asked:
    mode = query.mode
    if mode in _AS_HYBRID:
        run.ignored.append(f"queries[{number}].mode {mode}: {_AS_HYBRID[mode]}")
        mode = QueryMode.HYBRID
    run.ignored += [f"queries[{number}].hints.{hint}" for hint in query.hints if hint not in _HINTS]
    group = _group(query, run)
    asked = wording(query.text)
    if not asked.words:
        run.warnings.append(f"queries[{number}] nothing_wanted: it only says what must not be there")
    found = _find(asked.words, group, run) if asked.words else index.Found([], [])
    run.warnings += [f"queries[{number}] {warning}" for warning in found.warnings]
    judged = asked.restricts or query.hints.get("weak") is True
    hits = found.hits if judged else _telling(found.hits)
    if len(hits) < len(found.hits):
        run.warnings.append(f"queries[{number}] weak_left_out:{len(found.hits) - len(hits)}")
    limit = _limit(query.mode, run.plan)
    group.wanted.update(
        hit.object_id for hit in (hits if mode is QueryMode.EXACT or asked.restricts else hits[:limit])
    )
    return _Asked(number, query, mode, group, limit, hits, asked)


def _group(query: PlanQuery, run: _Run) -> _Group:
    filters = filters_of(run.plan, query)
    name = filters.model_dump_json()
    if name not in run.groups:
        where = condition(filters)
        run.groups[name] = _Group(filters, where, few_sections(run.reading, where, run.ctx))
        run.warnings += [*strange_ids(filters), *strange_words(filters)]
    return run.groups[name]


def _find(text: str, group: _Group, run: _Run) -> index.Found:
    window = group.filters.time_range
    return index.find(
        Query(
            text=text,
            domain_id=run.reading.domain_id,
            scope_keys=run.reading.scope_keys,
            kinds=(Kind.SECTION,),
            valid_at=run.ctx.now,
            since=window.from_ if window else None,
            until=window.to if window else None,
            among=group.few,
            within=None if group.few is not None else passing(run.reading, group.where, run.ctx),
        )
    )


def _telling(hits: Sequence[Hit]) -> list[Hit]:
    """The hits that match well enough: a query that nothing answers finds nothing."""
    best = max((hit.confidence for hit in hits), default=0.0)
    enough = min(index.WEAK_BELOW, max(NEAR_BEST * best, ALWAYS_WEAK))
    return [hit for hit in hits if hit.confidence >= enough]


def _limit(mode: QueryMode, plan: RetrievalPlan) -> int:
    given: int | None = getattr(plan.budget.per_mode_k, mode)
    return given or plan.budget.top_k


def _kept(asked: _Asked) -> list[Hit]:
    """The hits that may be shown, no more than the mode may bring."""
    seen = asked.group.seen
    words = fold(asked.query.text).strip() if asked.mode is QueryMode.EXACT and not asked.wording.restricts else ""
    kept = [hit for hit in asked.hits if hit.object_id in seen and _suits(asked, words, _folded(seen[hit.object_id]))]
    return kept[: asked.limit]


def _relax(asked: _Asked, run: _Run) -> None:
    """Where no text holds the quoted phrases of a question, its words count as if they were not quoted."""
    quoted = asked.wording.restricts and not asked.wording.joined and asked.mode is not QueryMode.EXACT
    if quoted and not _kept(asked):
        asked.wording = Wording(asked.wording.words)
        asked.hits = _telling(asked.hits)
        if asked.hits:
            run.warnings.append(f"queries[{asked.number}] phrase_not_found: matched by its words")


def _suits(asked: _Asked, words: str, folded: str) -> bool:
    return words in folded and asked.wording.holds(folded)


def _folded(section: SectionSeen) -> str:
    return fold(f"{section.title}\n{section.content}")


def _ranking(asked: _Asked, plan: RetrievalPlan) -> Ranking[UUID]:
    weights = plan.ranking.fusion.weights
    weight = asked.query.weight * max(weights.get("fts", 1.0), 0.0) * max(weights.get(asked.mode, 1.0), 0.0)
    return Ranking(weight, [(hit.object_id, hit.score) for hit in _kept(asked)])


def _ordered(fused: dict[UUID, Fused], asked: Sequence[_Asked], plan: RetrievalPlan) -> list[Result]:
    """Every result, best first; equal ones by the plan's tie-breaker, then by document and place in it."""
    hits = [{hit.object_id: (place, hit) for place, hit in enumerate(_kept(each), 1)} for each in asked]
    results = []
    for section_id, score in fused.items():
        by = asked[score.best]
        place, hit = hits[score.best][section_id]
        results.append(Result(by.group.seen[section_id], score.score, hit, place, by.number, by.mode, by.query.text))
    priority = plan.ranking.source_priority

    def key(result: Result) -> tuple[float, float, int, int]:
        tie = 0.0
        if plan.ranking.tie_breaker is TieBreaker.RECENCY:
            tie = -result.section.event_time.timestamp()
        elif plan.ranking.tie_breaker is TieBreaker.SOURCE_PRIORITY:
            tie = -priority.get(result.section.source_type, 0.0)
        return -result.score, tie, result.section.document_id.int, result.section.number

    return sorted(results, key=key)


def _diverse(ranked: Sequence[Result], plan: RetrievalPlan) -> tuple[list[Result], bool]:
    """The results within the caps on a shared origin and the budget, and whether a cap left one out."""
    caps = plan.budget.diversity
    used: Counter[tuple[str, str]] = Counter()
    kept: list[Result] = []
    left = False
    for result in ranked:
        if len(kept) == plan.budget.top_k:
            break
        origins = {
            ("document", str(result.section.document_id)): caps.by_document,
            ("source", result.source_uri): caps.by_source,
            ("section", str(result.section.id)): caps.by_section,
        }
        if any(used[origin] >= most for origin, most in origins.items()):
            left = True
            continue
        used.update(origins.keys())
        kept.append(result)
    return kept, left


def _judge(run: _Run, ranked: Sequence[Result], results: Sequence[Result], diversified: bool) -> None:
    """Say what kept results away."""
    if diversified and len(results) < run.plan.budget.top_k:
        run.ignored.append(f"budget.top_k: diversity left {len(results)} of {len(ranked)} candidates")
    if run.reading.cut:
        run.warnings.append(f"scopes_cut:{run.reading.cut}")
    if not results and run.reading.named and elsewhere(run.reading, run.ctx):
        run.warnings.append("own_documents_elsewhere: you have documents that are shared to other scopes only")


def _declare(run: _Run) -> None:
    """Name the parts of the plan that have no effect here."""
    ranking, output = run.plan.ranking, run.plan.output
    more = len(run.plan.queries) - MAX_QUERIES
    if more > 0:
        run.ignored.append(f"queries[{MAX_QUERIES}:]: {more} queries beyond the {MAX_QUERIES} that are asked")
    if ranking.rerank.enabled:
        run.ignored.append("ranking.rerank: there is no rerank model")
    run.ignored += [f"ranking.fusion.weights.{arm}" for arm in sorted(ranking.fusion.weights.keys() - WEIGHED)]
    if "source_priority" in ranking.model_fields_set and ranking.tie_breaker is not TieBreaker.SOURCE_PRIORITY:
        run.ignored.append("ranking.source_priority: the tie-breaker is another")
    if output.include_snippets and output.snippet_policy not in ("auto", "head"):
        run.ignored.append(f"output.snippet_policy {output.snippet_policy}: used auto")
