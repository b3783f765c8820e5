"""Searching what held when: history, the past, and windows of time (decision 18, field reports C and I)."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

from kernel import clock
from tests.memory.factories import made, scope_row
from tests.memory.talk import commit, decision, gone, memories, pref, search, task

NOW = datetime(2026, 12, 1, 9, tzinfo=UTC)


def at(hours: float):
    return clock.use(lambda: NOW + timedelta(hours=hours))


def instant(hours: float) -> str:
    return (NOW + timedelta(hours=hours)).isoformat()


def test_history_ranks_the_current_one_first(cast):
    for value in ("zebra one", "zebra two", "zebra three"):
        commit(cast.agent, preferences=[pref(value, "pref:other:animal")])
    rows = search(cast.agent, "zebra", history=True)
    assert [row["current"] for row in rows] == [True, False, False]
    assert rows[0]["text"] == "other animal: zebra three"


def test_a_candidate_that_was_replaced_never_counts_as_known(cast):
    """What was only inferred is no history and was never held."""
    scope = scope_row("session:s1")
    commit(cast.agent, say="hello")
    with at(0):
        made(
            scope,
            candidate=True,
            type="preferences",
            key="pref:other:animal",
            value={"scope": "other", "name": "animal", "value": "okapi"},
            recorded_at=NOW,
        )
    with at(1):
        commit(cast.agent, preferences=[pref("zebra", "pref:other:animal")])
        assert memories(cast.agent, "animal") == ["other animal: zebra"]
        assert memories(cast.agent, "okapi", history=True) == []
        assert memories(cast.agent, "okapi", as_of=instant(0.5)) == []


def test_it_works(cast):
    """Decision 18: one instant for both times."""
    with at(0):
        commit(cast.agent, preferences=[pref("zebra one", "pref:other:animal")])
    with at(1):
        commit(cast.agent, preferences=[pref("zebra two", "pref:other:animal")])
    with at(2):
        commit(cast.agent, retractions=[gone("preferences", "pref:other:animal")])
    with at(3):
        asked = {hours: search(cast.agent, "zebra", as_of=instant(hours)) for hours in (-1, 0, 0.5, 1, 1.5, 2, 3)}
    texts = {hours: [row["text"] for row in rows] for hours, rows in asked.items()}
    one, two = ["other animal: zebra one"], ["other animal: zebra two"]
    assert texts == {-1: [], 0: one, 0.5: one, 1: two, 1.5: two, 2: [], 3: []}
    assert [row["current"] for row in asked[0.5]] == [False]


def test_as_of_takes_each_time_by_itself(cast):
    with at(0):
        commit(
            cast.agent,
            decisions=[decision("Zebra freeze", "decision:s:z", valid_from=instant(24), valid_to=instant(48))],
        )
    with at(1):
        assert memories(cast.agent, "zebra") == []
        assert memories(cast.agent, "zebra", as_of={"valid": instant(25)}) == ["Zebra freeze"]
        assert memories(cast.agent, "zebra", as_of={"valid": instant(48)}) == []
        assert memories(cast.agent, "zebra", as_of={"recorded": instant(0.5)}) == []
        assert memories(cast.agent, "zebra", as_of={"valid": instant(25), "recorded": instant(0.5)}) == [
            "Zebra freeze"
        ]
        assert memories(cast.agent, "zebra", as_of={"valid": instant(25), "recorded": instant(-1)}) == []
    with at(30):
        assert memories(cast.agent, "zebra") == ["Zebra freeze"]


def test_as_of_holds_for_messages_too(cast):
    with at(0):
        commit(cast.agent, say="the zebra ran")
    with at(1):
        assert search(cast.agent, "zebra", as_of=instant(-0.5)) == []
        assert len(search(cast.agent, "zebra", as_of=instant(0.5))) == 1


def test_a_time_range_is_of_the_texts_own_time(cast):
    """Field report I2: since included, until not."""
    with at(0):
        commit(
            cast.agent,
            messages=[
                {"role": "user", "content": "zebra early", "created_at": instant(-48)},
                {"role": "user", "content": "zebra late", "created_at": instant(-1)},
            ],
            decisions=[decision("zebra choice", valid_from=instant(-24))],
        )
        window = {"since": instant(-48), "until": instant(-1)}
        assert {row["text"] for row in search(cast.agent, "zebra", time_range=window)} == {
            "zebra early",
            "zebra choice",
        }
        assert [row["text"] for row in search(cast.agent, "zebra", time_range={"since": instant(-1)})] == [
            "zebra late"
        ]


def test_an_instant_at_the_edge_of_time_is_no_error(cast):
    commit(cast.agent, tasks=[task("zebra", valid_from="0001-01-02T00:00:00Z", valid_to="9999-12-30T00:00:00Z")])
    assert memories(cast.agent, "zebra") == ["zebra — todo"]
    assert memories(cast.agent, "zebra", as_of={"valid": "0001-01-01T00:00:00Z"}) == []
    assert memories(cast.agent, "zebra", as_of={"valid": "9999-12-31T00:00:00Z"}) == []


@pytest.mark.parametrize(
    "asked", ["yesterday", "last week", "3 days ago", "last month", "two years ago", "上周", "999 weeks ago"]
)
@pytest.mark.parametrize("then", ["0001-01-01T00:00:00Z", "9999-12-31T23:59:59Z"])
def test_a_relative_day_beyond_the_calendar_names_no_day(cast, asked, then):
    commit(cast.agent, preferences=[pref("zebra", "pref:other:animal")])
    found = memories(cast.agent, f"what was the animal {asked}", as_of=then)
    assert found == (["other animal: zebra"] if then.startswith("9999") else [])


def venues(cast) -> None:
    """Adler from March on, then Post from June on, under one key; learned one after the other."""
    for hours, (name, since, until) in enumerate([("Adler", 10, 40), ("Post", 30, None)]):
        ends = {"valid_to": instant(until)} if until else {}
        with at(hours):
            commit(
                cast.agent, decisions=[decision(f"Venue {name}", "decision:s:v", valid_from=instant(since), **ends)]
            )


@pytest.mark.parametrize(
    ("as_of", "found"),
    [
        ({"valid": instant(20)}, ["Venue Adler"]),
        ({"valid": instant(20), "recorded": instant(2)}, ["Venue Adler"]),
        ({"valid": instant(29)}, ["Venue Adler"]),
        ({"valid": instant(30)}, ["Venue Post"]),
        ({"valid": instant(35)}, ["Venue Post"]),
        ({"valid": instant(35), "recorded": instant(0.5)}, ["Venue Adler"]),
        ({"valid": instant(45), "recorded": instant(0.5)}, []),
        ({"valid": instant(9)}, []),
        (instant(20), ["Venue Adler"]),
        (instant(2), []),
    ],
)
def test_a_version_answers_for_its_own_time_until_its_successor_begins(cast, as_of, found):
    venues(cast)
    with at(50):
        assert memories(cast.agent, "venue", as_of=as_of) == found
        assert memories(cast.agent, "venue") == ["Venue Post"]


def test_only_the_newest_is_current_of_versions_that_answer(cast):
    venues(cast)
    with at(50):
        (row,) = search(cast.agent, "venue", kinds=["memory"], as_of={"valid": instant(20)})
        assert row["current"] is False
        (row,) = search(cast.agent, "venue", kinds=["memory"], as_of={"valid": instant(35)})
        assert row["current"] is True


def test_what_was_retracted_answers_for_no_time(cast):
    venues(cast)
    with at(3):
        commit(cast.agent, retractions=[gone("decisions", "decision:s:v")])
    with at(50):
        assert memories(cast.agent, "venue", as_of={"valid": instant(20)}) == []
        assert memories(cast.agent, "venue", as_of={"valid": instant(35)}) == []


def test_a_correction_of_the_same_time_leaves_the_old_one_no_time(cast):
    venues(cast)
    with at(3):
        fixed = decision("Venue Krone", "decision:s:v", valid_from=instant(10))
        commit(cast.agent, decisions=[fixed])
    with at(50):
        assert memories(cast.agent, "venue", as_of={"valid": instant(20)}) == ["Venue Krone"]
        assert memories(cast.agent, "venue", as_of={"valid": instant(35)}) == ["Venue Krone"]


def test_what_a_value_without_a_time_replaced_answers_no_more(cast):
    with at(0):
        commit(cast.agent, preferences=[pref("zebra one", "pref:other:animal")])
    with at(1):
        commit(cast.agent, preferences=[pref("zebra two", "pref:other:animal")])
        assert memories(cast.agent, "zebra", as_of={"valid": instant(0.5)}) == ["other animal: zebra two"]
