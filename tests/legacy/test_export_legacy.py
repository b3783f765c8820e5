"""What was committed here since the migration goes back as rows of the older schema; what came from there does not."""

from __future__ import annotations

import io
import json
import stat
from pathlib import Path

import pytest
from django.core.management import CommandError, call_command

from governance import gate
from governance.gate import system_ctx
from kernel.context import Door
from kernel.errors import ForbiddenError, InvalidInputError, NotFoundError
from legacy.contracts.exporting import ExportNote, OlderRow
from legacy.management.older_sql import comment, statement
from legacy.services.migrating import Options, migrate
from legacy.services.owning import owner_named
from legacy.source import opened
from memory.models import MemoryItem, Message, Session, Summary, Turn
from scopes.contracts import LEGACY_DOMAIN
from scopes.selectors import identify_named
from tests.conftest import Player, a_turn, make_agent
from tests.guards.write_guard import unguarded
from tests.legacy.moving import came
from tests.legacy.sources import clean
from tests.legacy.sources.databases import source


@pytest.fixture
def agent(db) -> Player:
    return make_agent("older", LEGACY_DOMAIN, rights=["read", "write", "promote"])


def commit(agent: Player, session: str = "conv-1", /, text: str = "Hello.", **events: object) -> dict:
    return agent.do(
        "commit_turn",
        {
            "domain_id": LEGACY_DOMAIN,
            "session_id": session,
            "turn_events": {"messages": [{"role": "user", "content": text}], **events},
        },
    )


def pages(**given: object) -> list[dict]:
    """Every page of the export, as the operator."""
    found, cursor = [], None
    while True:
        tree = {**given, **({"cursor": cursor} if cursor else {})}
        found.append(gate.call("export_legacy", tree, ctx=system_ctx("tests", Door.PYTHON)).body())
        cursor = found[-1]["next_cursor"]
        if cursor is None:
            return found


def exported(**given: object) -> dict[str, list[dict]]:
    """The rows of every page by table."""
    tables: dict[str, list[dict]] = {}
    for page in pages(**given):
        for row in page["rows"]:
            tables.setdefault(row["table"], []).append(row["values"])
    return tables


def notes(**given: object) -> list[tuple[str, str]]:
    return [(note["code"], note["id"]) for page in pages(**given) for note in page["notes"]]


def test_it_works(agent):
    """A turn made here goes back whole, under the id that its conversation has in the older system."""
    commit(agent, text="This one came from there.")
    session, turn = Session.objects.get(), Turn.objects.get()
    came("sessions", session.pk, "conv-1")
    came("turns", turn.pk, "t-1")
    commit(
        agent,
        text="以后都用中文回复。",
        tool_calls=[{"name": "search", "args": {"q": "x"}, "result": [1], "status": "ok"}],
        refs=[{"ref_type": "url", "ref_uri": "https://example.org/a"}],
        decisions=[{"key": "decision:shop:default-database", "decision": "Use SQLite"}],
        entities=[{"key": "entity:repo:acme/shop"}],
    )
    found = exported()
    fresh = Turn.objects.get(seq=2)
    assert [row["id"] for row in found["sessions"]] == ["conv-1"]
    assert [(row["id"], row["session_id"], row["seq"]) for row in found["turns"]] == [(str(fresh.pk), "conv-1", 2)]
    assert [row["content"] for row in found["messages"]] == ["以后都用中文回复。"]
    assert found["tool_calls"][0] | {"id": "", "turn_id": "", "created_at": ""} == {
        "id": "",
        "turn_id": "",
        "name": "search",
        "args_json": {"q": "x"},
        "result_json": [1],
        "status": "ok",
        "created_at": "",
    }
    assert found["refs"][0]["ref_uri"] == "https://example.org/a"
    decision = next(row for row in found["memory_items"] if row["type"] == "decisions")
    assert decision["session_id"] == "conv-1"
    assert decision["status"] == "active"
    assert decision["source_turn_id"] == str(fresh.pk)
    assert {row["memory_item_id"] for row in found["memory_chunks"]} == {row["id"] for row in found["memory_items"]}
    assert {row["turn_id"] for row in found["entity_mentions"]} == {str(fresh.pk)}
    assert {row["entity_id"] for row in found["entity_mentions"]} == {row["id"] for row in found["entities"]}


