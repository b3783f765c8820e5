"""A large source: killed on its way it comes whole to its end, memory stays where it is, the source is untouched, and every
row is told of (`make soak`)."""

from __future__ import annotations

import random
import sys
import time
from datetime import datetime
from pathlib import Path
from typing import Any

import pytest

from legacy.models import MigratedRow
from memory.models import Message
from scopes.contracts import LEGACY_DOMAIN
from tests.conftest import make_agent
from tests.legacy.judging import OWNER, faults
from tests.legacy.runs import run, running, start_over, validated
from tests.legacy.sources import dirty
from tests.legacy.sources.databases import Source, source

pytestmark = [pytest.mark.soak, pytest.mark.django_db(transaction=True)]

SESSIONS, TURNS = 1_000, 50  # of two messages each: 100,000
KILLS = 5
MIB = 1_048_576
GROWTH = 48 * MIB  # what ten times the rows may take more: caches of the databases, not rows


def test_a_hundred_thousand_messages(postgres: str, tmp_path: Path) -> None:
    """Ten times the rows take no more memory, a second run finds everything known, no row is lost, and what was moved in
    spite of kills is validated as whole."""
    make_agent(OWNER, LEGACY_DOMAIN)
    with source(postgres, *_dirty(SESSIONS // 10, seed=21)) as made:
        small = run(made, tmp_path)
        _tell("10,000 messages", small)
        small_check = validated(made, tmp_path)
        _tell_check("10,000 messages", small_check)
    start_over()
    with source(postgres, *_dirty(SESSIONS, seed=22)) as made:
        before = made.digests()
        began = time.monotonic()
        _kill_on_the_way(made, tmp_path)
        large = run(made, tmp_path)
        _tell(f"100,000 messages, killed {KILLS} times, {time.monotonic() - began:.0f} s in all; the last run", large)
        assert made.digests() == before
        assert faults(made) == []
        told = MigratedRow.objects.filter(source_table="messages").count()
        again = run(made, tmp_path)
        _tell("again", again)
        check = validated(made, tmp_path)
        _tell_check("100,000 messages", check)
    assert Message.objects.count() > SESSIONS * TURNS * 2
    assert large["peak_memory"] - small["peak_memory"] < GROWTH
    assert sum(counts.get("migrated", 0) for counts in again["tables"].values()) == 0
    assert MigratedRow.objects.filter(source_table="messages").count() == told
    assert [each for each in check["checks"] if each["fault"] and each["count"]] == []
    assert check["whole"] is True
    assert check["memory_peak_bytes"] - small_check["memory_peak_bytes"] < GROWTH


def _kill_on_the_way(made: Source, folder: Path) -> None:
    """Kill a run with SIGKILL, `KILLS` times, each after it stored a random number of rows more."""
    draw = random.Random(23)
    total = len(made.rows["messages"])
    for _ in range(KILLS):
        wanted = MigratedRow.objects.count() + draw.randint(1, total // (2 * KILLS))
        with running(made, folder) as process:
            while MigratedRow.objects.count() < wanted:
                assert process.poll() is None, "it ended before it could be killed"
                time.sleep(draw.uniform(0.1, 0.5))
            process.kill()


def _dirty(sessions: int, seed: int) -> tuple[Any, Any]:
    rows, _, manifest = dirty(sessions, TURNS, seed)
    return rows, manifest


def _tell(what: str, figures: dict[str, Any]) -> None:
    """Figures for whoever runs this with `-s`."""
    sys.stdout.write(
        f"\n{what}: {figures['rows']:,} rows in {figures['seconds']:.0f} s, {figures['rows_per_second']:,} rows/s, "
        f"{figures['peak_memory'] // MIB} MiB\n"
    )


def _tell_check(what: str, report: dict[str, Any]) -> None:
    began, ended = (datetime.fromisoformat(report[name]) for name in ("started_at", "finished_at"))
    sys.stdout.write(
        f"\n{what} validated in {(ended - began).total_seconds():.0f} s, {report['rows_per_second']:,.0f} rows/s, "
        f"{report['memory_peak_bytes'] // MIB} MiB, whole: {report['whole']}\n"
    )
