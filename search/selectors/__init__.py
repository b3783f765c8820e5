"""Searching the index in two stages: the database finds candidates, and one pass in Python ranks them.

Scores are computed here and not by the database, so both databases give the same order.
"""

from __future__ import annotations

from dataclasses import dataclass

from search.contracts import Hit, Query
from search.selectors.asking import MAX_QUERY_TERMS, Asked, read
from search.selectors.candidates import Candidates, find_candidates
from search.selectors.narrowed import find_among, find_within
from search.selectors.ranking import rank

__all__ = ["MAX_QUERY_TERMS", "WEAK_BELOW", "Found", "find"]

WEAK_BELOW = 0.35


@dataclass(frozen=True, slots=True)
class Found:
    """Every ranked hit, best first, and what was left out of the look-up, by reason."""

    hits: list[Hit]
    warnings: list[str]


def find(query: Query) -> Found:
    """Rank the texts of the query's scopes. Six database queries at most, whatever the size of the index."""
    asked = read(query.text, query.valid_at)
    warnings = [f"query_terms_cut:{asked.cut}"] if asked.cut else []
    found = _candidates(query, asked)
    if found is None:
        return Found([], warnings)
    if found.cut:
        warnings.append(f"candidates_cut:{found.cut}")
    return Found(rank(query, asked, found), warnings)


def _candidates(query: Query, asked: Asked) -> Candidates | None:
    if query.among is not None:
        return find_among(query, asked)
    return find_within(query, asked) if query.within is not None else find_candidates(query, asked)
