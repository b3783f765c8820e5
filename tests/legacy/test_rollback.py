"""Rollback rehearsed: the older application reads on as before from the untouched source, and what was committed here
since can be put into a copy of it and read there by the very same statements."""

from __future__ import annotations

from io import StringIO

import psycopg
from django.core.management import call_command

from tests.conftest import Player
from tests.legacy.judging import move
from tests.legacy.sources import clean
from tests.legacy.sources.databases import Source, source

# What the older application asks: all turns of a session, its newest messages, its active memories, its summary.
OLDER_READS = {
    "turns": "SELECT id, seq FROM turns WHERE session_id = %s ORDER BY seq",
    "messages": "SELECT t.seq, m.role, m.content FROM messages m JOIN turns t ON t.id = m.turn_id "
    "WHERE t.session_id = %s ORDER BY t.seq, m.created_at, m.id",
    "memories": "SELECT type, key, value_json, confidence, status FROM memory_items WHERE session_id = %s AND status = 'active' "
    "ORDER BY type, key, updated_at",
    "refs": "SELECT r.ref_type, r.ref_uri FROM refs r JOIN turns t ON t.id = r.turn_id WHERE t.session_id = %s ORDER BY t.seq",
    "summary": "SELECT summary_text, summary_version FROM summaries WHERE session_id = %s",
}


def older_reads(made: Source, session: str) -> dict[str, list[tuple[object, ...]]]:
    with psycopg.connect(made.url) as connection:
        return {name: connection.execute(sql, [session]).fetchall() for name, sql in OLDER_READS.items()}


def exported() -> str:
    out = StringIO()
    call_command("export_legacy", stdout=out, stderr=StringIO())
    return out.getvalue()


def test_it_works(postgres: str, older: Player) -> None:
    rows, talks = clean(2, 13)
    with source(postgres, rows) as made, source(postgres, rows) as copy:
        before = {talk.session: older_reads(made, talk.session) for talk in talks}
        digests = made.digests()
        move(made)
        old = older.do(
            "commit_turn",
            session_id=talks[0].session,
            turn_events={
                "messages": [{"role": "user", "content": "After the move: the harbor closes at nine 搬家之后"}],
                "decisions": [{"key": "decision:harbor:closing", "decision": "The harbor closes at nine"}],
                "refs": [{"ref_type": "file", "ref_uri": "docs/harbor.md"}],
            },
        )
        older.do(
            "commit_turn",
            session_id="opened here",
            turn_events={"messages": [{"role": "user", "content": "A new talk"}]},
        )
        # the older application goes back to work on the source: nothing there is other than it was
        assert {talk.session: older_reads(made, talk.session) for talk in talks} == before
        assert made.digests() == digests
        # what was committed here since goes into a copy, twice, and is read there as any other turn
        text = exported()
        for _ in range(2):
            with psycopg.connect(copy.url, autocommit=True) as connection:
                connection.execute(text)
        after = older_reads(copy, talks[0].session)
        assert after["turns"] == [*before[talks[0].session]["turns"], (old["turn_id"], 14)]
        assert after["messages"][:-1] == before[talks[0].session]["messages"]
        assert after["messages"][-1] == (14, "user", "After the move: the harbor closes at nine 搬家之后")
        assert after["refs"][-1] == ("file", "docs/harbor.md")
        assert "decision:harbor:closing" in [row[1] for row in after["memories"]]
        assert [row for row in after["memories"] if row in before[talks[0].session]["memories"]] == before[
            talks[0].session
        ]["memories"]
        assert older_reads(copy, "opened here")["messages"] == [(1, "user", "A new talk")]
        assert older_reads(copy, talks[1].session) == before[talks[1].session]


def test_nothing_committed_since_is_nothing_to_bring_back(postgres: str, older: Player) -> None:
    rows, _ = clean(1, 3)
    with source(postgres, rows) as made, source(postgres, rows) as copy:
        move(made)
        with psycopg.connect(copy.url, autocommit=True) as connection:
            connection.execute(exported())
        assert copy.digests() == made.digests()


def test_what_was_brought_back_comes_again_as_known(postgres: str, older: Player) -> None:
    """Forward once more: the rows that went back are moved in again as the very same, and nothing is told twice."""
    rows, talks = clean(1, 3)
    with source(postgres, rows) as made:
        move(made)
        older.do(
            "commit_turn",
            session_id=talks[0].session,
            turn_events={"messages": [{"role": "user", "content": "Since then"}]},
        )
        with psycopg.connect(made.url, autocommit=True) as connection:
            connection.execute(exported())
        move(made)
    turns = older.do("list_turns", session_id=talks[0].session)["turns"]
    assert [turn["seq"] for turn in turns] == [1, 2, 3, 4]
    assert [message["content"] for message in turns[-1]["messages"]] == ["Since then"]
