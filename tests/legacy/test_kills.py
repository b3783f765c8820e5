"""A run that is killed at any moment leaves whole batches, and the next one goes on to the very same end."""

from __future__ import annotations

import random
import signal
import time
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from itertools import count
from pathlib import Path

import pytest
from django.db.backends.base.base import BaseDatabaseWrapper

from legacy.models import MigratedRow, MigrationRun
from scopes.contracts import LEGACY_DOMAIN
from tests.conftest import make_agent
from tests.legacy.comparing import differences
from tests.legacy.judging import OWNER, faults, move, refused
from tests.legacy.runs import SECONDS, running, start_over
from tests.legacy.snapshot import shape, snapshot
from tests.legacy.sources import dirty
from tests.legacy.sources.databases import Source, source
from tests.legacy.sources.manifest import MIGRATED

pytestmark = pytest.mark.django_db(transaction=True)
BATCH = ("--batch", "5")


def killed_at_random(made: Source, folder: Path, kills: int, draw: random.Random, longest: float) -> int:
    """Start the run again and again, and kill each a while after it stored something; how many were really killed."""
    died = 0
    for _ in range(kills):
        with running(made, folder, *BATCH) as process:
            began = MigratedRow.objects.count()
            while process.poll() is None and MigratedRow.objects.count() == began:
                time.sleep(0.01)
            time.sleep(draw.uniform(0, longest))
            if process.poll() is None:
                process.kill()
                died += 1
    return died


def is_whole(made: Source) -> None:
    """No row is stored without the word of it, and no word said of a row that is not there."""
    assert differences(made) == []
    told = Counter(MigratedRow.objects.filter(outcome=MIGRATED).values_list("source_table", flat=True))
    stored = {table: count for table, (count, _) in snapshot().items()}
    for table in ("sessions", "turns", "messages", "tool_calls", "refs", "memory_items"):
        assert stored[table] == told[table], table


def test_it_works(postgres: str, tmp_path: Path) -> None:
    """Killed in its middle, it goes on to the rows, states and search entries of a run that nobody disturbed."""
    make_agent(OWNER, LEGACY_DOMAIN)
    rows, _, manifest = dirty(1)
    with source(postgres, rows, manifest) as made:
        move(made)
        undisturbed = shape()
        draw, died = random.Random(7), 0
        for _ in range(10):  # a run that ends before its signal comes is no kill
            start_over()
            died = killed_at_random(made, tmp_path, 1, draw, longest=0.3)
            is_whole(made)
            if died:
                break
        assert died == 1
        move(made)
        assert "\n".join(map(str, faults(made))) == ""
        is_whole(made)
        assert shape() == undisturbed


def test_ctrl_c_says_that_the_same_command_goes_on(postgres: str, tmp_path: Path) -> None:
    """And while it runs, a second run on the same machine is refused."""
    make_agent(OWNER, LEGACY_DOMAIN)
    rows, _, manifest = dirty(1)
    with source(postgres, rows, manifest) as made:
        with running(made, tmp_path, "--batch", "1") as process:
            while process.poll() is None and not MigratedRow.objects.exists():
                time.sleep(0.01)
            process.send_signal(signal.SIGSTOP)
            with running(made, tmp_path) as second:
                _, err = second.communicate(timeout=SECONDS)
            assert second.returncode == 1
            assert "running" in err
            process.send_signal(signal.SIGCONT)
            process.send_signal(signal.SIGINT)
            _, err = process.communicate(timeout=SECONDS)
        assert process.returncode == 1
        assert "goes on" in err
        assert "Traceback" not in err
        assert MigrationRun.objects.latest("started_at").state == "interrupted"
        move(made)
        assert "\n".join(map(str, faults(made))) == ""
        assert MigrationRun.objects.latest("started_at").state == "finished"


@pytest.mark.parametrize(
    ("what", "nth", "arguments"),
    [("_commit", 1, ()), ("_commit", 2, ()), ("_commit", 9, ()), ("_savepoint_commit", 9, ("--dry-run",))],
)
def test_ctrl_c_in_the_middle_of_a_commit_is_a_run_broken_off(
    postgres: str, monkeypatch, what, nth, arguments
) -> None:
    """The connection takes no further transaction then, and yet the end of the run is written down."""
    make_agent(OWNER, LEGACY_DOMAIN)
    rows, *_ = dirty(1)
    commits, commit = count(1), getattr(BaseDatabaseWrapper, what)

    def broken_off(self: BaseDatabaseWrapper, *point: str) -> None:
        if next(commits) == nth:
            raise KeyboardInterrupt
        commit(self, *point)

    with source(postgres, rows) as made:
        with monkeypatch.context() as patched:
            patched.setattr(BaseDatabaseWrapper, what, broken_off)
            told = refused(made.url, "--batch", "1", *arguments)
        assert "goes on" in told
        assert MigrationRun.objects.filter(state="interrupted").exists() == (nth > 1 and not arguments)


@pytest.mark.soak
def test_killed_twenty_times_it_comes_to_the_same_end(postgres: str, tmp_path: Path) -> None:
    make_agent(OWNER, LEGACY_DOMAIN)
    rows, _, manifest = dirty(40)
    with source(postgres, rows, manifest) as made:
        move(made)
        undisturbed = shape()
        start_over()
        draw, died = random.Random(11), 0
        for _ in range(20):
            died += killed_at_random(made, tmp_path, 1, draw, longest=1.0)
            is_whole(made)
        assert died >= 10
        move(made)
        assert "\n".join(map(str, faults(made))) == ""
        assert shape() == undisturbed


@pytest.mark.soak
def test_two_runs_at_once_from_two_machines_tell_each_row_once(postgres: str, tmp_path: Path) -> None:
    """The lock is of one machine: two machines may start at once, and nothing is stored twice or lost."""
    make_agent(OWNER, LEGACY_DOMAIN)
    rows, _, manifest = dirty(10)
    with source(postgres, rows, manifest) as made:
        with ThreadPoolExecutor(2) as pool:
            ended = list(pool.map(lambda name: _try(made, tmp_path / name), ("one", "two")))
        assert 0 in ended
        move(made)
        assert "\n".join(map(str, faults(made))) == ""
        is_whole(made)


def _try(made: Source, folder: Path) -> int:
    folder.mkdir()
    with running(made, folder, *BATCH) as process:
        process.communicate(timeout=SECONDS)
        return process.returncode