def test_nothing_new_is_nothing_to_export(agent):
    commit(agent)
    came("sessions", Session.objects.get().pk, "conv-1")
    came("turns", Turn.objects.get().pk, "t-1")
    assert exported() == {}


@pytest.mark.parametrize("limit", [1, 2, 500])
def test_pages_of_any_size_hold_the_same(agent, limit):
    for number in range(5):
        commit(agent, f"conv-{number % 2}", decisions=[{"key": f"decision:shop:choice-{number}", "decision": "yes"}])
    found = exported(limit=limit)
    assert len(found["turns"]) == len(found["messages"]) == len(found["memory_items"]) == 5
    assert {row["session_id"] for row in found["turns"]} == {"conv-0", "conv-1"}


def test_an_item_that_was_replaced_here_is_named_with_what_would_say_so_there(agent):
    key = "task:shop:plan"
    commit(agent, tasks=[{"key": key, "title": "Plan", "status": "todo"}])
    old = MemoryItem.objects.get(key=key)
    for table, row in (("sessions", Session.objects.get()), ("turns", Turn.objects.get()), ("memory_items", old)):
        came(table, row.pk, f"it's {table}")
    commit(agent, tasks=[{"key": key, "title": "Plan", "status": "done"}])
    (note,) = [note for page in pages() for note in page["notes"]]
    assert (note["code"], note["id"]) == ("changed_here", str(old.pk))
    assert note["statement"] == (
        "UPDATE memory_items SET status = 'superseded' WHERE id = 'it''s memory_items' AND status = 'active';"
    )
    assert [row["value_json"]["status"] for row in exported()["memory_items"]] == ["done"]


@pytest.mark.parametrize("there", [True, False])
def test_a_newer_summary_goes_only_where_the_older_system_has_none(agent, there):
    commit(agent)
    session = Session.objects.get()
    came("sessions", session.pk, "conv-1")
    with unguarded():
        made = [
            Summary.objects.create(
                domain_id=LEGACY_DOMAIN,
                session=session,
                version=number,
                text=text,
                source_from=1,
                source_to=1,
                trigger="t",
            )
            for number, text in ((1, "older words"), (2, "newer words"))
        ]
    if there:
        came("summaries", made[0].pk, "conv-1")
        assert notes() == [("summary_kept", str(made[1].pk))]
        assert "summaries" not in exported()
    else:
        assert [row["summary_text"] for row in exported()["summaries"]] == ["newer words"]
        assert notes() == []


def test_a_candidate_does_not_go_where_it_would_be_shown_as_true(agent):
    commit(agent, decisions=[{"key": "decision:shop:tone", "decision": "Warm"}])
    item = MemoryItem.objects.get()
    agent.do(
        "demote",
        memory_item_id=str(item.pk),
        reason="not sure",
        reason_type="obsolete",
        evidence_refs=[{"kind": "message", "id": str(Message.objects.get().pk)}],
    )
    assert "memory_items" not in exported()
    assert notes() == [("not_trusted", str(item.pk))]


def test_two_conversations_of_one_name_do_not_become_one(agent, db):
    other = make_agent("another", LEGACY_DOMAIN)
    commit(agent, "conv-1", text="mine")
    commit(other, "conv-1", text="theirs")
    first, second = Session.objects.order_by("pk")
    found = exported()
    assert {row["session_id"] for row in found["turns"]} == {"conv-1", f"conv-1 {second.pk}"}
    assert notes() == [("renamed_session", str(second.pk))]
    came("sessions", second.pk, "conv-1")
    assert notes() == [("renamed_session", str(first.pk))]


