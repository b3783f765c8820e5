"""On which of the pages of a section words stand. A section may run over several."""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from typing import Any

from kernel import tokens


def starts_of(metadata: Mapping[str, Any]) -> tuple[int, ...]:
    """Where in a section's text the pages after its first begin, as its metadata tells it."""
    given = metadata.get("page_starts")
    return tuple(given) if isinstance(given, list) and all(type(each) is int for each in given) else ()


def page_of(metadata: Mapping[str, Any], text: str, query: str, first: int = 0, end: int | None = None) -> int | None:
    """The page, counted from 1, on which between `first` and `end` most of the words of a query stand; where none of
    them does, the one on which `first` is. None where there are no pages."""
    page = metadata.get("page")
    if type(page) is not int:
        return None
    end = len(text) if end is None else end
    bounds = [0, *starts_of(metadata), len(text)]
    spans = [(max(start, first), min(stop, end)) for start, stop in itertools.pairwise(bounds)]
    inside = [number for number, (start, stop) in enumerate(spans) if start < stop]
    if len(inside) < 2:
        return page + (inside[0] if inside else 0)
    terms = tokens.query_terms(query)
    return page + max(inside, key=lambda number: (_worth(text[slice(*spans[number])], terms), -number))


def _worth(text: str, terms: Sequence[str]) -> int:
    """How long those of the terms are that search would find in the text."""
    found = tokens.terms(text)
    return sum(len(term) for term in terms if term in found)
