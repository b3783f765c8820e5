"""Finding evidence for a plan in our own index: memories, messages and relations as candidates on one scale."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING
from uuid import UUID

from kernel import tokens
from kernel.context import Ctx
from media.contracts.retrieval import PlanQuery, RetrievalPlan
from memory.compose.values import UNIT, Candidate
from memory.naming import fold_name, name_candidates
from memory.selectors.graph import related_edges
from memory.selectors.items import Taught, taught_by
from memory.selectors.searching import related_names
from memory.selectors.seen import ItemSeen, hydrated_item, items_seen
from memory.summarising import sentences
from scopes.selectors import Resolved
from search import hooks
from search import selectors as index
from search.contracts import Hit, Hydrated, Kind, Query

if TYPE_CHECKING:
    from scopes.models import MemoryScope

EDGE_SCORE = 0.5
MAX_EDGES = 10
LEAST_OF_A_SCOPE = 12
MAX_PARTS = 3  # sentences of a message that are also asked by themselves
MEMORY_SCALE = "search"
# Words that no text holds make every match look poor: where nothing matches well, what is near the best match is not
# weak, as long as it holds this share of the question.
NEAR_BEST, ALWAYS_WEAK = 0.7, 0.1


@dataclass(frozen=True, slots=True)
class FoundEvidence:
    """Candidates, the items among them by id, and the names that the question is related to."""

    candidates: list[Candidate]
    items: dict[UUID, ItemSeen]
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
        reader=ctx.actor.id,
    )


def find_candidates(plan: RetrievalPlan, query: Query, scopes: Mapping[int, MemoryScope], most: int) -> FoundEvidence:
    """What the plan's questions find, and what the names in it are related to; each object once, at its best."""
    best: dict[UUID, tuple[Hit, float, str]] = {}
    sure: dict[UUID, float] = {}
    related = related_names(query)
    for asked, mode in _questions(plan, related, most):
        limit = _limit_of_a_scope(plan, mode, len(scopes))
        for hit in _best_of_each_scope(index.find(replace(query, text=asked.text)).hits, limit):
            sure[hit.object_id] = max(hit.confidence, sure.get(hit.object_id, 0.0))
            known = best.get(hit.object_id)
            if known is None or hit.score * asked.weight > known[1]:
                best[hit.object_id] = (hit, round(hit.score * asked.weight, 6), mode)
    memories = [hit.object_id for hit, _, _ in best.values() if hit.kind is Kind.MEMORY]
    messages = [hit.object_id for hit, _, _ in best.values() if hit.kind is Kind.MESSAGE]
    items = items_seen(memories, query.domain_id, query.scope_keys)
    texts = {item_id: hydrated_item(row) for item_id, row in items.items()}
    texts.update(hooks.hydrate(Kind.MESSAGE, messages, query) if messages else {})
    enough = min(index.WEAK_BELOW, max(NEAR_BEST * max(sure.values(), default=0.0), ALWAYS_WEAK))
    candidates = [
        _candidate(
            _Found(hit, score, mode, sure[hit.object_id] < enough),
            texts[hit.object_id],
            scopes[hit.scope_key].name,
            items.get(hit.object_id),
        )
        for hit, score, mode in best.values()
        if hit.object_id in texts
    ]
    taught = taught_by(messages, query.domain_id, query.scope_keys) if messages else {}
    return FoundEvidence(_collapsed(candidates, texts, taught, sure), items, related)


def outside_the_window(plan: RetrievalPlan, query: Query, scopes: int) -> list[str]:
    """The ids of what the plan's first question would have found as well, were it not for the plan's time window."""
    if query.since is None and query.until is None:
        return []
    anytime = index.find(replace(query, since=None, until=None)).hits
    limit = _limit_of_a_scope(plan, str(plan.queries[0].mode), scopes)
    within = {hit.object_id for hit in index.find(query).hits}
    best = _best_of_each_scope((hit for hit in anytime if hit.object_id not in within), limit)
    return [f"{hit.kind}:{hit.object_id}" for hit in best]


def _best_of_each_scope(hits: Iterable[Hit], limit: int) -> Iterator[Hit]:
    """The best hits of each scope, so that a scope with many does not shut out one with few."""
    taken: Counter[int] = Counter()
    for hit in hits:
        taken[hit.scope_key] += 1
        if taken[hit.scope_key] <= limit:
            yield hit


