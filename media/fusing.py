"""Making one ranking of several, by places or by scores: pure functions over plain values."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass
from typing import Generic, Literal, TypeVar

Name = TypeVar("Name", bound=Hashable)
Method = Literal["rrf", "weighted_sum", "none"]

_PLACES = 9  # to which scores are rounded, so that equal ones are equal on every machine


@dataclass(frozen=True, slots=True)
class Ranking(Generic[Name]):
    """One list, best first: what was found, each with its own score, and what the list counts."""

    weight: float
    found: Sequence[tuple[Name, float]]


@dataclass(frozen=True, slots=True)
class Fused:
    """A result of all lists: its score, and the list that brings most of it."""

    score: float
    best: int


def fuse(rankings: Sequence[Ranking[Name]], method: Method, rrf_k: int) -> dict[Name, Fused]:
    """Each result with its score over all lists, higher is better.

    `rrf` adds weight / (rrf_k + place), places from 1; `weighted_sum` adds weight * score, the scores of a list brought
    to 0..1; `none` takes the best weight * score of any list.
    """
    totals: dict[Name, float] = {}
    most: dict[Name, tuple[float, int]] = {}
    for number, ranking in enumerate(rankings):
        for name, part in _parts(ranking, method, rrf_k).items():
            totals[name] = max(totals.get(name, part), part) if method == "none" else totals.get(name, 0.0) + part
            if name not in most or part > most[name][0]:
                most[name] = (part, number)
    return {name: Fused(round(total, _PLACES), most[name][1]) for name, total in totals.items()}


def _parts(ranking: Ranking[Name], method: Method, rrf_k: int) -> Mapping[Name, float]:
    """What a list gives to each of its results."""
    if method == "rrf":
        return {name: ranking.weight / (rrf_k + place) for place, (name, _) in enumerate(ranking.found, 1)}
    scores = dict(ranking.found)
    if method == "weighted_sum":
        scores = _to_one(scores)
    return {name: ranking.weight * score for name, score in scores.items()}


def _to_one(scores: Mapping[Name, float]) -> dict[Name, float]:
    """The scores from 0 to 1; where all are equal, 1 if they are above 0, else 0."""
    low, high = min(scores.values(), default=0.0), max(scores.values(), default=0.0)
    if low == high:
        return dict.fromkeys(scores, 1.0 if high > 0 else 0.0)
    return {name: (score - low) / (high - low) for name, score in scores.items()}
