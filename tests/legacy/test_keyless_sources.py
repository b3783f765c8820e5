"""Sources whose tables have no primary keys: an id that is there twice is taken once, and the other row is kept aside whole."""

from __future__ import annotations

import re
from collections.abc import Iterator

import pytest

from legacy.models import MigratedRow
from legacy.services.validating import validate
from legacy.source import opened
from memory.models import Message, Session, Turn
from tests.conftest import Player
from tests.legacy.judging import move
from tests.legacy.snapshot import snapshot
from tests.legacy.sources import EVERYTHING, clean, schema
from tests.legacy.sources.databases import Source, source

# The same tables as COPY into a new database leaves them: no key, no constraint.
KEYLESS = re.sub(
    r",?\s*(UNIQUE|PRIMARY KEY) \([a-z_, ]+\)|PRIMARY KEY|REFERENCES \w+\(id\)( ON DELETE (CASCADE|SET NULL))?|UNIQUE(?! I)",
    "",
    EVERYTHING.replace("CREATE UNIQUE INDEX", "CREATE INDEX"),
)
SOME = "(SELECT id FROM {} ORDER BY id LIMIT 1)"


@pytest.fixture
def made(postgres: str, older: Player) -> Iterator[Source]:
    """A source without keys in which rows of five tables stand twice, some of them with other words."""
    with source(postgres, clean(1, 3)[0], ddl=KEYLESS) as there:
        with there.connect() as connection:
            for table in ("sessions", "turns", "messages", "memory_items", "entities"):
                connection.execute(f"INSERT INTO {table} SELECT * FROM {table} LIMIT 1")
            connection.execute(
                "INSERT INTO messages SELECT id, turn_id, role, content || ' and more', model, created_at, meta_json "
                "FROM messages ORDER BY id LIMIT 1"
            )
            connection.execute(
                "INSERT INTO turns (session_id, seq, created_at) VALUES ('nowhere', 7, now()), ('nowhere', 8, now())"
            )
        yield there


def test_it_works(made: Source) -> None:
    """No row is lost, none is taken twice, nothing that belongs to a row of the same id comes twice."""
    figures = move(made)
    with made.connect() as connection:
        for table in schema.TABLES_0_1[:4]:
            (rows,) = connection.execute(f"SELECT count(*) FROM {table}").fetchone() or (0,)
            assert MigratedRow.objects.filter(source_table=table).count() == rows == figures["tables"][table]["read"]
        (ids,) = connection.execute("SELECT count(DISTINCT id) FROM messages").fetchone() or (0,)
    assert (Session.objects.count(), Turn.objects.count(), Message.objects.count()) == (1, 3, ids)
    kept = MigratedRow.objects.filter(reason="duplicate")
    assert {row.source_table for row in kept} >= {"sessions", "turns", "messages", "memory_items", "entities"}
    assert all(row.content and "more than once" in row.note for row in kept if row.source_id.endswith(" (2)"))


def test_run_twice_nothing_changes_and_the_report_is_whole(made: Source) -> None:
    move(made)
    before = snapshot()
    again = move(made)
    assert snapshot() == before
    assert not [t for t, c in again["tables"].items() if c.get("migrated") or c.get("changed") or c.get("kept")]
    with opened(made.url) as there:
        report = validate(there, lambda *told: None)
    faults = {check.code for check in report.checks if check.fault and check.count}
    assert not faults & {"not_accounted", "gone_from_source", "source_changed"}


@pytest.mark.parametrize("size", ["1", "2"])
def test_the_batch_is_nothing_to_the_result(made: Source, size: str) -> None:
    move(made, "--batch", size)
    told = MigratedRow.objects.order_by("source_table", "source_id").values_list("source_table", "source_id", "reason")
    twice = [row for row in told if row[1].endswith(" (2)")]
    assert {row[2] for row in twice} == {"duplicate"}
    assert len(twice) >= 6


def test_rows_are_named_by_their_id_wherever_it_stands(made: Source) -> None:
    """The same is asked of all that reads them: what is joined, what comes, and what is looked for."""
    with made.connect() as connection:
        connection.execute(
            "CREATE TABLE loose (name text, id text); INSERT INTO loose VALUES ('a', '1'), ('a', '2'), ('b', '2')"
        )
        connection.execute("CREATE TABLE nameless (word text); INSERT INTO nameless VALUES ('x')")
    with opened(made.url) as there:
        assert [row.id for row in there.rows("loose")] == ["1", "2", "2 (2)"]
        assert there.among("loose", ["1", "2", "2 (2)", "a"]) == {"1", "2", "2 (2)"}
        joined = there.rows("loose", join="JOIN {loose} o ON o.id = r.id")
        assert [row.id for row in joined] == ["1", "2", "2 (2)"]
        assert [row.id for row in there.rows("nameless")] == ["x"]
        assert there.among("nameless", ["x", "y"]) == {"x"}
