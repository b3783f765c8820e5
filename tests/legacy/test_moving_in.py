"""The older SmartBrain moves in: every row has its fate, and reads here as if it had been committed here."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from io import StringIO
from pathlib import Path

from django.core.management import call_command

from legacy.models import MigratedRow, MigrationRun
from memory.models import Entity, KgEdge, MemoryItem, Session, Turn
from scopes.contracts import LEGACY_DOMAIN
from scopes.models import Principal
from tests.conftest import Player, make_agent
from tests.legacy.judging import faults, move
from tests.legacy.sources import clean, dirty, everything, schema
from tests.legacy.sources.databases import Source, source

STEPS = (
    "domains,memory_scopes,sessions,session_scope_links,turns,memory_items,entities,entity_mentions,summaries,kg_edges,"
    "knowledge_events"
)
BRAIN = tuple(name for name in (*schema.TABLES_0_1, *schema.TABLES_0_2) if name not in schema.DERIVED)


@contextmanager
def a_dirty_one(postgres: str) -> Iterator[Source]:
    rows, _, manifest = dirty()
    with source(postgres, rows, manifest) as made:
        yield made


def test_it_works(older: Player, postgres: str):
    with a_dirty_one(postgres) as made:
        figures = move(made, "--only", STEPS)
        wrong = faults(made, tuple(name for name in schema.TABLES_0_1 if name not in schema.DERIVED))
    assert not wrong, "\n".join(map(str, wrong))
    assert figures["tables"]["messages"]["migrated"] > 100
    assert MigrationRun.objects.get().state == "finished"


def test_0_2_moves_in_with_its_scopes(older: Player, postgres: str, tmp_path: Path):
    rows, _, manifest = everything(tmp_path / "media")
    with source(
        postgres, rows, manifest, schema.BRAIN_0_1 + schema.BRAIN_0_2 + schema.RAG_EARLY + schema.RAG_LATE
    ) as made:
        move(made, "--only", STEPS)
        wrong = faults(made, BRAIN)
    assert not wrong, "\n".join(map(str, wrong))


def test_the_size_of_a_batch_changes_nothing(older: Player, postgres: str):
    with a_dirty_one(postgres) as made:
        move(made, "--only", STEPS, "--batch", "5")
        wrong = faults(made, tuple(name for name in schema.TABLES_0_1 if name not in schema.DERIVED))
    assert not wrong, "\n".join(map(str, wrong))
    for turn in Turn.objects.prefetch_related("messages", "tool_calls", "refs"):
        for parts in (turn.messages, turn.tool_calls, turn.refs):
            assert [row.position for row in parts.all()] == list(range(parts.count()))


def test_a_second_run_changes_nothing(older: Player, postgres: str):
    with a_dirty_one(postgres) as made:
        first = move(made, "--only", STEPS)
        before = list(MigratedRow.objects.order_by("id").values())
        second = move(made, "--only", STEPS)
    assert list(MigratedRow.objects.order_by("id").values()) == before
    for table, counts in second["tables"].items():
        assert "migrated" not in counts
        assert counts.get("unchanged", 0) == first["tables"][table].get("migrated", 0)


def test_a_dry_run_stores_nothing(older: Player, postgres: str):
    with a_dirty_one(postgres) as made:
        figures = move(made, "--only", STEPS, "--dry-run")
    assert figures["tables"]["messages"]["migrated"] > 100
    assert not any(
        model.objects.exists() for model in (MigratedRow, MigrationRun, Session, Turn, MemoryItem, Entity, KgEdge)
    )


def told(made: Source, *arguments: str) -> str:
    """What a run without --owner says to people, refusals too."""
    out, err = StringIO(), StringIO()
    try:
        call_command("migrate_legacy", "--from", made.url, *arguments, stdout=out, stderr=err)
    except SystemExit:
        assert not MigrationRun.objects.exists()
    return out.getvalue() + err.getvalue()


def test_whose_it_becomes_is_guessed_only_where_one_qualifies_and_always_said(db: None, postgres: str):
    rows, _ = clean(sessions=1, turns=1)
    with source(postgres, rows) as made:
        assert "create_principal" in told(made)
        assert not Principal.objects.exists()
        owner = make_agent("the-app", LEGACY_DOMAIN)
        make_agent("elsewhere")
        assert "would become the-app's" in told(made, "--dry-run")
        make_agent("another", LEGACY_DOMAIN)
        said = told(made)
        assert "another, the-app" in said
        assert "--owner" in said
        assert "became the-app's" in told(made, "--owner", "the-app")
    assert Session.objects.get().scope.owner == owner.identity.actor.id


def test_it_is_read_through_the_doors(older: Player, postgres: str):
    rows, talks = clean(sessions=2)
    with source(postgres, rows) as made:
        move(made, "--only", STEPS)
    talk = talks[0]
    listed = older.do("list_turns", session_id=talk.session, limit=100)["turns"]
    assert [turn["turn_id"] for turn in listed] == [turn["id"] for turn in talk.turns]
    said = [row for row in rows["messages"] if row["turn_id"] == talk.turns[0]["id"]]
    assert [message["message_id"] for message in listed[0]["messages"]] == [row["id"] for row in said]
    assert [message["content"] for message in listed[0]["messages"]] == [row["content"] for row in said]
    found = older.do("search_memory", session_id=talk.session, query=said[0]["content"], kinds=["message"], limit=50)[
        "results"
    ]
    assert said[0]["id"] in [row["ref"]["message_id"] for row in found]
    item = next(row for row in rows["memory_items"] if row["session_id"] == talk.session and row["status"] == "active")
    answer = older.do("get_memory_item", id=item["id"])
    assert answer["item"]["key"] == item["key"]
    assert answer["history"][-1]["kind"] == "migrated"
    listed_items = older.do("list_memory_items", scope={"type": "session", "id": talk.session}, limit=100)["items"]
    assert item["id"] in [row["id"] for row in listed_items]
    package = older.do("compose_context", session_id=talk.session, user_message="What now?")
    assert package["recent_turns"][-1]["content"] == rows_of(rows, talk.turns[-1]["id"])[-1]
    assert (
        older.do(
            "commit_turn", session_id=talk.session, turn_events={"messages": [{"role": "user", "content": "Go on."}]}
        )["seq"]
        == len(talk.turns) + 1
    )


def rows_of(rows, turn: str) -> list[str]:
    return [row["content"] for row in rows["messages"] if row["turn_id"] == turn]
