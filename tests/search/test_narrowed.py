"""A filter of the owner's is applied before anything is cut: what is found is what passes, however badly it ranks."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any
from uuid import UUID

import pytest
from django.db import connection
from django.db.models import Q
from django.test.utils import CaptureQueriesContext
from hypothesis import given, settings
from hypothesis import strategies as st

from search.contracts import Kind
from search.selectors import candidates, narrowed

WORDS = ["kumquat", "harbour", "zebra", "数据库", "jam"]


def only(ids: list[UUID]) -> Callable[[str], Any]:
    """The filter that lets these objects through."""
    return lambda column: Q(**{f"{column}__in": ids})


def test_it_works(shelf):
    first, second = shelf.put("kumquat jam", "kumquat")
    assert shelf.found("kumquat", among=(first,)) == ["kumquat jam"]
    assert shelf.found("kumquat", within=only([second])) == ["kumquat"]
    assert shelf.found("kumquat", among=()) == []
    assert shelf.found("zebra", among=(first,)) == shelf.found("zebra", within=only([first])) == []


def test_the_worst_of_many_is_still_found(shelf):
    """Case 76."""
    *_, last = shelf.put(*("kumquat harbour" for _ in range(500)), "a kumquat in a text of many other words and jam")
    assert shelf.texts[last] not in shelf.found("kumquat harbour")
    for narrow in ({"among": (last,)}, {"within": only([last])}):
        assert shelf.found("kumquat harbour", **narrow) == [shelf.texts[last]]


@pytest.mark.parametrize("held", [5_000, 3], ids=["all are read", "common words are not"])
def test_a_rare_word_of_other_texts_leads_nowhere(shelf, monkeypatch, held):
    monkeypatch.setattr(narrowed, "HELD", held)
    monkeypatch.setattr(candidates, "ROW_BUDGET", 4)
    shelf.put(*("zebra" for _ in range(3)), *("kumquat" for _ in range(20)))
    (wanted,) = shelf.put("kumquat jam")
    assert shelf.found("zebra kumquat", within=only([wanted])) == ["kumquat jam"]


def test_what_stands_beside_a_text_passes_the_filter_too(shelf):
    ids = shelf.talk(("ann", "what about the kumquat harbour?"), ("bob", "It is closed."))
    assert len(shelf.ask("the kumquat harbour is closed today")) == 2
    assert [hit.object_id for hit in shelf.ask("the kumquat harbour is closed today", within=only(ids[1:]))] == [
        ids[1]
    ]


def test_a_filter_opens_no_other_scope(shelf):
    (hidden,) = shelf.put("kumquat", scope="b")
    shelf.put("harbour", scope="a")
    assert shelf.found("kumquat", "a", among=(hidden,)) == []
    assert shelf.found("kumquat", "a", within=only([hidden])) == []
    assert shelf.found("kumquat", "a", "b", among=(hidden,), kinds=(Kind.SECTION,)) == []


def test_as_many_queries_however_much_there_is(shelf):
    ids = shelf.put(*("kumquat harbour" for _ in range(3)))
    counts = []
    for _ in range(2):
        for narrow in ({"among": tuple(ids)}, {"within": only(ids)}):
            with CaptureQueriesContext(connection) as captured:
                assert len(shelf.ask("kumquat harbour", **narrow)) == 3
            counts.append(len(captured))
        shelf.put(*("kumquat harbour" for _ in range(300)))
    assert counts == [3, 5, 3, 5]


@settings(max_examples=30)
@given(
    texts=st.lists(st.lists(st.sampled_from(WORDS), min_size=1, max_size=4), min_size=1, max_size=12),
    passing=st.sets(st.integers(0, 11)),
    query=st.lists(st.sampled_from(WORDS), min_size=1, max_size=3),
)
def test_filtering_first_finds_what_filtering_all_finds(shelf, texts, passing, query):
    ids = shelf.put(*(" ".join(words) for words in texts), scope=f"s{len(shelf.scope_keys)}")
    scope = list(shelf.scope_keys)[-1]
    wanted = [each for number, each in enumerate(ids) if number in passing]
    everything = [(hit.object_id, hit.score) for hit in shelf.ask(" ".join(query), scope)]
    brute = [found for found in everything if found[0] in wanted]
    for narrow in ({"among": tuple(wanted)}, {"within": only(wanted)}):
        found = [(hit.object_id, hit.score) for hit in shelf.ask(" ".join(query), scope, **narrow)]
        assert found == brute
