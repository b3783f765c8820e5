"""Cases 55 and 56: calls that name a session only recall after the migration what the older system recalled before it,
and calls with scopes work beside them."""

from __future__ import annotations

from typing import Any

import pytest

from kernel.errors import NotFoundError
from memory.models import MemoryItem, Turn
from tests.conftest import Player, make_agent
from tests.legacy.judging import move
from tests.legacy.sources import EVERYTHING, clean
from tests.legacy.sources.brain import Talk
from tests.legacy.sources.databases import Source, source
from tests.legacy.sources.scoped import TEAM, widen

RECENT = 8
OVERWRITE = ("preferences", "goals", "tasks")


def recalled_before(made: Source, session: str, word: str) -> set[str]:
    """The memories that 0.1 recalled: active ones of the session whose key or value holds the word. Of several versions
    of one key it was to pick the newest."""
    with made.connect() as connection:
        found = connection.execute(
            """
            SELECT DISTINCT ON (type, key) id, lower(key || ' ' || value_json::text) LIKE '%%' || %s || '%%'
            FROM memory_items WHERE session_id = %s AND status = 'active' ORDER BY type, key, updated_at DESC, id DESC
            """,
            [word.lower(), session],
        )
        return {row_id for row_id, held in found if held}


def recent_before(made: Source, session: str, turns: int) -> list[tuple[str, str, str]]:
    """The messages of the newest turns as 0.1 gave them: the oldest first."""
    with made.connect() as connection:
        rows = connection.execute(
            """
            SELECT m.id, m.role, m.content FROM messages m JOIN turns t ON t.id = m.turn_id WHERE t.session_id = %s
            AND t.seq > (SELECT max(seq) FROM turns WHERE session_id = %s) - %s ORDER BY t.seq, m.created_at
            """,
            [session, session, turns],
        )
        return list(rows)


def summary_before(made: Source, session: str) -> str:
    with made.connect() as connection:
        row = connection.execute("SELECT summary_text FROM summaries WHERE session_id = %s", [session]).fetchone()
        return row[0] if row else ""


def recalled_now(agent: Player, session: str, word: str, **fields: Any) -> set[str]:
    """The memories that a call with a session only finds, page after page."""
    found: set[str] = set()
    cursor: dict[str, str] = {}
    while True:
        page = agent.do(
            "search_memory", session_id=session, query=word, kinds=["memory"], limit=100, **cursor, **fields
        )
        found |= {row["ref"]["item_id"] for row in page["results"]}
        if page["next_cursor"] is None:
            return found
        cursor = {"cursor": page["next_cursor"]}


def words_of(talk: Talk) -> list[str]:
    """Words that memories of the conversation hold, and one that none does."""
    return [talk.project, "postgres", "tone", "release", "slots", "mistaken", "nowhere", "简短", "索引", "发布"]


def test_it_works(postgres: str, older: Player) -> None:
    """Case 55: the answers of every session to every word are those of 0.1, and two sessions stay apart."""
    rows, talks = clean(4, 13)
    with source(postgres, rows) as made:
        move(made)
        compared = 0
        for talk in talks:
            for word in words_of(talk):
                before = recalled_before(made, talk.session, word)
                assert recalled_now(older, talk.session, word) == before, (talk.project, word)
                compared += len(before)
        assert compared > 50
        own = {
            talk.session: {row["id"] for row in rows["memory_items"] if row["session_id"] == talk.session}
            for talk in talks
        }
        for talk in talks:
            for other in talks:
                assert recalled_now(older, talk.session, other.project) <= own[talk.session]


def test_a_context_has_the_summary_and_the_newest_turns_that_it_had(postgres: str, older: Player) -> None:
    rows, talks = clean(2, 13)
    with source(postgres, rows) as made:
        move(made)
        for talk in talks:
            package = older.do(
                "compose_context", session_id=talk.session, user_message=f"{talk.project} uses Postgres 使用 Postgres"
            )
            shown = [(turn["message_id"], turn["role"], turn["content"]) for turn in package["recent_turns"]]
            assert len(shown) >= RECENT
            assert shown == recent_before(made, talk.session, 13)[-len(shown) :]
            assert package["working_summary"] == summary_before(made, talk.session) != ""
            active = {
                row["id"]
                for row in rows["memory_items"]
                if row["session_id"] == talk.session and row["status"] == "active"
            }
            shown_items = {row["ref"]["memory_item_id"] for row in package["evidence"]} - {None}
            standing = {block["source"]["memory_item_id"] for block in package["system_blocks"]} - {None}
            assert shown_items
            assert len(standing) >= 3  # profile, preference and goal of the session
            assert shown_items | standing <= active


