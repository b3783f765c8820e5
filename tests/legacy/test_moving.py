"""Moving a source in: every row is told of, the whole ones are here as they were, and a second run changes nothing."""

from __future__ import annotations

from pathlib import Path

import pytest

from legacy.models import MigratedRow, MigrationRun
from memory.models import Entity, KgEdge, MemoryItem, Message, Session
from tests.conftest import Player
from tests.legacy.comparing import differences
from tests.legacy.judging import faults, move, rivals_at_peace
from tests.legacy.snapshot import snapshot
from tests.legacy.sources import EVERYTHING, clean, dirty, everything, schema
from tests.legacy.sources.databases import source


def test_it_works(postgres: str, older: Player) -> None:
    rows, talks = clean()
    with source(postgres, rows) as made:
        figures = move(made)
        assert faults(made) == []
        assert differences(made) == []
    assert MigratedRow.objects.filter(outcome="quarantined").count() == 0
    assert Message.objects.count() == figures["tables"]["messages"]["migrated"] == 4 * 13 * 2
    assert set(Session.objects.values_list("domain_id", "scope__partition")) == {("legacy", older.identity.actor.id)}
    for talk in talks:
        said = older.do("list_turns", session_id=talk.session, limit=100)["turns"]
        assert [turn["seq"] for turn in said] == list(range(1, 14))
        wanted = [row for row in rows["messages"] if row["turn_id"] in {turn["id"] for turn in talk.turns}]
        got = [message for turn in said for message in turn["messages"]]
        assert [(m["message_id"], m["content"]) for m in got] == [(m["id"], m["content"]) for m in wanted]


def test_the_three_counts_are_zero(postgres: str, older: Player) -> None:
    rows, _, manifest = dirty()
    with source(postgres, rows, manifest) as made:
        move(made)
    for model in (MemoryItem, Entity, KgEdge):
        assert model.objects.exclude(scope__isnull=False, source_session__isnull=False).count() == 0
    assert MemoryItem.objects.count() > 0


def test_every_bad_row_is_in_the_quarantine_and_the_rest_is_whole(postgres: str, older: Player) -> None:
    rows, _, manifest = dirty()
    with source(postgres, rows, manifest) as made:
        move(made)
        assert "\n".join(map(str, faults(made))) == ""
        assert differences(made) == []


def test_everything_of_both_systems_moves(postgres: str, older: Player, tmp_path: Path) -> None:
    rows, _, manifest = everything(tmp_path / "media")
    with source(postgres, rows, manifest, EVERYTHING) as made:
        figures = move(made, media=tmp_path / "media")
        assert "\n".join(map(str, faults(made))) == ""
        assert differences(made) == []
        assert rivals_at_peace(made)
        for table in schema.DERIVED:
            assert figures["tables"][table].get("left_out") == len(made.ids(table)), table


@pytest.mark.parametrize("kind", ["0.1", "everything"])
def test_run_twice_nothing_changes(postgres: str, older: Player, tmp_path: Path, kind: str) -> None:
    media = tmp_path / "media"
    rows, _, manifest = dirty(2) if kind == "0.1" else everything(media, 2)
    with source(postgres, rows, manifest, schema.BRAIN_0_1 if kind == "0.1" else EVERYTHING) as made:
        move(made, media=media if kind == "everything" else None)
        before = snapshot()
        figures = move(made, media=media if kind == "everything" else None)
    assert snapshot() == before
    assert sum(counts.get("migrated", 0) for counts in figures["tables"].values()) == 0
    assert set(MigrationRun.objects.values_list("state", flat=True)) == {"finished"}


def test_a_dry_run_judges_every_row_and_stores_nothing(postgres: str, older: Player) -> None:
    rows, _, manifest = dirty(2)
    with source(postgres, rows, manifest) as made:
        before = snapshot()
        tried = move(made, "--dry-run")
        assert snapshot() == before
        assert MigratedRow.objects.count() == 0
        done = move(made)
    assert tried["dry_run"]
    assert tried["reasons"] == done["reasons"]
    assert {t: c.get("migrated") for t, c in tried["tables"].items()} == {
        t: c.get("migrated") for t, c in done["tables"].items()
    }


def test_the_batch_is_nothing_to_the_result(postgres: str, older: Player) -> None:
    """One row at a time comes to the same as all at once."""
    rows, _, manifest = dirty(1, 2)
    with source(postgres, rows, manifest) as made:
        move(made, "--batch", "1")
        assert "\n".join(map(str, faults(made))) == ""


def test_only_some_steps_at_a_time_come_to_the_same(postgres: str, older: Player) -> None:
    rows, _, manifest = dirty(1)
    with source(postgres, rows, manifest) as made:
        figures = move(made, "--only", "sessions")
        assert Session.objects.count() > 0
        assert Message.objects.count() == 0
        assert figures["tables"]["sessions"]["migrated"] == Session.objects.count()
        move(made)
        assert "\n".join(map(str, faults(made))) == ""


def test_what_came_to_the_source_since_is_taken_by_the_next_run(postgres: str, older: Player) -> None:
    rows, talks = clean(2)
    with source(postgres, rows) as made:
        move(made)
        with made.connect() as connection:
            connection.execute(
                "INSERT INTO turns VALUES ('11111111-1111-4111-8111-111111111111', %s, 14, now())", [talks[0].session]
            )
            connection.execute(
                "INSERT INTO messages VALUES ('22222222-2222-4222-8222-222222222222', "
                "'11111111-1111-4111-8111-111111111111', 'user', 'Said after the first run 后来', NULL, now(), '{}')"
            )
        figures = move(made)
    assert figures["tables"]["messages"]["migrated"] == 1
    said = older.do("list_turns", session_id=talks[0].session, newest_first=True, limit=1)["turns"][0]
    assert [message["content"] for message in said["messages"]] == ["Said after the first run 后来"]


def test_a_row_that_was_mended_in_the_source_leaves_the_quarantine(postgres: str, older: Player) -> None:
    rows, _, manifest = dirty(1)
    with source(postgres, rows, manifest) as made:
        move(made)
        held = MigratedRow.objects.filter(source_table="messages", reason="bad_time").count()
        with made.connect() as connection:
            connection.execute("UPDATE messages SET created_at = now() WHERE created_at = 'infinity'")
        move(made)
    assert held == 4
    assert MigratedRow.objects.filter(source_table="messages", reason="bad_time").count() == 3


def test_an_empty_source_is_moved_in_no_time(postgres: str, older: Player) -> None:
    rows, _ = clean(0)
    with source(postgres, rows) as made:
        figures = move(made)
    assert figures["rows"] == 0
    assert MigratedRow.objects.count() == 0


def test_an_unknown_column_goes_to_the_metadata(postgres: str, older: Player) -> None:
    rows, _ = clean(1, 1)
    ddl = (
        schema.BRAIN_0_1
        + "ALTER TABLE messages ADD mood text DEFAULT '高兴'; ALTER TABLE sessions ADD desk int DEFAULT 7"
    )
    with source(postgres, rows, ddl=ddl) as made:
        move(made)
    assert "高兴" in str(Message.objects.get(role="user").meta)
    assert "7" in str(Session.objects.get().metadata)
