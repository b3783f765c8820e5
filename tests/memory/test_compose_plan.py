"""The plan of a context: its purpose, its questions, its span of time, and whether documents are asked (specification 7.2)."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

from kernel import clock
from tests.memory.composing import IN_P, NOW, P, at, left_out, policy
from tests.memory.talk import commit, compose, context, decision, shown


@pytest.mark.parametrize(
    ("message", "purpose"),
    [
        ("请查资料并给引用", "research"),
        ("数据库用什么？请给引用", "research"),
        ("Why does the build fail with this error?", "debug"),
        ("总结一下", "summarize"),
        ("继续上次的任务", "continue_task"),
        ("Which database is it?", "qa"),
        ("hello there", "other"),
    ],
)
def test_the_purpose_comes_from_the_words(cast, message, purpose):
    """Cases 19, 20 and 28."""
    package = compose(cast.agent, message)
    assert package["debug"]["planner"]["purpose"] == purpose
    assert package["debug"]["planner"]["queries"][0] == {
        **package["debug"]["planner"]["queries"][0],
        "text": message,
        "weight": 1.0,
        "mode": "hybrid",
    }


def test_small_talk_asks_no_documents_and_says_so(cast):
    """Case 21."""
    package = compose(cast.agent, "hello there")
    assert "resource retrieval disabled: not needed" in package["debug"]["ignored"]
    assert package["debug"]["trace"]["plan_id"].startswith("disabled-")


@pytest.mark.parametrize(
    ("setting", "message", "reason"),
    [(False, "请查资料并给引用", "disabled by policy"), ("auto", "ok", "not needed")],
)
def test_the_reason_is_the_true_one(cast, setting, message, reason):
    """Case 23."""
    policy(cast, retrieval={"enable_resource_retrieval": setting})
    assert f"resource retrieval disabled: {reason}" in compose(cast.agent, message)["debug"]["ignored"]


def test_with_documents_wanted_and_no_store_memory_is_all(cast):
    """Cases 19, 22 and 23: switched on by the words, by a recent address, by policy."""
    for message in ("请查资料并给引用", "see https://example.com/a", "read docs/a.md"):
        ignored = compose(cast.agent, message)["debug"]["ignored"]
        assert "no document store is configured: memory only" in ignored
    policy(cast, retrieval={"enable_resource_retrieval": True})
    assert "no document store is configured: memory only" in compose(cast.agent, "hello there")["debug"]["ignored"]


def test_wider_questions_weigh_less_and_are_bounded(cast):
    """Case 25."""
    policy(cast, retrieval={"query_expansion": {"enabled": True, "max_queries": 3}})
    message = "Which alpha beta gamma delta ledger applies?"
    queries = compose(cast.agent, message)["debug"]["planner"]["queries"]
    assert [query["weight"] for query in queries] == [1.0, 0.8, 0.75][: len(queries)]
    assert len(queries) == 3
    assert len({query["text"] for query in queries}) == len(queries)
    policy(cast, retrieval={"query_expansion": {"enabled": False}})
    assert len(compose(cast.agent, message)["debug"]["planner"]["queries"]) == 1


@pytest.mark.parametrize("message", ["最近 zebra 进展", "zebra recently?"])
def test_recent_means_the_last_seven_days_of_the_injected_clock(cast, message):
    """Case 26, for memory as for messages."""
    scopes = context("project:p")
    with at(-24 * 9):
        commit(
            cast.agent,
            "old",
            scopes=scopes,
            say="zebra long ago",
            decisions=[decision("zebra plan A", "decision:z:a")],
        )
    with at(-24 * 2):
        commit(
            cast.agent,
            "new",
            scopes=scopes,
            say="zebra these days",
            decisions=[decision("zebra plan B", "decision:z:b")],
        )
    with at(0):
        assert set(shown(compose(cast.agent, message, **IN_P))) == {"zebra these days", "zebra plan B"}
        assert len(shown(compose(cast.agent, "zebra", **IN_P))) == 4


def test_yesterday_is_the_callers_day(cast):
    """Field report I2: 06:00 UTC of today is yesterday evening for one whose clock is 14 hours ahead at 23:00 UTC."""
    scopes = context("project:p")
    with clock.use(lambda: datetime(2026, 11, 30, 6, tzinfo=UTC)):
        commit(cast.agent, "old", scopes=scopes, say="zebra at six")
    with clock.use(lambda: datetime(2026, 11, 30, 23, tzinfo=UTC)):
        assert shown(compose(cast.agent, "zebra yesterday", **IN_P)) == []
        east = compose(cast.agent, "zebra yesterday", **IN_P, utc_offset_minutes=840)
        assert shown(east) == ["zebra at six"]


def test_what_the_time_of_the_question_leaves_out_is_named(cast):
    """The plan's filters, why they are there, and what they cut stand in the package."""
    old, new = NOW - timedelta(days=180), NOW - timedelta(days=1)
    said = [
        {"role": "user", "content": "the giraffe report was late", "created_at": old.isoformat()},
        {"role": "user", "content": "the giraffe report is done", "created_at": new.isoformat()},
    ]
    with at(0):
        commit(cast.agent, "s0", messages=said, scopes=P)
        package = compose(cast.agent, "最近 giraffe report", "s1", **IN_P)
        always = compose(cast.agent, "giraffe report", "s1", **IN_P)
    assert shown(package) == ["the giraffe report is done"]
    planner = package["debug"]["planner"]
    assert planner["global_filters"]["time_range"]["from"] < new.isoformat()
    assert any("time_range" in note for note in planner["notes"])
    (cut,) = left_out(package, "time_range")
    assert cut in {item["id"] for item in always["evidence"]}
    assert left_out(always, "time_range") == []
    assert always["debug"]["planner"]["global_filters"]["time_range"] is None