def test_the_same_call_with_the_legacy_domain_and_scope_named_gives_the_same(postgres: str, older: Player) -> None:
    """Decision 17, over migrated data."""
    rows, talks = clean(2, 13)
    with source(postgres, rows) as made:
        move(made)
    for talk in talks:
        scope = {"type": "session", "id": talk.session}
        named = {"domain_id": "legacy", "scope_context": {"read": [scope], "default_write": scope}}
        for word in words_of(talk):
            assert recalled_now(older, talk.session, word, **named) == recalled_now(older, talk.session, word)


def test_a_stranger_recalls_nothing_of_it(postgres: str, older: Player) -> None:
    """Another key with a grant in `legacy` has sessions of its own, whatever it calls them."""
    other = make_agent("another", "legacy")
    rows, talks = clean(2, 13)
    with source(postgres, rows) as made:
        move(made)
    for talk in talks:
        assert recalled_now(other, talk.session, talk.project) == set()
        with pytest.raises(NotFoundError):
            other.do("list_turns", session_id=talk.session)
    assert other.do("list_sessions")["sessions"] == []


def test_a_migrated_session_goes_on(postgres: str, older: Player) -> None:
    """The next turn of an old conversation follows its last; an old preference gives way to a new one, and is its history."""
    rows, talks = clean(1, 13)
    talk = talks[0]
    with source(postgres, rows) as made:
        move(made)
    preference = {"key": "pref:writing:tone", "value": "terse", "confirmed": True}
    done = older.do(
        "commit_turn",
        session_id=talk.session,
        turn_events={"messages": [{"role": "user", "content": "Write tersely."}], "preferences": [preference]},
    )
    assert done["seq"] == 14
    was = next(
        row["id"] for row in rows["memory_items"] if row["key"] == "pref:writing:tone" and row["status"] == "active"
    )
    assert [row["previous_memory_item_id"] for row in done["memory_written"]["conflicts"]] == [was]
    assert MemoryItem.objects.get(pk=was).status == "superseded"
    assert MemoryItem.objects.filter(key="pref:writing:tone", current_until=None).count() == 1


def test_new_calls_with_scopes_work_beside_the_old(postgres: str, older: Player) -> None:
    """What is committed to a project is not in the old sessions' answers, and a context of both has both."""
    rows, talks = clean(2, 13)
    talk = talks[0]
    with source(postgres, rows) as made:
        move(made)
        project = {"type": "project", "id": "new"}
        own = {"type": "session", "id": talk.session}
        decision = {"key": "decision:new:db", "decision": f"{talk.project} moves to Valkey"}
        before = recalled_now(older, talk.session, talk.project)
        older.do(
            "commit_turn",
            session_id="a new conversation",
            scope_context={"read": [project], "default_write": project},
            turn_events={"decisions": [decision]},
        )
        assert (
            recalled_now(older, talk.session, talk.project)
            == before
            == recalled_before(made, talk.session, talk.project)
        )
    both = recalled_now(older, talk.session, talk.project, scope_context={"read": [project, own]})
    assert before < both
    assert len(both) == len(before) + 1


def test_what_was_scoped_stays_where_it_was(postgres: str, older: Player) -> None:
    """Case 56 of 0.2: rows that have a domain and scopes keep them, with their states; only trusted ones are recalled."""
    member = make_agent("member", TEAM)
    rows, talks = clean(3, 13)
    widen(rows, talks)
    with source(postgres, rows, ddl=EVERYTHING) as made:
        move(made, "--join-domains", TEAM)
    shop = {"type": "project", "id": "shop"}
    held = MemoryItem.objects.filter(key__startswith="decision:shop:").values_list("key", "lifecycle_status")
    assert set(held) == {
        ("decision:shop:currency", "promoted"),
        ("decision:shop:vat", "candidate"),
        ("decision:shop:coins", "demoted"),
        ("decision:shop:checks", "retired"),
    }
    assert set(
        MemoryItem.objects.filter(key__startswith="decision:shop:").values_list("domain_id", "scope__external_id")
    ) == {(TEAM, "shop")}
    package = member.do(
        "compose_context",
        domain_id=TEAM,
        scope_context={"read": [shop]},
        user_message="In which currency does the shop sell? kronor",
    )
    told = str(package["evidence"]) + str(package["system_blocks"])
    assert "kronor 店铺用克朗 currency" in told
    assert "克朗 vat" not in told
    with pytest.raises(NotFoundError):
        older.do("search_memory", domain_id=TEAM, scope_context={"read": [shop]}, query="kronor")
    assert recalled_now(older, talks[0].session, "kronor") == set()


@pytest.mark.parametrize("turns", [1, 3])
def test_every_turn_has_the_author_that_it_is_moved_for(postgres: str, older: Player, turns: int) -> None:
    rows, _ = clean(1, turns)
    with source(postgres, rows) as made:
        move(made)
    assert set(Turn.objects.values_list("author_id", flat=True)) == {older.identity.actor.id}
