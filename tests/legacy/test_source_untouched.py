"""The source is only read: nothing in it changes, nothing could, and what is written meanwhile is not half seen."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import psycopg
import pytest

import legacy.source
from legacy.contracts import SourceRow
from legacy.models import MigratedRow
from memory.models import Message
from tests.conftest import Player
from tests.legacy.judging import move, refused
from tests.legacy.sources import EVERYTHING, clean, dirty, everything
from tests.legacy.sources.databases import Source, source, tables

ALARM = """
CREATE FUNCTION alarm() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RAISE EXCEPTION 'the source was written'; END $$;
"""


def test_it_works(postgres: str, older: Player, tmp_path: Path) -> None:
    """Every digest is what it was, and a trigger that forbids every write was never met."""
    rows, _, manifest = everything(tmp_path / "media", 2)
    with source(postgres, rows, manifest, EVERYTHING) as made:
        arm(made)
        before = made.digests()
        files = {path: path.read_bytes() for path in (tmp_path / "media").rglob("*") if path.is_file()}
        move(made, media=tmp_path / "media")
        assert made.digests() == before
        assert {path: path.read_bytes() for path in (tmp_path / "media").rglob("*") if path.is_file()} == files


def test_the_alarm_can_be_met(postgres: str) -> None:
    with source(postgres, clean(1, 1)[0]) as made:
        arm(made)
        with made.connect() as connection, pytest.raises(psycopg.errors.RaiseException, match="was written"):
            connection.execute("DELETE FROM messages")


def test_an_account_that_may_only_read_is_enough(postgres: str, older: Player) -> None:
    rows, _, manifest = dirty(1)
    with source(postgres, rows, manifest) as made, reader(made) as url:
        move(url)
        told = set(MigratedRow.objects.filter(source_table="messages").values_list("source_id", flat=True))
        assert len(told) == len(made.ids("messages"))


def test_a_table_that_may_not_be_read_is_named(postgres: str, older: Player) -> None:
    with source(postgres, clean(1, 1)[0]) as made, reader(made) as url:
        with made.connect() as connection:
            role = url.split("//")[1].split(":")[0]
            connection.execute(f"REVOKE SELECT ON messages FROM {role}")
        said = refused(url)
    assert "messages" in said
    assert "GRANT SELECT" in said
    assert Message.objects.count() == 0


def test_what_is_written_meanwhile_is_seen_whole_or_not_at_all(
    postgres: str, older: Player, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A writer adds conversations for as long as the migration reads, one at least before each table: one snapshot has no
    turn without its messages."""
    rows, _, manifest = dirty(2)
    stop, wrote = threading.Event(), threading.Event()
    read = legacy.source.Source.rows

    def late(snapshot: legacy.source.Source, table: str, **how: Any) -> Iterator[SourceRow]:
        wrote.clear()
        assert wrote.wait(120)
        return read(snapshot, table, **how)

    monkeypatch.setattr(legacy.source.Source, "rows", late)
    with source(postgres, rows, manifest) as made:
        writer = threading.Thread(target=keep_writing, args=(made.url, stop, wrote), daemon=True)
        writer.start()
        try:
            assert wrote.wait(120)
            move(made, "--batch", "7")
        finally:
            stop.set()
            writer.join(120)
        written = [key for key in made.ids("sessions") if key.startswith("meanwhile-")]
    seen = {
        table: {key.removeprefix("m-").removeprefix("t-") for key in _told(table) if "meanwhile-" in key}
        for table in ("sessions", "turns", "messages")
    }
    assert seen["sessions"] == seen["turns"] == seen["messages"]
    assert 0 < len(seen["sessions"]) < len(written)
    assert not MigratedRow.objects.filter(outcome="quarantined", source_id__contains="meanwhile-").exists()


def _told(table: str) -> list[str]:
    return list(MigratedRow.objects.filter(source_table=table).values_list("source_id", flat=True))


def keep_writing(url: str, stop: threading.Event, wrote: threading.Event) -> None:
    """The older application at work: a session, a turn and a message in one transaction each."""
    number = 0
    with psycopg.connect(url) as connection:
        while not stop.is_set():
            name = f"meanwhile-{number:06}"
            connection.execute("INSERT INTO sessions VALUES (%s, now(), '{}')", [name])
            connection.execute("INSERT INTO turns VALUES (%s, %s, 1, now())", [f"t-{name}", name])
            connection.execute(
                "INSERT INTO messages VALUES (%s, %s, 'user', 'meanwhile', NULL, now(), '{}')",
                [f"m-{name}", f"t-{name}"],
            )
            connection.commit()
            wrote.set()
            number += 1
            stop.wait(0.005)


def arm(made: Source) -> None:
    """Let any write to any table of the source fail, whoever tries."""
    with made.connect() as connection:
        connection.execute(ALARM)
        for table in tables(connection):
            connection.execute(
                f"CREATE TRIGGER alarm BEFORE INSERT OR UPDATE OR DELETE ON {table} EXECUTE FUNCTION alarm()"
            )


@contextmanager
def reader(made: Source) -> Iterator[str]:
    """The address of the source for an account that has nothing but SELECT in it."""
    role = f"legacy_reader_{made.url.rpartition('_source_')[2]}"
    with made.connect() as connection:
        connection.execute(f"CREATE ROLE {role} LOGIN PASSWORD 'only reads'")
        connection.execute(f"GRANT SELECT ON ALL TABLES IN SCHEMA public TO {role}")
        info = connection.info
        try:
            yield f"postgresql://{role}:only%20reads@{info.host}:{info.port}/{info.dbname}"
        finally:
            connection.execute(f"DROP OWNED BY {role}")
            connection.execute(f"DROP ROLE {role}")
