"""What the command refuses, each in one sentence that says what to do, and with nothing stored."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from legacy.models import MigratedRow, MigrationRun
from memory.models import Message
from scopes.models import Principal
from scripts.postgres import free_port
from tests.conftest import TEAM, Player, make_agent
from tests.legacy.judging import move, refused
from tests.legacy.sources import clean
from tests.legacy.sources.databases import Source, source
from tests.legacy.sources.rows import Rows
from tests.legacy.test_source_untouched import reader


@pytest.fixture
def made(postgres: str) -> Iterator[Source]:
    with source(postgres, clean(1, 1)[0]) as held:
        yield held


def test_it_works(made: Source, older: Player) -> None:
    move(made)
    assert Message.objects.count() == 2


@pytest.mark.parametrize(
    ("arguments", "word"),
    [
        (("--only", "messages-and-more"), "no step"),
        (("--batch", "0"), "--batch"),
        (("--batch", "10001"), "--batch"),
        (("--batch", "many"), "--batch"),
        (("--media-root", "/no/such/folder"), "no folder"),
        (("--media-root", __file__), "no folder"),
    ],
)
def test_an_option_out_of_bounds(made: Source, older: Player, arguments: tuple[str, ...], word: str) -> None:
    assert word in refused(made.url, *arguments)
    assert MigrationRun.objects.count() == 0


@pytest.mark.parametrize(
    "address", ["", "no address", "sqlite:///brain.sqlite3", "mysql://root@127.0.0.1/brain", "http://x"]
)
def test_an_address_that_is_none(older: Player, address: str) -> None:
    said = refused(address)
    assert "postgres" in said.lower()
    assert "Traceback" not in said


def test_a_server_that_is_not_there_and_no_word_of_the_password(older: Player) -> None:
    said = refused(f"postgresql://postgres:hunter2@127.0.0.1:{free_port()}/brain")
    assert "hunter2" not in said
    assert "127.0.0.1" in said


def test_a_database_that_is_not_there(made: Source, older: Player) -> None:
    said = refused(made.url.rpartition("/")[0] + "/no_such_database")
    assert "no_such_database" in said


def test_a_database_without_the_older_tables(postgres: str, older: Player) -> None:
    with source(postgres, Rows(1), ddl="CREATE TABLE other (id int)") as made:
        assert "no table" in refused(made.url)
    assert MigrationRun.objects.count() == 0


def test_an_owner_without_a_grant_in_legacy_or_who_is_nobody(made: Source, older: Player) -> None:
    make_agent("elsewhere", TEAM)
    assert "legacy" in refused(made.url, owner="elsewhere")
    assert "nobody" in refused(made.url, owner="nobody")
    assert not Principal.objects.filter(name="nobody").exists()
    assert Message.objects.count() == 0


def test_no_password_is_kept(made: Source, older: Player) -> None:
    with reader(made) as url:
        move(url)
    kept = str(list(MigrationRun.objects.values())) + str(list(MigratedRow.objects.values()))
    assert MigrationRun.objects.exists()
    assert "only reads" not in kept
    assert "only%20reads" not in kept


def test_tables_in_a_schema_of_their_own_are_found_when_it_is_named(
    made: Source, older: Player, tmp_path: Path
) -> None:
    with made.connect() as connection:
        connection.execute("ALTER SCHEMA public RENAME TO brain")
        connection.execute("CREATE SCHEMA public")
    assert "search path" in refused(made.url)
    move(made.url + "?options=-csearch_path%3Dbrain")
    assert Message.objects.count() == 2
