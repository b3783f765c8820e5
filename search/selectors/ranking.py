"""Ranking candidates: one pass over named features with the weights of one place.

The weights were chosen on the five development conversations of LoCoMo by leave-one-out (see `benchmarks/locomo.py`).
What was tried and did not pay is not here: a score for the session, feedback from the first results, a bonus for many
matched words.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import NamedTuple
from uuid import UUID

from search.contracts import Hit, Kind, Query, State
from search.selectors import features
from search.selectors.asking import Asked
from search.selectors.candidates import Candidates, Row


@dataclass(frozen=True, slots=True)
class Weights:
    """Every weight of the ranking. `date` and `recency` are shares of the best text score; `author` is added to a
    factor of 1; `superseded` and `trust` take away from it."""

    text: features.TextWeights = field(default_factory=features.TextWeights)
    author: float = 1.1
    date: float = 0.5
    recency: float = 0.3
    superseded: float = 0.5
    trust: float = 0.3
    context: float = 0.6


WEIGHTS = Weights()
# A text that holds none of the words is found through its neighbours only if the query is a sentence of so many pieces,
# and they hold this share of it: whoever gives key words wants texts that hold them.
CONTEXT_UNITS = 2
CONTEXT_SHARE = 0.3
_KINDS = {kind.value: kind for kind in Kind}


class _Scored(NamedTuple):
    row: Row
    text: float
    confidence: float
    own: bool


def rank(query: Query, asked: Asked, candidates: Candidates, weights: Weights = WEIGHTS) -> list[Hit]:
    """Every candidate that answers, best first: by score, then the newest id; an object once, in its best scope."""
    scored, named = _score_texts(asked, candidates, weights)
    best = max((each.text for each in scored), default=0.0)
    newness = features.recency([each.row for each in scored]) if asked.now else {}
    hits = []
    for each in scored:
        signals = {"bm25": each.text}
        factor = query.scope_weights.get(each.row.scope_key, 1.0)
        if named and features.is_of_author(each.row, named):
            signals["author"] = weights.author
            factor *= 1 + weights.author
        added = 0.0
        if asked.spans:
            near = weights.date * features.nearness(each.row.day, asked.spans)
            signals |= {"date": near * best} if near else {}
            added += near
        if newness:
            new = weights.recency * newness.get(each.row.entry_id, 0.0)
            signals |= {"recency": new * best} if new else {}
            added += new
        factor *= 1 - weights.trust * (1 - each.row.trust)
        if each.row.state == State.HISTORY:
            factor *= 1 - weights.superseded
        score = each.text * factor + added * best
        hits.append(_hit(each, score, signals))
    return _one_each(hits)


def _score_texts(
    asked: Asked, candidates: Candidates, weights: Weights
) -> tuple[list[_Scored], Mapping[str, frozenset[str]]]:
    rows, corpus = candidates.rows, candidates.corpus
    named = features.named_authors(rows, asked)
    names = frozenset[str]().union(*named.values())
    worth = features.term_weights(features.telling_units(asked, names, corpus.known), corpus, weights.text.form)
    counts, lengths = features.widened(rows, weights.text)
    told = features.tellings(asked, corpus)
    scored = []
    for row in rows:
        around = counts.get(row.entry_id)
        if around is None:
            continue
        text = features.bm25(around, lengths[row.entry_id] / corpus.mean_length, worth, weights.text)
        if not text:
            continue
        own = not worth.keys().isdisjoint(row.counts)
        confidence = features.share_matched(row.counts, around, told, weights.context)
        if own or (asked.sentence and len(told) >= CONTEXT_UNITS and confidence >= CONTEXT_SHARE * weights.context):
            scored.append(_Scored(row, text, confidence, own))
    return scored, named


def _hit(each: _Scored, score: float, signals: dict[str, float]) -> Hit:
    if not each.own:
        signals["context"] = 1.0
    return Hit(
        kind=_KINDS[each.row.kind],
        object_id=each.row.object_id,
        scope_key=each.row.scope_key,
        score=round(score, 6),
        confidence=round(min(each.confidence, 1.0), 4),
        signals={name: round(value, 6) for name, value in signals.items()},
    )


def _one_each(hits: list[Hit]) -> list[Hit]:
    best: dict[tuple[Kind, UUID], Hit] = {}
    for hit in hits:
        known = best.get((hit.kind, hit.object_id))
        if known is None or (hit.score, -hit.scope_key) > (known.score, -known.scope_key):
            best[(hit.kind, hit.object_id)] = hit
    return sorted(best.values(), key=lambda hit: (-hit.score, -hit.object_id.int))
