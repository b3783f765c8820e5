"""How fast the older systems' data moves in, and how much memory that takes, on both databases.

`python -m benchmarks.migration [--quick]`: SmartBrain 0.1 with conversations of 50 turns, two messages each, and all that
belongs to them, in a source database on a PostgreSQL of its own. 2,000 and 20,000 messages; quick, 1,000 and 4,000. Each
run is a process of its own, so its high-water mark is its own. Then the same again, when every row is known.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from typing import Any

from scripts.environment import without_settings
from scripts.postgres import PostgresMissingError, temporary_postgres
from scripts.venv import ROOT
from tests.legacy.sources import clean, schema
from tests.legacy.sources.databases import database, source

TURNS = 50
SIZES = (2_000, 20_000)
QUICK = (1_000, 4_000)
MIB = 1_048_576


@dataclass(frozen=True, slots=True)
class Target:
    """A database to move into, as DATABASE_URL, and what it is called in the table."""

    name: str
    url: str


def main() -> int:
    """Measure and print a table; 1 where no PostgreSQL can be started."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.migration")
    parser.add_argument("--quick", action="store_true", help="smaller sources")
    sizes = QUICK if parser.parse_args().quick else SIZES
    print(f"{'target':<12}{'run':<9}{'messages':>10}{'rows':>10}{'seconds':>10}{'rows/s':>10}{'MiB':>8}")
    try:
        with temporary_postgres() as server:
            for messages in sizes:
                _measure(server.url, messages)
    except PostgresMissingError as exc:
        print(exc)
        return 1
    return 0


def _measure(server: str, messages: int) -> None:
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
                _show(
                    target,
                    run,
                    messages,
                    json.loads(_manage(target, folder, "migrate_legacy", "--from", made.url, "--json")),
                )


def _manage(target: Target, folder: str, *arguments: str) -> str:
    env = {**without_settings(), "DATA_DIR": folder, "DATABASE_URL": target.url, "LOG_LEVEL": "WARNING"}
    command = [sys.executable, "manage.py", *arguments]
    done = subprocess.run(command, check=True, cwd=ROOT, env=env, capture_output=True, text=True)
    return done.stdout


def _show(target: Target, run: str, messages: int, figures: dict[str, Any]) -> None:
    print(
        f"{target.name:<12}{run:<9}{messages:>10,}{figures['rows']:>10,}{figures['seconds']:>10.1f}"
        f"{figures['rows_per_second']:>10,.0f}{figures['peak_memory'] / MIB:>8.0f}",
        flush=True,
    )


if __name__ == "__main__":
    sys.exit(main())
