"""How fast the older systems' data moves in, and how much memory that takes, on both databases, in one run.

`python -m benchmarks.migration [--quick]`: SmartBrain 0.1 with conversations of 50 turns, two messages each, and all that
belongs to them, in a source database on a PostgreSQL of its own. 10,000 and 100,000 messages; quick, 1,000 and 4,000.
Each source is moved in, moved in again, when every row is known, and validated; each of these is a process of its own, so
its high-water mark is its own. Ten times the rows must take no more memory and no more time for each: the exit status is 1
where memory grows, or the rate falls, by more than its bound.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from scripts.environment import without_settings
from scripts.postgres import PostgresMissingError, temporary_postgres
from scripts.venv import ROOT
from tests.legacy.sources import clean, schema
from tests.legacy.sources.databases import database, source

TURNS = 50
SIZES = (10_000, 100_000)
QUICK = (1_000, 4_000)
MIB = 1_048_576
MOST_MEMORY = 1.5  # of the larger source, times that of the smaller
LEAST_RATE = 0.5


@dataclass(frozen=True, slots=True)
class Target:
    """A database to move into, as DATABASE_URL, and what it is called in the table."""

    name: str
    url: str


@dataclass(frozen=True, slots=True)
class Measured:
    """One process: what it did (`first`, `again` or `validate`), how many rows it looked at, and what that took.
    Memory is in bytes."""

    target: str
    run: str
    messages: int
    rows: int
    seconds: float
    rows_per_second: float
    peak_memory: int


def main() -> int:
    """Measure and print a table; 1 where something grew too much, or no PostgreSQL can be started."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.migration")
    parser.add_argument("--quick", action="store_true", help="smaller sources")
    sizes = QUICK if parser.parse_args().quick else SIZES
    print(f"{'target':<12}{'run':<10}{'messages':>10}{'rows':>10}{'seconds':>10}{'rows/s':>10}{'MiB':>8}")
    found = []
    try:
        with temporary_postgres() as server:
            for messages in sizes:
                for each in _measure(server.url, messages):
                    _show(each)
                    found.append(each)
    except PostgresMissingError as exc:
        print(exc)
        return 1
    told = judge(found)
    print("\n".join(told))
    return 1 if told else 0


def judge(found: list[Measured]) -> list[str]:
    """What of the largest source took too much more than of the smallest."""
    small, large = min(each.messages for each in found), max(each.messages for each in found)
    before = {(each.target, each.run): each for each in found if each.messages == small}
    told = []
    for each in (each for each in found if each.messages == large):
        less = before[each.target, each.run]
        memory = each.peak_memory / less.peak_memory
        rate = each.rows_per_second / less.rows_per_second
        name = f"{each.target}, {each.run}: {large / small:.0f} times the rows"
        if memory > MOST_MEMORY:
            told.append(f"TOO MUCH: {name} take {memory:.2f} times the memory, {MOST_MEMORY} at most")
        if rate < LEAST_RATE:
            told.append(f"TOO SLOW: {name} come at {rate:.2f} times the rate, {LEAST_RATE} at least")
    return told


def _measure(server: str, messages: int) -> Iterator[Measured]:
    rows, _ = clean(messages // (2 * TURNS), TURNS)
    with (
        source(server, rows, ddl=schema.BRAIN_0_1) as made,
        tempfile.TemporaryDirectory(prefix="smartbrain-bench-") as folder,
        database(server, f"target_{messages}") as url,
    ):
        for target in (Target("SQLite", f"sqlite:///{folder}/brain.sqlite3"), Target("PostgreSQL", url)):
            _manage(target, folder, "migrate", "--verbosity=0")
            _manage(target, folder, "create_principal", "older-app")
            for run in ("first", "again"):
                figures = _manage(target, folder, "migrate_legacy", "--from", made.url, "--json")
                yield _moved(target, run, messages, json.loads(figures))
            report = _manage(target, folder, "validate_migration", "--from", made.url, "--json")
            yield _validated(target, messages, json.loads(report))


def _manage(target: Target, folder: str, *arguments: str) -> str:
    env = {**without_settings(), "DATA_DIR": folder, "DATABASE_URL": target.url, "LOG_LEVEL": "WARNING"}
    command = [sys.executable, "manage.py", *arguments]
    done = subprocess.run(command, check=True, cwd=ROOT, env=env, capture_output=True, text=True)
    return done.stdout


def _moved(target: Target, run: str, messages: int, figures: dict[str, Any]) -> Measured:
    names = ("rows", "seconds", "rows_per_second", "peak_memory")
    return Measured(target.name, run, messages, **{name: figures[name] for name in names})


def _validated(target: Target, messages: int, report: dict[str, Any]) -> Measured:
    began, ended = (datetime.fromisoformat(report[name]) for name in ("started_at", "finished_at"))
    seconds, rate = (ended - began).total_seconds(), report["rows_per_second"]
    rows = round(seconds * rate)
    return Measured(target.name, "validate", messages, rows, seconds, rate, report["memory_peak_bytes"])


def _show(each: Measured) -> None:
    print(
        f"{each.target:<12}{each.run:<10}{each.messages:>10,}{each.rows:>10,}{each.seconds:>10.1f}"
        f"{each.rows_per_second:>10,.0f}{each.peak_memory / MIB:>8.0f}",
        flush=True,
    )


if __name__ == "__main__":
    sys.exit(main())
