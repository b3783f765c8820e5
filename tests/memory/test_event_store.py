"""The event store: one sequence a session, all or nothing, and everything kept as it was given."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest
from django.db import DatabaseError, connection
from django.db.models import F
from hypothesis import given, settings
from hypothesis import strategies as st

from kernel.errors import InvalidInputError, TooLargeError
from memory.models import Message, Ref, Session, ToolCall, Turn
from search.models import IndexEntry, Posting
from tests.conftest import TEAM, a_turn


def turns(cast, session_id: str = "s1", **fields: object) -> list[dict]:
    rows: list[dict] = cast.agent.do("list_turns", domain_id=TEAM, session_id=session_id, **fields)["turns"]
    return rows


def message(content: object = "x", **fields: object) -> dict:
    return {"role": "user", "content": content, **fields}


def nothing_stored() -> bool:
    return not any(model.objects.exists() for model in (Session, Turn, Message, ToolCall, Ref, IndexEntry, Posting))


EVERYTHING = {
    "messages": [
        message(
            "Hello",
            id="m-1",
            name="Ann",
            created_at="2020-02-29T10:00:00+08:00",
            model="m",
            meta={"b": [1, None], "a": "é"},
        ),
        message("", role="assistant"),
        message("数据库 🙂 \u202e visible", role="system"),
    ],
    "tool_calls": [
        {"name": "grep", "args": {"q": ["wombat"]}, "result": {"hits": 3}, "status": "ok", "id": "c-1"},
        {"name": "noop"},
    ],
    "refs": [{"ref_type": "url", "ref_uri": "https://example.com/quokka", "ref_meta_json": {"k": 1}, "id": "r-1"}],
}


def test_it_works(cast):
    answer = cast.agent.do("commit_turn", a_turn(turn_events=EVERYTHING))
    assert answer["stored"] == {"messages": 3, "tool_calls": 2, "refs": 1}
    assert answer["message_ids"][0] == "m-1"
    (turn,) = turns(cast)
    assert (turn["seq"], turn["author"], turn["turn_id"]) == (1, "agent", answer["turn_id"])
    first, empty, _ = turn["messages"]
    assert (first["message_id"], first["name"], first["model"], first["meta"]) == (
        "m-1",
        "Ann",
        "m",
        {"b": [1, None], "a": "é"},
    )
    assert first["created_at"] == "2020-02-29T02:00:00Z"
    assert empty["created_at"] == turn["created_at"]
    assert [row["content"] for row in turn["messages"]] == ["Hello", "", "数据库 🙂 \u202e visible"]
    assert [row["message_id"] for row in turn["messages"]] == answer["message_ids"]
    call, noop = turn["tool_calls"]
    assert (call["id"], call["args"], call["result"], call["status"]) == ("c-1", {"q": ["wombat"]}, {"hits": 3}, "ok")
    assert (noop["args"], noop["result"]) == (None, None)
    assert (turn["refs"][0]["id"], turn["refs"][0]["ref_meta_json"]) == ("r-1", {"k": 1})


def test_the_order_of_messages_is_kept(cast):
    given_order = [f"message {n}" for n in range(200)]
    cast.agent.do("commit_turn", a_turn(turn_events={"messages": [message(text) for text in given_order]}))
    assert [row["content"] for row in turns(cast)[0]["messages"]] == given_order


def test_the_sequence_counts_from_one_without_gap_over_refusals(cast):
    for n in range(3):
        cast.agent.do("commit_turn", a_turn(f"text {n}"))
        with pytest.raises(InvalidInputError):
            cast.agent.call("commit_turn", a_turn(turn_events={"messages": []}))
    assert [turn["seq"] for turn in turns(cast)] == [1, 2, 3]
    assert [turn["seq"] for turn in turns(cast, newest_first=True)] == [3, 2, 1]


def test_each_session_counts_by_itself(cast):
    for session in ("a", "b", "a"):
        cast.agent.do("commit_turn", a_turn(session_id=session))
    assert [turn["seq"] for turn in turns(cast, "a")] == [1, 2]
    assert [turn["seq"] for turn in turns(cast, "b")] == [1]


@pytest.mark.parametrize(
    "session", ["S1", "s1 ", "s1", "ｓ1", "s\u00e9", "se\u0301", "会话", "🙂", "a/b", "a:b", "*", "' OR 1=1 --", "%"]
)
def test_a_session_id_is_kept_in_the_callers_own_words(cast, session):
    if session != session.strip():
        with pytest.raises(InvalidInputError):
            cast.agent.call("commit_turn", a_turn(session_id=session))
        return
    cast.agent.do("commit_turn", a_turn(session_id="s-other"))
    assert cast.agent.do("commit_turn", a_turn(session_id=session))["seq"] == 1
    assert [row["session_id"] for row in cast.agent.do("list_sessions", domain_id=TEAM)["sessions"]] == [
        session,
        "s-other",
    ]
    assert len(turns(cast, session)) == 1


def test_turns_are_paged(cast):
    for n in range(7):
        cast.agent.do("commit_turn", a_turn(f"text {n}"))
    seen, cursor = [], None
    for _ in range(4):
        page = cast.agent.do("list_turns", domain_id=TEAM, session_id="s1", limit=2, cursor=cursor)
        seen += [turn["seq"] for turn in page["turns"]]
        cursor = page["next_cursor"]
    assert seen == [1, 2, 3, 4, 5, 6, 7]
    assert cursor is None


def test_a_failure_in_the_middle_leaves_nothing(cast):
    def broken(execute, sql, params, many, context):
        if "index_postings" in sql and sql.startswith("INSERT"):
            raise DatabaseError("disk full")
        return execute(sql, params, many, context)

    with connection.execute_wrapper(broken), pytest.raises(DatabaseError):
        cast.agent.call("commit_turn", a_turn(turn_events=EVERYTHING))
    assert nothing_stored()
    assert cast.agent.do("commit_turn", a_turn())["seq"] == 1


@pytest.mark.parametrize(
    "events",
    [
        {},
        {"messages": [], "tool_calls": [], "refs": []},
        {"messages": None},
        {"messages": {}},
        {"messages": [{}]},
        {"messages": [{"role": "user"}]},
        {"messages": [{"content": "x"}]},
        {"messages": [message(role="User")]},
        {"messages": [message(role="")]},
        {"messages": [message(role="x" * 33)]},
        {"messages": [message(content=5)]},
        {"messages": [message(content=None)]},
        {"messages": [message("a\x00b")]},
        {"messages": [message("a\ud800b")]},
        {"messages": [message(name="a\x00b")]},
        {"messages": [message(meta={"k": "\x00"})]},
        {"messages": [message(meta={"\x00": 1})]},
        {"messages": [message(meta={"k": float("nan")})]},
        {"messages": [message(meta={"k": 2**63})]},
        {"messages": [message(meta=[])]},
        {"messages": [message(name="x" * 201)]},
        {"messages": [message(model="x" * 201)]},
        {"messages": [message(id="x" * 201)]},
        {"messages": [message(id="")]},
        {"messages": [message(id=7)]},
        {"messages": [message(id="same"), message(id="same")]},
        {"messages": [message(created_at="2026-12-01T09:30:00")]},
        {"messages": [message(created_at="0001-01-01T00:00:00+23:59")]},
        {"messages": [message(created_at="9999-12-31T23:59:59-23:59")]},
        {"messages": [message(created_at=1764547200)]},
        {"messages": [message(colour="red")]},
        {"tool_calls": [{"name": ""}]},
        {"tool_calls": [{"args": {}}]},
        {"tool_calls": [{"name": "x" * 201}]},
        {"tool_calls": [{"name": "x", "status": "x" * 33}]},
        {"tool_calls": [{"name": "x", "id": "same"}, {"name": "y", "id": "same"}]},
        {"refs": [{"ref_type": "galaxy", "ref_uri": "x"}]},
        {"refs": [{"ref_type": "url"}]},
        {"refs": [{"ref_type": "url", "ref_uri": ""}]},
        {"refs": [{"ref_type": "url", "ref_uri": "x" * 2001}]},
        {
            "refs": [
                {"ref_type": "url", "ref_uri": "x", "id": "same"},
                {"ref_type": "url", "ref_uri": "y", "id": "same"},
            ]
        },
        {"messages": [message()], "tasks_": []},
        [],
        "messages",
    ],
)
def test_a_wrong_event_rejects_the_whole_turn(cast, events):
    with pytest.raises(InvalidInputError):
        cast.agent.call("commit_turn", a_turn(turn_events=events))
    assert nothing_stored()


@pytest.mark.parametrize(
    "events",
    [
        {"messages": [message() for _ in range(10_000)]},
        {"messages": [message() for _ in range(1_001)]},
        {"tool_calls": [{"name": "x"} for _ in range(1_001)]},
        {"refs": [{"ref_type": "url", "ref_uri": "x"} for _ in range(1_001)]},
        {"messages": [message("x" * 200_001)]},
        {"messages": [message("x" * 5_000_000)]},
        {"messages": [message("数" * 200_001)]},
        {"tool_calls": [{"name": "x", "result": "x" * 200_001}]},
        {"tool_calls": [{"name": "x", "args": {"a": ["x" * 200_001]}}]},
        {"messages": [message(meta={"k": "x" * 200_001})]},
        {"refs": [{"ref_type": "url", "ref_uri": "x", "ref_meta_json": {"k": "x" * 200_001}}]},
    ],
    ids=[
        "10000 messages",
        "1001 messages",
        "1001 calls",
        "1001 refs",
        "long",
        "5 MB",
        "long Han",
        "result",
        "args",
        "meta",
        "ref meta",
    ],
)
def test_over_a_limit_is_413_and_stores_nothing(cast, events):
    with pytest.raises(TooLargeError):
        cast.agent.call("commit_turn", a_turn(turn_events=events))
    assert nothing_stored()


def test_at_the_limits_everything_is_stored(cast):
    events = {
        "messages": [message("x") for _ in range(999)] + [message("y" * 200_000)],
        "tool_calls": [{"name": "x" * 200}],
        "refs": [{"ref_type": "file", "ref_uri": "x" * 2000}],
    }
    assert cast.agent.do("commit_turn", a_turn(turn_events=events))["stored"]["messages"] == 1_000
    assert len(turns(cast)[0]["messages"][-1]["content"]) == 200_000


def test_the_limits_are_settings(cast, settings):
    settings.SMARTBRAIN = replace(settings.SMARTBRAIN, max_items_per_commit=1, max_message_chars=3)
    assert cast.agent.do("commit_turn", a_turn("abc"))["ok"]
    with pytest.raises(TooLargeError, match="3 at most"):
        cast.agent.call("commit_turn", a_turn("abcd"))
    with pytest.raises(TooLargeError, match="1 at most"):
        cast.agent.call("commit_turn", a_turn(turn_events={"messages": [message("a"), message("b")]}))


@pytest.mark.parametrize(
    ("query", "text"), [("wombat", "grep"), ("quokka", "https://example.com/quokka"), ("grep", "grep")]
)
def test_tool_calls_and_refs_are_findable(cast, query, text):
    cast.agent.do("commit_turn", a_turn(turn_events=EVERYTHING))
    rows = cast.agent.do("search_memory", domain_id=TEAM, session_id="s1", query=query)["results"]
    assert len(rows) == 1
    assert text in rows[0]["text"]


def test_a_found_message_names_its_turn_and_its_own_id(cast):
    answer = cast.agent.do("commit_turn", a_turn(turn_events=EVERYTHING))
    (row,) = cast.agent.do("search_memory", domain_id=TEAM, session_id="s1", query="hello")["results"]
    assert row["ref"] == {**row["ref"], "turn_id": answer["turn_id"], "session_id": "s1", "message_id": "m-1"}
    assert (row["author"], row["event_time"]) == ("Ann", "2020-02-29T02:00:00Z")
    assert cast.agent.do("get_turn", turn_id=row["ref"]["turn_id"])["turn"]["seq"] == 1


@settings(max_examples=40)
@given(
    text=st.text(alphabet=st.characters(exclude_categories=["Cs"], exclude_characters="\x00"), max_size=200),
    meta=st.recursive(
        st.none() | st.booleans() | st.integers(-(2**63) + 1, 2**63 - 1)
        | st.text(alphabet=st.characters(exclude_categories=["Cs"], exclude_characters="\x00"), max_size=20),
        lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text("abc", max_size=3), inner, max_size=3),
        max_leaves=8,
    ),
)  # fmt: skip
def test_any_text_and_any_json_come_back_as_they_were(cast, text, meta):
    session = f"s-{Session.objects.count()}"
    cast.agent.do(
        "commit_turn", a_turn(session_id=session, turn_events={"messages": [message(text, meta={"m": meta})]})
    )
    (row,) = turns(cast, session)[0]["messages"]
    assert row["content"] == text
    assert json.dumps(row["meta"], sort_keys=True) == json.dumps({"m": meta}, sort_keys=True)


def test_a_session_of_very_many_turns_goes_on(cast):
    """The order of a session's texts in the index has room for as many turns as its counter."""
    from tests.guards.write_guard import unguarded

    cast.agent.do("commit_turn", a_turn("early"))
    with unguarded():
        Session.objects.update(last_seq=F("last_seq") + 600_000)
    assert cast.agent.do("commit_turn", a_turn("late"))["seq"] == 600_002
    rows = cast.agent.do("search_memory", domain_id=TEAM, session_id="s1", query="late")["results"]
    assert [row["text"] for row in rows] == ["late"]
