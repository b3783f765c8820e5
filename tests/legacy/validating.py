"""A clean older database that was moved in, and what a validation says of it."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import psycopg
import pytest

from governance.gate import system_ctx
from kernel.context import Actor, Ctx, Door
from legacy.contracts.validating import Check, Finding, MigrationReport
from legacy.services.migrating import Options, migrate
from legacy.services.owning import owner_named
from legacy.services.tally import RULES
from legacy.services.validating import validate
from legacy.source import opened
from scopes.contracts import LEGACY_DOMAIN
from scopes.models import Principal
from tests.conftest import make_agent
from tests.legacy.judging import OWNER
from tests.legacy.sources import clean
from tests.legacy.sources.databases import Source, source

NEEDS_SOURCE = [code for code, rule in RULES.items() if rule.needs_source]


@pytest.fixture(scope="module")
def older(postgres: str) -> Iterator[Source]:
    """A clean 0.1 with two conversations of a dozen turns; a test that changes it puts it back."""
    with source(postgres, clean(2, 12)[0]) as made:
        yield made


@pytest.fixture
def moved(db, older: Source) -> Source:
    """The older database, moved in."""
    move(older)
    return older


def ctx() -> Ctx:
    """The system's own context, of this moment."""
    return system_ctx("tests", Door.CLI)


def older_app() -> Actor:
    """Whose the sessions become."""
    if not Principal.objects.filter(name=OWNER).exists():
        make_agent(OWNER, LEGACY_DOMAIN)
    return owner_named(None)


def move(older: Source, media_root: Path | None = None) -> None:
    """Move the older database in, with its stored bytes where there are any."""
    with opened(older.url) as snapshot:
        migrate(snapshot, older_app(), Options(media_root=media_root), ctx(), lambda *told: None)


def against(older: Source, batch: int = 500) -> MigrationReport:
    """The report of a validation that reads the source too."""
    with opened(older.url) as snapshot:
        return validate(snapshot, lambda *told: None, batch)


def here() -> MigrationReport:
    """The report of a validation of what is here alone."""
    return validate(None, lambda *told: None)


def found(report: MigrationReport) -> dict[str, Check]:
    """The checks that found something."""
    return {check.code: check for check in report.checks if check.count}


def the_finding(report: MigrationReport, code: str) -> Finding:
    """The only thing that is wrong."""
    assert list(found(report)) == [code], found(report)
    (finding,) = found(report)[code].findings
    assert report.whole is not RULES[code].fault
    return finding


def change(older: Source, statement: str, back: str) -> Iterator[None]:
    """Change the older database for one test."""
    with psycopg.connect(older.url, autocommit=True) as connection:
        connection.execute(statement)
        try:
            yield
        finally:
            connection.execute(back)
