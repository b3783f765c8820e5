"""A table is moved in from one database and for one owner: rows of another with the same ids are not taken for those."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from legacy.models import MigratedRow, MigrationRun
from legacy.services.validating import validate
from legacy.source import opened
from media.models import SourceDocument
from memory.models import Message, Session
from scopes.contracts import LEGACY_DOMAIN
from tests.conftest import Player, make_agent
from tests.legacy.judging import move, refused
from tests.legacy.sources import EVERYTHING, clean
from tests.legacy.sources.databases import Source, source
from tests.legacy.sources.library import collect
from tests.legacy.sources.rows import Rows


@pytest.fixture
def first(postgres: str, older: Player) -> Iterator[Source]:
    """A 0.1 that was moved in."""
    with source(postgres, clean(1, 2, 1)[0], ddl=EVERYTHING) as made:
        move(made)
        yield made


@pytest.fixture
def library(postgres: str) -> Iterator[Source]:
    """A SmartRAG in a database with empty tables of SmartBrain."""
    rows = Rows(5)
    collect(rows, 2, 2, None)
    with source(postgres, rows, ddl=EVERYTHING) as made:
        yield made


def test_it_works(first: Source, library: Source) -> None:
    """Two databases with different tables move in one after the other, each as often as one likes."""
    for _ in range(2):
        move(library)
        move(first)
    assert SourceDocument.objects.count() == 2
    assert {run.owner_id for run in MigrationRun.objects.all()} == {Session.objects.get().scope.owner}


def test_a_second_database_of_the_same_tables_is_refused(first: Source, postgres: str) -> None:
    before = MigrationRun.objects.count(), MigratedRow.objects.count(), Message.objects.count()
    with source(postgres, clean(1, 2, 2)[0]) as other:
        said = refused(other.url)
        assert "another database" in said
        assert "--same-source" in said
        assert refused(other.url, "--dry-run")
    assert (MigrationRun.objects.count(), MigratedRow.objects.count(), Message.objects.count()) == before


def test_the_same_database_by_another_address_and_a_restored_copy_are_taken(first: Source, postgres: str) -> None:
    assert move(first.url + "?application_name=again")["tables"]["messages"]["unchanged"] == 4
    with source(postgres, clean(1, 2, 1)[0]) as copy:
        assert move(copy, "--same-source")["tables"]["messages"]["unchanged"] == 4
        assert move(copy)["tables"]["messages"]["unchanged"] == 4


def test_another_owner_is_refused(first: Source) -> None:
    make_agent("somebody", LEGACY_DOMAIN)
    for arguments in ((), ("--same-source",)):
        assert "another principal" in refused(first.url, *arguments, owner="somebody")


def test_a_table_dropped_there_is_told_and_one_of_another_database_is_not(first: Source, library: Source) -> None:
    move(library)
    with library.connect() as connection:
        connection.execute("DROP TABLE section_tags")
    with first.connect() as connection:
        connection.execute("DROP TABLE source_sections CASCADE")
    for of, gone in ((library, {"section_tags"}), (first, set())):
        with opened(of.url) as snapshot:
            report = validate(snapshot, lambda *told: None)
        (check,) = [check for check in report.checks if check.code == "gone_from_source"]
        expected = MigratedRow.objects.filter(source_table__in=gone).count()
        assert {finding.source_table for finding in check.findings if finding.source_table in gone} == gone
        assert sum(finding.source_table in gone for finding in check.findings) == expected
        if of is first:
            assert "source_sections" not in {finding.source_table for finding in check.findings}