def test_a_new_conversation_does_not_slip_into_one_of_the_older_system(agent):
    """Its own session of that name was not stored here: the name is taken there all the same."""
    commit(agent, "conv-9")
    came("sessions", "0199aaaa-0000-7000-8000-000000000000", "conv-9")
    session = Session.objects.get()
    assert [row["id"] for row in exported()["sessions"]] == [f"conv-9 {session.pk}"]


def test_relations_are_named_for_the_older_schema_has_no_place_for_them(agent):
    commit(agent, edges=[{"subject": "Mira", "predicate": "owns", "object": "shop"}])
    assert [code for code, _ in notes()] == ["relation"]


def test_another_domain_can_be_exported_and_only_it(agent, cast):
    commit(agent, "conv-1")
    cast.agent.do("commit_turn", a_turn(domain_id="team"))
    assert [row["id"] for row in exported(domain_id="team")["sessions"]] == ["s1"]


def test_only_operators_export(cast):
    commit(make_agent("older", LEGACY_DOMAIN))
    for player in (cast.agent, cast.reviewer, cast.stranger):
        with pytest.raises((NotFoundError, ForbiddenError)):
            player.do("export_legacy", domain_id="team")


@pytest.mark.parametrize("cursor", ["x", "turns:x", "messages:", "items:0"])
def test_a_cursor_of_no_page_is_refused(db, agent, cursor):
    with pytest.raises(InvalidInputError):
        pages(cursor=cursor)


def run(*arguments: str) -> tuple[str, str]:
    out, err = io.StringIO(), io.StringIO()
    call_command("export_legacy", *arguments, stdout=out, stderr=err)
    return out.getvalue(), err.getvalue()


def test_the_command_writes_sql_in_one_transaction(agent):
    commit(agent, text="It's ready; DROP TABLE turns; --")
    text, said = run()
    lines = text.splitlines()
    assert lines[:3] == ["SET standard_conforming_strings = on;", "SET client_encoding = 'UTF8';", "BEGIN;"]
    assert lines[-1] == "COMMIT;"
    assert all(line.startswith("INSERT INTO ") and line.endswith(" ON CONFLICT DO NOTHING;") for line in lines[3:-1])
    assert "'It''s ready; DROP TABLE turns; --'" in text
    assert "1 sessions, 1 turns, 1 messages" in said


def test_the_command_writes_json_lines(agent):
    for number in range(3):
        commit(agent, text=f"第{number}")
    text, _ = run("--format", "jsonl", "--batch", "1")
    rows = [json.loads(line) for line in text.splitlines()]
    assert [row["values"]["content"] for row in rows if row["table"] == "messages"] == ["第0", "第1", "第2"]
    assert len([row for row in rows if row["table"] == "sessions"]) == 1


def test_the_command_writes_a_file_that_only_its_owner_reads(agent, tmp_path: Path):
    commit(agent)
    run("--to", str(tmp_path / "since.sql"))
    assert stat.S_IMODE((tmp_path / "since.sql").stat().st_mode) == 0o600
    assert [path.name for path in tmp_path.iterdir()] == ["since.sql"]


def test_the_command_leaves_no_half_file(agent, tmp_path: Path):
    with pytest.raises(SystemExit):
        run("--to", str(tmp_path / "since.sql"), "--domain", "nowhere")
    assert list(tmp_path.iterdir()) == []
    with pytest.raises(CommandError, match="cannot be written"):
        run("--to", str(tmp_path / "no" / "since.sql"))