def _limit_of_a_scope(plan: RetrievalPlan, mode: str, scopes: int) -> int:
    """How many candidates of each scope a mode may bring: its share of what the plan gives the mode, and no fewer than
    a context can show of one scope."""
    limits = plan.budget.per_mode_k
    given: int | None = getattr(limits, mode)
    return max((given or plan.budget.top_k) // max(scopes, 1), LEAST_OF_A_SCOPE)


def _questions(plan: RetrievalPlan, related: Sequence[str], most: int) -> list[tuple[PlanQuery, str]]:
    """The plan's questions that add a word to those before them, each part of a message of several sentences, since a
    memory may answer one of them alone, and one question over related names."""
    known: set[str] = set()
    chosen: list[tuple[PlanQuery, str]] = []
    parts = sentences(plan.queries[0].text)
    asked_apart = [(PlanQuery(text=part), "hybrid") for part in parts[:MAX_PARTS]] if len(parts) > 1 else []
    for asked in plan.queries:
        words = set(tokens.query_terms(asked.text))
        if words - known or not chosen:
            chosen.append((asked, str(asked.mode)))
            known |= words
    names = [name for name in related if set(tokens.query_terms(name)) - known]
    by_relation = [(PlanQuery(text=" ".join(names)[:4000], weight=0.6), "relational")] if names else []
    return [*chosen[:most], *asked_apart, *by_relation]


@dataclass(frozen=True, slots=True)
class _Found:
    """A hit at its best: the score with the weight of the question, and the question's mode."""

    hit: Hit
    score: float
    mode: str
    weak: bool


def _candidate(found: _Found, text: Hydrated, scope: str, item: ItemSeen | None) -> Candidate:
    hit = found.hit
    return Candidate(
        id=f"{hit.kind}:{hit.object_id}",
        source="memory",
        score=found.score,
        scale=MEMORY_SCALE,
        text=text.text,
        title=text.title or text.author,
        source_uri=f"smartbrain://{hit.kind}/{hit.object_id}",
        source_type="memory_snapshot",
        kind=str(hit.kind),
        mode=found.mode,
        weak=found.weak,
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


def _collapsed(
    candidates: list[Candidate],
    texts: Mapping[UUID, Hydrated],
    taught: Mapping[UUID, Taught],
    sure: Mapping[UUID, float],
) -> list[Candidate]:
    """The candidates without messages that say no more than what is known better.

    Where a memory matches the question as well as the message that it came from, the memory is kept, at the better of
    their scores. A message that says little but what was taken back since is left out.
    """
    memories = _surest_memories(candidates, texts, sure)
    kept, raised = [], {}
    for candidate in candidates:
        message = None if candidate.item_id else UUID(candidate.id.partition(":")[2])
        memory = memories.get(message) if message is not None else None
        if message is None:
            kept.append(candidate)
        elif memory is not None and sure[memory] >= sure[message]:
            raised[memory] = candidate.score
        elif not _is_spent(candidate, taught.get(message)):
            kept.append(candidate)
    return [
        replace(each, score=max(each.score, raised[each.item_id]))
        if each.item_id is not None and each.item_id in raised
        else each
        for each in kept
    ]


def _surest_memories(
    candidates: list[Candidate], texts: Mapping[UUID, Hydrated], sure: Mapping[UUID, float]
) -> dict[UUID, UUID]:
    """For each message the memory from it that matches the question best."""
    found: dict[UUID, UUID] = {}
    for item_id in (candidate.item_id for candidate in candidates if candidate.item_id):
        source = texts[item_id].message_uuid
        if source is not None and (source not in found or sure[item_id] > sure[found[source]]):
            found[source] = item_id
    return found


def _is_spent(message: Candidate, taught: Taught | None) -> bool:
    """Whether a message says little but what was superseded or retracted since."""
    return taught is not None and taught.is_stale() and 2 * taught.spent_chars >= len(message.text)


def edges_as_candidates(query: Query, related: Sequence[str], scopes: Mapping[int, MemoryScope]) -> list[Candidate]:
    """Relations of the names in the question and of `related` names; without those there is none."""
    if not related:
        return []
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
