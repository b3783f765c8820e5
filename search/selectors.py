"""Searching the index: candidates by the rarest terms, then one BM25 pass in Python over all terms.

BM25 as in Robertson and Zaragoza, "The Probabilistic Relevance Framework" (2009), k1 = 1.2, b = 0.75, with document
frequencies of the scope. Scores are computed here and not by the database, so both databases give the same order.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from django.db.models import Avg, Count, Q, QuerySet

from kernel import tokens
from search.contracts import Hit, Kind, Query, State
from search.models import IndexEntry, Posting
from search.terms import term_key

K1 = 1.2
B = 0.75
MAX_QUERY_TERMS = 64
CANDIDATE_ROWS = 10_000
CANDIDATES = 500
WEAK_BELOW = 0.35


@dataclass(frozen=True, slots=True)
class Found:
    """Every ranked hit, best first, and what was left out of the look-up, by reason."""

    hits: list[Hit]
    warnings: list[str]


@dataclass(frozen=True, slots=True)
class _Term:
    key: int
    scope_key: int
    rows: int
    idf: float


@dataclass(slots=True)
class _Candidate:
    entry: dict[str, Any]
    score: float = 0.0
    matched: float = 0.0


def find(query: Query) -> Found:
    """Rank the texts of the query's scopes. Five database queries, whatever the size of the index."""
    words = tokens.query_terms(query.text)
    warnings = [f"query_terms_cut:{len(words) - MAX_QUERY_TERMS}"] if len(words) > MAX_QUERY_TERMS else []
    words = words[:MAX_QUERY_TERMS]
    sizes = _scope_sizes(query)
    terms = _known_terms(words, sizes)
    if not terms:
        return Found([], warnings)
    telling, common = _split(terms)
    found: dict[int, _Candidate] = {}
    _score(found, _postings(query, telling), terms, sizes)
    best = sorted(found, key=lambda entry_id: (-found[entry_id].score, entry_id))[:CANDIDATES]
    if len(found) > CANDIDATES:
        warnings.append(f"candidates_cut:{len(found) - CANDIDATES}")
    if common:
        _score(found, _postings(query, common).filter(entry_id__in=best), terms, sizes)
    total = _query_information(words, terms, sizes)
    hits = [_hit(found[entry_id], total) for entry_id in best]
    return Found(_one_each(hits), warnings)


def _entries(query: Query) -> QuerySet[IndexEntry]:
    """The base queryset: entries of the query's domain and scopes that hold at its moment, and nothing else."""
    rows = IndexEntry.objects.filter(domain_id=query.domain_id, scope_id__in=query.scope_keys, kind__in=query.kinds)
    if query.recorded_at is None:
        rows = rows.filter(state__in=[State.CURRENT, State.HISTORY] if query.history else [State.CURRENT])
    else:
        rows = rows.filter(recorded_at__lte=query.recorded_at).exclude(state=State.CANDIDATE)
        rows = rows.filter(Q(current_until=None) | Q(current_until__gt=query.recorded_at))
    rows = rows.filter(Q(valid_from=None) | Q(valid_from__lte=query.valid_at))
    rows = rows.filter(Q(valid_to=None) | Q(valid_to__gt=query.valid_at))
    if query.labels:
        rows = rows.filter(label__in=query.labels)
    if query.since is not None:
        rows = rows.filter(event_time__gte=query.since)
    return rows.filter(event_time__lt=query.until) if query.until is not None else rows


def _scope_sizes(query: Query) -> dict[int, tuple[int, float]]:
    rows = (
        IndexEntry.objects.filter(domain_id=query.domain_id, scope_id__in=query.scope_keys)
        .values("scope_id")
        .annotate(n=Count("pk"), mean=Avg("length"))
        .order_by("scope_id")
    )
    return {row["scope_id"]: (row["n"], round(float(row["mean"]), 6) or 1.0) for row in rows}


def _known_terms(words: Iterable[str], sizes: dict[int, tuple[int, float]]) -> dict[int, _Term]:
    keys = {term_key(scope_key, word): scope_key for word in words for scope_key in sizes}
    rows = Posting.objects.filter(term__in=keys).values("term").annotate(n=Count("entry")).order_by("term")
    return {
        row["term"]: _Term(row["term"], keys[row["term"]], row["n"], _idf(row["n"], sizes[keys[row["term"]]][0]))
        for row in rows
    }


def _idf(rows: int, size: int) -> float:
    return math.log(1 + (size - rows + 0.5) / (rows + 0.5))


def _split(terms: dict[int, _Term]) -> tuple[list[int], list[int]]:
    """The rarest terms within the row budget, at least one, and the rest."""
    ordered = sorted(terms.values(), key=lambda term: (term.rows, term.key))
    taken, budget = 0, CANDIDATE_ROWS
    for term in ordered:
        budget -= term.rows
        if budget < 0 and taken:
            break
        taken += 1
    return [term.key for term in ordered[:taken]], [term.key for term in ordered[taken:]]


def _postings(query: Query, keys: list[int]) -> QuerySet[Posting]:
    return Posting.objects.filter(term__in=keys, entry__in=_entries(query)).order_by("entry_id", "term")


def _score(
    found: dict[int, _Candidate],
    postings: QuerySet[Posting],
    terms: dict[int, _Term],
    sizes: dict[int, tuple[int, float]],
) -> None:
    columns = ("entry_id", "term", "count", "entry__kind", "entry__object_id", "entry__scope_id", "entry__length")
    for row in postings.values(*columns):
        term = terms[row["term"]]
        candidate = found.setdefault(row["entry_id"], _Candidate(row))
        norm = 1 - B + B * row["entry__length"] / sizes[term.scope_key][1]
        candidate.score += term.idf * row["count"] * (K1 + 1) / (row["count"] + K1 * norm)
        candidate.matched += term.idf


def _query_information(
    words: list[str], terms: dict[int, _Term], sizes: dict[int, tuple[int, float]]
) -> dict[int, float]:
    """For each scope the idf of all query terms together; a term that the scope lacks counts as its rarest."""
    total: dict[int, float] = defaultdict(float)
    for scope_key, (size, _) in sizes.items():
        for word in words:
            term = terms.get(term_key(scope_key, word))
            total[scope_key] += term.idf if term else _idf(0, size)
    return total


def _hit(candidate: _Candidate, total: dict[int, float]) -> Hit:
    entry = candidate.entry
    scope_key = entry["entry__scope_id"]
    score = round(candidate.score, 6)
    return Hit(
        kind=Kind(entry["entry__kind"]),
        object_id=UUID(str(entry["entry__object_id"])),
        scope_key=scope_key,
        score=score,
        confidence=round(min(candidate.matched / total[scope_key], 1.0), 4) if total[scope_key] else 0.0,
        signals={"bm25": score},
    )


def _one_each(hits: list[Hit]) -> list[Hit]:
    """The best hit of each object, in rank order: score, then newest id."""
    best: dict[tuple[Kind, UUID], Hit] = {}
    for hit in hits:
        known = best.get((hit.kind, hit.object_id))
        if known is None or (hit.score, -hit.scope_key) > (known.score, -known.scope_key):
            best[(hit.kind, hit.object_id)] = hit
    return sorted(best.values(), key=lambda hit: (-hit.score, -hit.object_id.int))