@pytest.mark.parametrize(
    ("values", "sql"),
    [
        ({"id": "a'b"}, "INSERT INTO messages (id) VALUES ('a''b') ON CONFLICT DO NOTHING;\n"),
        ({"model": None}, "INSERT INTO messages (model) VALUES (NULL) ON CONFLICT DO NOTHING;\n"),
        (
            {"meta_json": {"a": "it's"}},
            "INSERT INTO messages (meta_json) VALUES ('{\"a\": \"it''s\"}'::jsonb) ON CONFLICT DO NOTHING;\n",
        ),
        ({"content": "a\nb\\"}, "INSERT INTO messages (content) VALUES ('a\nb\\') ON CONFLICT DO NOTHING;\n"),
        ({"confidence": 0.8}, "INSERT INTO messages (confidence) VALUES (0.8) ON CONFLICT DO NOTHING;\n"),
        ({"result_json": None}, "INSERT INTO messages (result_json) VALUES ('null'::jsonb) ON CONFLICT DO NOTHING;\n"),
    ],
)
def test_values_are_written_as_the_older_database_takes_them(values, sql):
    assert statement(OlderRow(table="messages", values=values)) == sql


def test_a_turn_takes_the_next_free_place():
    sql = statement(OlderRow(table="turns", values={"id": "t", "session_id": "s's", "seq": 3}))
    assert "greatest(3, (SELECT coalesce(max(seq), -1) + 1 FROM turns WHERE session_id = 's''s'))" in sql


def test_no_name_ends_a_comment():
    note = ExportNote(code="x", table="t", id="1", what="a\nDROP TABLE turns;\u2028b\r\x85c", statement="UPDATE\nt;")
    assert all(line.startswith("-- ") for line in comment(note).splitlines())
    assert len(comment(note).splitlines()) == 2


def test_messages_keep_their_order_by_id(agent):
    agent.do(
        "commit_turn",
        {
            "domain_id": LEGACY_DOMAIN,
            "session_id": "conv-1",
            "turn_events": {"messages": [{"role": "user", "content": str(n)} for n in range(20)]},
        },
    )
    rows = exported()["messages"]
    assert [row["content"] for row in sorted(rows, key=lambda row: (row["created_at"], row["id"]))] == [
        row.content for row in Message.objects.order_by("position")
    ]


def test_the_older_database_takes_it_twice_and_goes_on(db, postgres: str):
    """The rollback: what was committed since is applied to the older database, beside what it went on with meanwhile."""
    with source(postgres, clean(1, 3)[0]) as older, older.connect() as there:
        with opened(older.url) as snapshot:
            ctx = system_ctx("tests", Door.CLI)
            make_agent("legacy", "legacy")
            migrate(snapshot, owner_named(None), Options(), ctx, lambda *told: None)
        before = older.digests()
        session = older.rows["sessions"][0]["id"]
        identity = identify_named("legacy")
        assert identity is not None
        everything = {
            "messages": [{"role": "user", "content": "It's 上线; ' -- \\ {x} %s\n$1"}],
            "tool_calls": [{"name": "search", "status": "ok"}],
            "refs": [{"ref_type": "url", "ref_uri": "https://example.org/a"}],
            "tasks": [{"key": "task:shop:plan", "title": "Plan", "status": "todo"}],
            "entities": [{"key": "entity:repo:acme/shop"}],
        }
        for name in (session, "a new one"):
            Player("legacy", identity).do("commit_turn", session_id=name, turn_events=everything)
        assert older.digests() == before
        there.execute("INSERT INTO turns VALUES ('meanwhile', %s, 4, now())", [session])
        text, _ = run()
        there.execute(text.encode())
        once = older.digests()
        there.execute(text.encode())
        assert older.digests() == once
        seqs = "SELECT seq FROM turns WHERE session_id = %s ORDER BY seq"
        assert there.execute(seqs, [session]).fetchall() == [(1,), (2,), (3,), (4,), (5,)]
        said = "SELECT content FROM messages m JOIN turns t ON t.id = turn_id WHERE session_id = %s AND seq = 5"
        assert there.execute(said, [session]).fetchall() == [("It's 上线; ' -- \\ {x} %s\n$1",)]
        task = "SELECT session_id FROM memory_items WHERE key = 'task:shop:plan' ORDER BY session_id"
        assert there.execute(task).fetchall() == sorted([(session,), ("a new one",)])
