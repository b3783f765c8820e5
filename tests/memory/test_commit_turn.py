from __future__ import annotations

import pytest

from kernel.errors import NotFoundError
from memory.models import Turn
from tests.conftest import a_turn


def test_it_works(cast):
    answer = cast.agent.do("commit_turn", a_turn("默认数据库是 Postgres"))
    assert (answer["ok"], answer["seq"], answer["stored"]["messages"]) == (True, 1, 1)
    found = cast.agent.do("search_memory", domain_id="team", session_id="s1", query="数据库")
    assert [r["text"] for r in found["results"]] == ["默认数据库是 Postgres"]
    turns = cast.agent.do("list_turns", domain_id="team", session_id="s1")["turns"]
    assert turns[0]["messages"][0]["content"] == "默认数据库是 Postgres"


def test_a_stranger_cannot_commit(cast):
    with pytest.raises(NotFoundError):
        cast.stranger.call("commit_turn", a_turn())
    assert not Turn.objects.exists()
