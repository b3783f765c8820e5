"""One scale for what several searches found.

The score of a candidate within its scale becomes `(score - low) / (high - low)`, where `high` is the best score of that
scale in this request and `low` the worst or zero, whichever is lower: so the best text of each search has 1.0, and a
score of zero has 0.0 whenever none is negative. Scores on the scale `UNIT` are taken as they are. To this come
0.05 for each word of the question in title or text, 0.1 for a memory, which is kept current, over a message, which may
be out of date, and at most 0.04 for a narrower scope, which settles near ties and never outweighs relevance.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from kernel.text import fold, join_spaced_cjk
from media.contracts.retrieval import RetrievalPlan, TieBreaker
from memory.compose.values import CONFLICT_PRIORITY, TIERS, UNIT, Candidate, Ranked
from memory.compose.words import Finder, name_finder, word_finders

OVERLAP_BONUS = 0.05
MEMORY_BONUS = 0.1
SCOPE_BONUS = 0.01  # for each step of CONFLICT_PRIORITY
_PLACES = 6

Bounds = dict[tuple[str, str], tuple[float, float]]


@dataclass(frozen=True, slots=True)
class _Asked:
    """What to look for in each text."""

    words: list[Finder]
    names: list[tuple[str, Finder]]

    @classmethod
    def of(cls, question: str, entities: Sequence[str]) -> _Asked:
        return cls(word_finders(question), [(name, name_finder(name)) for name in entities])


def rank(found: Iterable[Candidate], question: str, entities: Sequence[str], plan: RetrievalPlan) -> list[Ranked]:
    """The candidates, best first: tiered knowledge in the order of its tiers, then by score."""
    candidates = list(found)
    bounds, asked = _bounds(candidates), _Asked.of(question, entities)
    return sorted((_scored(candidate, bounds, asked) for candidate in candidates), key=lambda item: order(item, plan))


def order(item: Ranked, plan: RetrievalPlan) -> tuple[int, float, float, str, str]:
    """The sort key of final order; the id settles what nothing else does."""
    found = item.candidate
    return tier_place(found.tier), -item.score, -_tie(found, plan), found.source, found.id


def tier_place(tier: str) -> int:
    """Place of a tier: principles first, then what follows from them, then all that has none."""
    return TIERS.index(tier) if tier in TIERS else len(TIERS)


def _tie(found: Candidate, plan: RetrievalPlan) -> float:
    ranking = plan.ranking
    if ranking.tie_breaker is TieBreaker.SOURCE_PRIORITY:
        return ranking.source_priority.get(found.source_type, 0.0)
    if ranking.tie_breaker is TieBreaker.RECENCY and found.event_time is not None:
        return found.event_time.timestamp()
    return 0.0


def _bounds(candidates: Iterable[Candidate]) -> Bounds:
    scores: defaultdict[tuple[str, str], list[float]] = defaultdict(list)
    for found in candidates:
        scores[found.source, found.scale].append(_finite(found.score))
    return {name: (min(0.0, *values), max(values)) for name, values in scores.items()}


def _finite(score: float) -> float:
    return score if math.isfinite(score) else 0.0


def _scored(found: Candidate, bounds: Bounds, asked: _Asked) -> Ranked:
    folded = join_spaced_cjk(fold(f"{found.title} {found.text}"))
    relevance = _relevance(found, bounds)
    overlap = OVERLAP_BONUS * sum(word.finds(folded) for word in asked.words)
    scope = SCOPE_BONUS * _specificity(found.scope)
    memory = MEMORY_BONUS if found.item_id is not None else 0.0
    return Ranked(
        candidate=found,
        score=round(relevance + overlap + memory + scope, _PLACES),
        signals={
            **found.signals,
            "relevance": round(relevance, _PLACES),
            "overlap": round(overlap, _PLACES),
            "memory": memory,
            "scope": round(scope, _PLACES),
        },
        covers=tuple(name for name, finder in asked.names if finder.finds(folded)),
    )


def _relevance(found: Candidate, bounds: Bounds) -> float:
    low, high = (0.0, 1.0) if found.scale == UNIT else bounds[found.source, found.scale]
    return min(1.0, max(0.0, (_finite(found.score) - low) / (high - low))) if high > low else 0.0


def _specificity(scope: str) -> int:
    kind = scope.partition(":")[0]
    return len(CONFLICT_PRIORITY) - 1 - CONFLICT_PRIORITY.index(kind) if kind in CONFLICT_PRIORITY else 0
