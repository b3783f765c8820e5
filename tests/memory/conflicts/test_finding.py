"""Conflicts are found when a memory is written, on a real database."""

from __future__ import annotations

from tests.conftest import TEAM
from tests.memory.talk import commit, compose, context, decision

SHOP = context("project:shop")


def tell(cast, text, key, **fields):
    return commit(cast.agent, scopes=SHOP, decisions=[decision(text, f"decision:shop:{key}", **fields)])


def listed(player, **fields):
    return player.do("list_conflicts", domain_id=TEAM, **fields)["conflicts"]


def test_it_works(cast):
    first = tell(cast, "The default database is Postgres.", "db")
    assert first["memory_written"]["found"] == []
    answer = tell(cast, "The default database is MySQL.", "default-db")
    (found,) = answer["memory_written"]["found"]
    assert (found["rule"], found["severity"], found["state"]) == ("other_object", "high", "open")
    assert found["a_statement"] == "The default database is Postgres."
    (row,) = listed(cast.agent)
    assert (row["a"]["statement"], row["b"]["key"]) == (
        "The default database is Postgres.",
        "decision:shop:default-db",
    )
    assert [each["id"] for each in search_all(cast)["conflicts"]] == [row["id"]]
    assert [each["id"] for each in compose(cast.agent, "Which database?", scope_context=SHOP)["conflicts"]] == [
        row["id"]
    ]
    assert answer["explain"]["warnings"] == [f"other_object:{row['explanation']}"]


def search_all(cast):
    return cast.agent.do(
        "search_memory", {"domain_id": TEAM, "session_id": "s1", "query": "database", "scope_context": SHOP}
    )
