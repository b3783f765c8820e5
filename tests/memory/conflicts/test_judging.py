"""The rules over two statements, on examples in several languages."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from memory.conflicts import Rule, Told, judge, signatures
from memory.conflicts.relations import is_single
from tests.memory.conflicts.examples import CHANGES, CONFLICTS, DUPLICATES, NOTHING, UPDATES

pytestmark = pytest.mark.once  # rules over text

MARCH, MAY = datetime(2026, 3, 1, tzinfo=UTC), datetime(2026, 5, 1, tzinfo=UTC)


def label(first: str, second: str, kind: str = "facts") -> str:
    found = judge(Told(kind, None, first), Told(kind, None, second))
    return found.label.value if found is not None else "none"


def both_ways(first: str, second: str) -> set[str]:
    return {label(first, second), label(second, first)}


def test_it_works():
    found = judge(Told("facts", None, "Keep 37 snapshots."), Told("facts", None, "Keep １５ snapshots!"))
    assert found is not None
    assert (found.rule, found.explanation) == (Rule.NUMBER, "They differ in a number: “37” and “１５”.")
    (place,) = found.differences
    assert ("Keep 37 snapshots."[slice(*place.first)], "Keep １５ snapshots!"[slice(*place.second)]) == ("37", "１５")
    assert place.kind == "number"


@pytest.mark.parametrize(("first", "second"), CONFLICTS)
def test_a_contradiction_is_told_whichever_came_first(first, second):
    assert both_ways(first, second) == {"conflict"}


@pytest.mark.parametrize(("first", "second"), UPDATES)
def test_another_number_date_or_negation_is_an_update(first, second):
    """Field report A8."""
    assert both_ways(first, second) == {"update"}


@pytest.mark.parametrize(("first", "second"), CHANGES)
def test_a_change_that_the_second_tells_is_an_update(first, second):
    assert label(first, second) == "update"


@pytest.mark.parametrize(("first", "second"), DUPLICATES)
def test_the_same_in_almost_the_same_words_is_a_near_duplicate(first, second):
    assert both_ways(first, second) == {"near_duplicate"}


@pytest.mark.parametrize(("first", "second"), NOTHING)
def test_what_may_both_stand_is_left_alone(first, second):
    assert both_ways(first, second) == {"none"}


@pytest.mark.parametrize(("first", "second"), [*CONFLICTS, *UPDATES, *DUPLICATES])
def test_what_belongs_together_meets_by_a_signature(first, second):
    assert set(signatures(Told("facts", None, first), 1)) & set(signatures(Told("facts", None, second), 1))
    assert not set(signatures(Told("facts", None, first), 1)) & set(signatures(Told("facts", None, second), 2))


@pytest.mark.parametrize("kind", ["tasks", "cases", "events", "entities", "profile"])
def test_only_statements_are_compared_by_what_they_claim(kind):
    assert label("The port is 1.", "The port is 2.", kind) == "none"


def test_what_holds_at_other_times_is_no_contradiction():
    first = Told("facts", None, "The default database is MySQL.", valid_to=MARCH)
    assert judge(first, Told("facts", None, "The default database is Postgres.", valid_from=MAY)) is None
    later = Told("facts", None, "The default database is Postgres.", valid_from=MAY)
    found = judge(Told("facts", None, "The default database is MySQL.", valid_from=MARCH), later)
    assert found is not None
    assert found.rule is Rule.CHANGED


@pytest.mark.parametrize(
    "text", ["", " ", "的", "the", "。", "5", "不", "\u200b", "a" * 50_000, "五" * 3_000, "(" * 500]
)
def test_text_of_any_kind_is_read(text):
    told = Told("facts", None, text)
    assert judge(told, Told("facts", None, "The port is 5432.")) is None
    assert len(signatures(told, 1)) <= 18


@pytest.mark.parametrize(
    ("predicate", "single"),
    [("lives_in", True), ("works-at", True), ("住在", True), ("Reports To", True), ("likes", False), ("speaks", False),
     ("member_of", False), ("uses", False), ("knows of", False), ("喜欢", False)],
)  # fmt: skip
def test_predicates_that_take_one_object(predicate, single):
    assert is_single(predicate) is single
