"""One run at a time, and one that was killed is told as broken off: by the next run, by the page and by the validation."""

from __future__ import annotations

import fcntl
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import timedelta
from pathlib import Path

import pytest
from django.db import IntegrityError, transaction

from kernel import clock
from kernel.errors import ConflictError
from legacy.models import MigratedRow, MigrationRun
from legacy.selectors.reading import migration
from legacy.selectors.running import LEASE, here, lock_file
from legacy.services.alone import EVERY, Pulse, alone
from legacy.services.figures import Figures
from legacy.services.migrating import _end
from legacy.services.validating import validate
from tests.conftest import Player
from tests.guards.write_guard import unguarded
from tests.legacy.judging import move, refused
from tests.legacy.sources import clean
from tests.legacy.sources.databases import Source, source

pytestmark = pytest.mark.usefixtures("midday")


@pytest.fixture
def made(postgres: str, older: Player) -> Iterator[Source]:
    with source(postgres, clean(1, 2)[0]) as made:
        yield made


def a_run(place: str, seconds: float = 0) -> MigrationRun:
    """A run that says that it is under way, and showed life so many seconds ago."""
    at = clock.now() - timedelta(seconds=seconds)
    with unguarded():
        return MigrationRun.objects.create(source="older:5432/brain", place=place, heartbeat_at=at, started_at=at)


@contextmanager
def locked() -> Iterator[None]:
    lock_file().parent.mkdir(parents=True, exist_ok=True)
    with lock_file().open("w") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield


def told() -> list[str]:
    return [run.state for run in migration().runs]


def test_it_works(made: Source) -> None:
    """A killed one is told as interrupted at once where it began, and the next run writes that down."""
    a_run(here())
    assert told() == ["interrupted"]
    assert validate(None, lambda *told: None).run_state == "interrupted"
    move(made)
    assert [row.state for row in MigrationRun.objects.order_by("pk")] == ["interrupted", "finished"]
    assert validate(None, lambda *told: None).run_state == "finished"


def test_one_that_goes_on_here_is_told_so_and_refuses_another(made: Source) -> None:
    row = a_run(here(), seconds=LEASE.total_seconds() * 2)
    with locked():
        assert told() == ["running"]
        assert validate(None, lambda *told: None).run_state == "running"
        for arguments in ((), ("--dry-run",)):
            assert "running on this machine" in refused(made.url, *arguments)
    row.refresh_from_db()
    assert (row.state, MigratedRow.objects.count()) == ("running", 0)


@pytest.mark.parametrize("arguments", [(), ("--dry-run",)])
def test_one_that_goes_on_elsewhere_refuses_another(made: Source, arguments: tuple[str, ...]) -> None:
    a_run("other-machine:/data", seconds=LEASE.total_seconds() - 30)
    assert told() == ["running"]
    said = refused(made.url, *arguments)
    assert "other-machine:/data" in said
    assert "5 minutes" in said
    assert MigrationRun.objects.get().state == "running"


def test_one_of_another_folder_of_this_machine_is_known_by_its_own_lock(made: Source, tmp_path: Path) -> None:
    row = a_run(f"{here().partition(':')[0]}:{tmp_path}")
    assert told() == ["interrupted"]
    with (tmp_path / "migrate_legacy.lock").open("w") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        assert told() == ["running"]
        assert str(tmp_path) in refused(made.url)
    move(made)
    row.refresh_from_db()
    assert row.state == "interrupted"


def test_one_elsewhere_that_shows_no_life_is_interrupted(made: Source) -> None:
    a_run("other-machine:/data", seconds=LEASE.total_seconds() + 1)
    assert told() == ["interrupted"]
    move(made)
    assert told() == ["finished", "interrupted"]


def test_one_that_was_taken_for_broken_off_stores_nothing_more(older: Player) -> None:
    row = a_run(here())
    pulse = Pulse(row.pk)
    assert pulse.due()
    with unguarded():
        pulse.beat()
        assert not pulse.due()
        MigrationRun.objects.update(state="interrupted")
        with pytest.raises(ConflictError):
            pulse.beat()
        Pulse(None).beat()
    assert not Pulse(None).due()
    assert timedelta(seconds=EVERY) < LEASE


def test_one_that_was_taken_for_broken_off_writes_no_end(older: Player) -> None:
    """Nor does the audit log tell of one; where an error ends it already, that is what is told."""
    row = a_run(here())
    with unguarded():
        MigrationRun.objects.update(state="interrupted")
        with pytest.raises(ConflictError, match="another began"):
            _end(row, "finished", Figures())
        assert _end(row, "failed", Figures()) == []
    row.refresh_from_db()
    assert (row.state, row.figures, row.finished_at) == ("interrupted", {}, None)


def test_the_database_itself_holds_one_only(older: Player) -> None:
    a_run("one")
    with pytest.raises(IntegrityError), transaction.atomic():
        a_run("two")


def test_who_looks_does_not_keep_a_run_from_beginning(older: Player, tmp_path: Path) -> None:
    a_run(here())
    for _ in range(20):
        assert told() == ["interrupted"]
        with alone():
            assert told() == ["running"]
