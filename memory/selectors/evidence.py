"""Finding evidence for a plan in our own index: memories, messages and relations as candidates on one scale."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING
from uuid import UUID

from kernel import tokens
from kernel.context import Ctx
from memory.compose.contracts import PlanQuery, RetrievalPlan
from memory.compose.values import UNIT, Candidate
from memory.models import MemoryItem
from memory.naming import fold_name, name_candidates
from memory.selectors.items import hydrated_item, items_in
from memory.selectors.searching import related_edges, related_names
from scopes.selectors import Resolved
from search import hooks
from search import selectors as index
from search.contracts import Hit, Hydrated, Kind, Query

if TYPE_CHECKING:
    from scopes.models import MemoryScope

EDGE_SCORE = 0.5
MAX_EDGES = 10
MEMORY_SCALE = "search"


@dataclass(frozen=True, slots=True)
class FoundEvidence:
    """Candidates, the items among them by id, and the names that the question is related to."""

    candidates: list[Candidate]
    items: dict[UUID, MemoryItem]
    related: list[str]


def query_for(plan: RetrievalPlan, place: Resolved, scope_keys: tuple[int, ...], ctx: Ctx) -> Query:
    """The plan's first question to our index, with the plan's time window."""
    window = plan.global_filters.time_range
    return Query(
        text=plan.queries[0].text,
        domain_id=place.domain_id,
        scope_keys=scope_keys,
        kinds=(Kind.MEMORY, Kind.MESSAGE),
        valid_at=ctx.now,
        since=window.from_ if window else None,
        until=window.to if window else None,
    )


def find_candidates(plan: RetrievalPlan, query: Query, scopes: Mapping[int, MemoryScope], most: int) -> FoundEvidence:
    """What the plan's questions find, and what the names in it are related to; each object once, at its best."""
    best: dict[UUID, tuple[Hit, float, str]] = {}
    related = related_names(query)
    for asked, mode in _questions(plan, related, most):
        for hit in index.find(replace(query, text=asked.text)).hits[: _mode_limit(plan, mode)]:
            known = best.get(hit.object_id)
            if known is None or hit.score * asked.weight > known[1]:
                best[hit.object_id] = (hit, round(hit.score * asked.weight, 6), mode)
    memories = [hit.object_id for hit, _, _ in best.values() if hit.kind is Kind.MEMORY]
    messages = [hit.object_id for hit, _, _ in best.values() if hit.kind is Kind.MESSAGE]
    items = {row.id: row for row in items_in(memories, query.domain_id, query.scope_keys)}
    texts = {item_id: hydrated_item(row) for item_id, row in items.items()}
    texts.update(hooks.hydrate(Kind.MESSAGE, messages, query.domain_id, query.scope_keys) if messages else {})
    candidates = [
        _candidate(hit, score, mode, texts[hit.object_id], scopes[hit.scope_key].name, items.get(hit.object_id))
        for hit, score, mode in best.values()
        if hit.object_id in texts
    ]
    return FoundEvidence(_collapsed(candidates, texts), items, related)


def _mode_limit(plan: RetrievalPlan, mode: str) -> int:
    """How many candidates a mode may bring; `hybrid` as many as the plan wants results."""
    limits = plan.budget.per_mode_k
    given: int | None = getattr(limits, mode)
    return given or plan.budget.top_k


def _questions(plan: RetrievalPlan, related: Sequence[str], most: int) -> list[tuple[PlanQuery, str]]:
    """The plan's questions that add a word to those before them, and one over related names."""
    known: set[str] = set()
    chosen: list[tuple[PlanQuery, str]] = []
    for asked in plan.queries:
        words = set(tokens.query_terms(asked.text))
        if words - known or not chosen:
            chosen.append((asked, str(asked.mode)))
            known |= words
    names = [name for name in related if set(tokens.query_terms(name)) - known]
    by_relation = [(PlanQuery(text=" ".join(names)[:4000], weight=0.6), "relational")] if names else []
    return [*chosen[:most], *by_relation]


def _candidate(hit: Hit, score: float, mode: str, text: Hydrated, scope: str, item: MemoryItem | None) -> Candidate:
    return Candidate(
        id=f"{hit.kind}:{hit.object_id}",
        source="memory",
        score=score,
        scale=MEMORY_SCALE,
        text=text.text,
        title=text.title or text.author,
        source_uri=f"smartbrain://{hit.kind}/{hit.object_id}",
        source_type="memory_snapshot",
        kind=str(hit.kind),
        mode=mode,
        weak=hit.confidence < index.WEAK_BELOW,
        pinned=item.pinned if item else False,
        tier=item.tier if item and item.tier != "none" else "",
        scope=scope,
        lineage=str(item.source_item_id or item.id) if item else "",
        source_session_id=text.session_id,
        author=text.author,
        turn_id=text.turn_id,
        message_id=text.message_id,
        item_id=item.id if item else None,
        event_time=text.event_time,
        signals=dict(hit.signals),
    )


def _collapsed(candidates: list[Candidate], texts: Mapping[UUID, Hydrated]) -> list[Candidate]:
    """Of a memory and the message that it came from the memory is kept, at the better of their scores."""
    by_message = {each.message_uuid: object_id for object_id, each in texts.items() if each.message_uuid}
    kept, raised = [], {}
    for candidate in candidates:
        object_id = UUID(candidate.id.partition(":")[2])
        memory = by_message.get(object_id)
        if candidate.kind == Kind.MESSAGE and memory is not None:
            raised[memory] = candidate.score
        else:
            kept.append(candidate)
    return [
        replace(each, score=max(each.score, raised.get(each.item_id, each.score))) if each.item_id else each
        for each in kept
    ]


def edges_as_candidates(query: Query, related: Sequence[str], scopes: Mapping[int, MemoryScope]) -> list[Candidate]:
    """Relations of the names in the question and of `related` names."""
    rows = related_edges([*name_candidates(query.text), *(fold_name(name) for name in related)], query)
    return [
        Candidate(
            id=f"edge:{row.id}",
            source="memory",
            score=round(EDGE_SCORE * row.confidence, 6),
            scale=UNIT,
            text=f"{row.subject} {row.predicate} {row.object}",
            title=row.predicate,
            source_uri=f"smartbrain://edge/{row.id}",
            source_type="memory_snapshot",
            kind="edge",
            mode="relational",
            scope=scopes[row.scope_id].name,
            turn_id=row.source_turn_id,
            event_time=row.valid_from or row.recorded_at,
        )
        for row in rows[:MAX_EDGES]
    ]
