"""What a search box finds: the texts that hold every word, else those that hold most; in any state, within the scopes."""

from __future__ import annotations

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from search.contracts import Kind, State
from search.selectors import holding
from search.selectors.holding import find_holding, scopes_at_most
from tests.search.conftest import NOW, Shelf


def found(shelf: Shelf, text: str, *scopes: str) -> list[str]:
    keys = [shelf.scope(name) for name in scopes or ("a",)]
    return [shelf.texts[pk] for pk in find_holding(text, Kind.MEMORY, keys, NOW).objects]


def test_it_works(shelf):
    shelf.put("kumquat jam", "kumquat jam of the harbour, in a text of many words", "kumquat", "红色的茶壶在厨房")
    assert found(shelf, "jam kumquats") == ["kumquat jam", "kumquat jam of the harbour, in a text of many words"]
    assert found(shelf, "the JAM") == found(shelf, "jam")
    assert found(shelf, "茶壶") == found(shelf, "厨房 红色") == ["红色的茶壶在厨房"]
    assert found(shelf, "壶茶") == []


@pytest.mark.parametrize("text", ["", " ", "?!", "\x00", "\u200b", "the of", "zebra", "z" * 10_000, "zebra " * 3_000])
def test_what_is_nowhere_finds_nothing(shelf, text):
    shelf.put("kumquat jam")
    assert found(shelf, text) == []


def test_any_state_and_any_time_counts(shelf):
    shelf.put("kumquat one", state=State.CANDIDATE)
    shelf.put("kumquat two", state=State.HISTORY, current_until=NOW)
    shelf.put("kumquat three", valid_from=NOW.replace(year=2050))
    assert sorted(found(shelf, "kumquat")) == ["kumquat one", "kumquat three", "kumquat two"]


def test_another_scope_or_kind_is_not_looked_at(shelf):
    shelf.put("kumquat here")
    shelf.put("kumquat there", scope="b")
    shelf.talk(("ann", "kumquat said"))
    assert found(shelf, "kumquat") == ["kumquat here"]
    assert found(shelf, "kumquat", "b") == ["kumquat there"]
    assert sorted(found(shelf, "kumquat", "a", "b")) == ["kumquat here", "kumquat there"]
    assert find_holding("kumquat", Kind.MEMORY, [], NOW).objects == []


def test_where_none_holds_every_word_those_with_most_of_them_come(shelf):
    shelf.put("kumquat jam of the harbour", "kumquat alone")
    partly = find_holding("kumquat jam zebra", Kind.MEMORY, [shelf.scope()], NOW)
    assert [shelf.texts[pk] for pk in partly.objects] == ["kumquat jam of the harbour"]
    assert not partly.whole
    assert find_holding("kumquat jam", Kind.MEMORY, [shelf.scope()], NOW).whole


def test_only_the_newest_are_read_where_the_rarest_word_is_in_too_many(shelf, monkeypatch):
    monkeypatch.setattr(holding, "READ", 3)
    shelf.put(*(f"kumquat {number}" for number in range(5)), "kumquat jam")
    cut = find_holding("kumquat", Kind.MEMORY, [shelf.scope()], NOW)
    assert (len(cut.objects), cut.cut) == (3, True)
    rare = find_holding("kumquat jam", Kind.MEMORY, [shelf.scope()], NOW)
    assert ([shelf.texts[pk] for pk in rare.objects], rare.cut) == (["kumquat jam"], False)


def test_as_many_as_are_read_are_not_cut_and_each_counts_once(shelf, monkeypatch):
    monkeypatch.setattr(holding, "READ", 3)
    shelf.put(*(f"kumquat and kumquats {number}" for number in range(3)))
    for text in ("kumquat", "kumquats"):
        every = find_holding(text, Kind.MEMORY, [shelf.scope()], NOW)
        assert (len(every.objects), every.cut) == (3, False)


def test_the_longest_words_lead_where_there_are_too_many_scopes_for_all(shelf, monkeypatch):
    monkeypatch.setattr(holding, "LOOKED_UP", 2)
    monkeypatch.setattr(holding, "LEADING", 1)
    shelf.put("a harbour with jam", "a harbour with zebras")
    assert found(shelf, "jam harbour") == ["a harbour with jam"]
    monkeypatch.setattr(holding, "LOOKED_UP", 100)
    assert scopes_at_most("jam", NOW) == 100
    assert scopes_at_most("harbour zebra kumquat jam", NOW) >= 50


def test_it_asks_as_many_questions_however_much_there_is(shelf):
    def asked() -> int:
        with CaptureQueriesContext(connection) as queries:
            assert found(shelf, "kumquat jam", "a", "b")
        return len(queries)

    shelf.put("kumquat jam")
    asked()
    few = asked()
    shelf.put(*("kumquat jam" for _ in range(50)), scope="b")
    assert asked() == few <= 3
