"""Filters before limits are the same as filtering everything by hand, for few sections and for many."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from media.selectors import retrieving as reading
from search.selectors import narrowed
from tests.conftest import Player, make_agent
from tests.media.shelf import WHEN, a_plan, documents, put, reads, retrieve

WORDS = ["zebra", "lion", "斑马", "moth"]
SOURCES = ["url", "file", "manual"]
LANGUAGES = ["en", "zh", "zh_tw"]
KINDS = ["document", "image", "audio"]
SCOPES = ["project:p", "project:q"]
WIDE = {
    "diversity": {"by_document": 9, "by_source": 9},
    "per_mode_k": {"hybrid": 100, "exact": 100},
    "top_k": 100,
}

FILTERS: dict[str, tuple[Any, Callable[[Any, Any], bool]]] = {
    "source_type": (st.lists(st.sampled_from(SOURCES), min_size=1), lambda row, given: row["source_type"] in given),
    "language": (
        st.sampled_from(LANGUAGES),
        lambda row, given: row["language"] == given or row["language"].startswith(given + "_"),
    ),
    "media_type": (st.sampled_from(KINDS), lambda row, given: row["media_type"] == given),
    "source_uri_prefix": (
        st.sampled_from(["a", "A", "b/", "a%"]),
        lambda row, given: row["source_uri"].startswith(given),
    ),
    "time_range": (
        st.integers(0, 12).map(lambda days: {"to": (WHEN - timedelta(days=days)).isoformat()}),
        lambda row, given: row["at"].isoformat() < given["to"],
    ),
}


def rows() -> list[dict[str, Any]]:
    """Twelve documents that differ in everything that is filtered by."""
    return [
        {
            "texts": [f"{WORDS[n % 4]} {WORDS[(n * 3 + 1) % 4]} {n}"] * (1 + n % 2),
            "shared": tuple(SCOPES[: n % 3]),
            "source_type": SOURCES[n % 3],
            "language": LANGUAGES[n // 2 % 3],
            "media_type": KINDS[n // 3 % 3],
            "source_uri": f"{'aAb'[n % 3]}/{n}",
            "at": WHEN - timedelta(days=n),
        }
        for n in range(12)
    ]


@pytest.fixture
def shelf(cast) -> tuple[Player, Player, dict]:
    known = {}
    for row in rows():
        given = {name: value for name, value in row.items() if name != "texts"}
        known[put(cast.agent, *row["texts"], **given).id] = row
    return cast.agent, make_agent("other"), known


@pytest.mark.parametrize(("few", "held"), [(300, 5_000), (1, 5_000), (1, 3)], ids=["few", "many", "many and common"])
def test_filters_before_limits_are_what_filtering_by_hand_gives(shelf, monkeypatch, few, held):
    monkeypatch.setattr(reading, "FEW", few)
    monkeypatch.setattr(narrowed, "HELD", held)
    owner, other, known = shelf

    @settings(max_examples=12)
    @given(
        word=st.sampled_from(WORDS),
        filters=st.fixed_dictionaries({}, optional={name: make for name, (make, _) in FILTERS.items()}),
        place=st.sampled_from([None, *SCOPES]),
        owns=st.booleans(),
    )
    def check(word: str, filters: dict[str, Any], place: str | None, owns: bool) -> None:
        beside = reads(place) if place else {}
        found = retrieve(owner if owns else other, a_plan(word, filters=filters, budget=WIDE), **beside)
        expected = {
            key
            for key, row in known.items()
            if any(word in text for text in row["texts"])
            and all(FILTERS[name][1](row, value) for name, value in filters.items())
            and _is_seen(row["shared"], place, owns)
        }
        assert set(documents(found)) == expected

    check()


def _is_seen(shared: tuple[str, ...], place: str | None, owns: bool) -> bool:
    if place is None:
        return owns or bool(shared)
    return place in shared or (owns and not shared)
