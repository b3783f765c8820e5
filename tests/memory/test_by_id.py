"""Reading a session or a turn by the server's own id."""

from __future__ import annotations

import pytest

from kernel.errors import NotFoundError
from tests.conftest import a_turn, make_agent


@pytest.fixture
def ids(cast) -> tuple[str, str]:
    cast.agent.do("commit_turn", a_turn("first"))
    turn = cast.agent.do("commit_turn", a_turn("second"))["turn_id"]
    return cast.agent.do("list_sessions", domain_id="team")["sessions"][0]["id"], turn


def test_it_works(cast, ids):
    session_id, turn_id = ids
    one = cast.agent.do("get_turn", turn_id=turn_id)
    assert (one["session"]["session_id"], one["turn"]["messages"][0]["content"]) == ("s1", "second")
    first = cast.reviewer.do("get_session", id=session_id, limit=1)
    assert [turn["seq"] for turn in first["turns"]] == [1]
    rest = cast.reviewer.do("get_session", id=session_id, limit=1, cursor=first["next_cursor"])
    assert ([turn["seq"] for turn in rest["turns"]], rest["next_cursor"]) == ([2], None)


def test_two_legacy_sessions_of_one_name_are_told_apart(cast):
    made = {}
    for name in ("one", "two"):
        agent = make_agent(name, "legacy")
        agent.do("commit_turn", a_turn(f"said by {name}", domain_id="legacy"))
        made[name] = agent.do("list_sessions")["sessions"][0]["id"]
    for name, session_id in made.items():
        turns = cast.operator.do("get_session", id=session_id)["turns"]
        assert turns[0]["messages"][0]["content"] == f"said by {name}"


def test_a_stranger_is_told_nothing(cast, ids):
    for action, fields in (("get_session", {"id": ids[0]}), ("get_turn", {"turn_id": ids[1]})):
        with pytest.raises(NotFoundError):
            cast.stranger.call(action, **fields)


def test_a_session_of_someone_else_needs_a_grant(cast, ids):
    peer = make_agent("peer", pattern="project:x")
    with pytest.raises(NotFoundError):
        peer.call("get_turn", turn_id=ids[1])
