"""How commit_turn and search_memory slow down as the store grows, on SQLite and on PostgreSQL, in one run.

`python -m benchmarks.commit_and_search [--quick]`. Milliseconds differ from machine to machine; the ratio is what counts.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from dataclasses import asdict, dataclass

import django

from scripts.environment import without_settings
from scripts.postgres import PostgresMissingError, temporary_postgres
from scripts.venv import ROOT

SIZES = (1_000, 10_000)
BATCH = 100
# Words by rank: the r-th is used 1/r as often as the first, as in natural text (Zipf). Every eighth is Chinese.
RANKS = range(1, 4001)
HAN = "数据库迁移备份索引集群延迟审核策略会话记忆检索排序摘要冲突项目预算发布报告会议客户"
WORDS = [HAN[rank % len(HAN)] + HAN[rank // 8 % len(HAN)] if rank % 8 == 0 else f"word{rank}" for rank in RANKS]
WEIGHTS = [1 / rank for rank in RANKS]


@dataclass(frozen=True, slots=True)
class Measured:
    """Times of one operation at one size of the store, in milliseconds."""

    operation: str
    rows: int
    median: float
    p95: float


def main() -> int:
    """Measure both databases in processes of their own and print a table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="100 samples of each instead of 500")
    parser.add_argument("--measure", action="store_true", help=argparse.SUPPRESS)
    options = parser.parse_args()
    samples = 100 if options.quick else 500
    if options.measure:
        print(json.dumps([asdict(row) for row in _measure(samples)]))
        return 0
    _show("SQLite", _in_process(options.quick, {}))
    try:
        with temporary_postgres() as server:
            _show(f"PostgreSQL {server.version}", _in_process(options.quick, {"DATABASE_URL": server.url}))
    except PostgresMissingError as exc:
        print(exc)
        return 1
    return 0


def _in_process(quick: bool, extra: dict[str, str]) -> list[Measured]:
    with tempfile.TemporaryDirectory(prefix="smartbrain-bench-") as folder:
        env = {**without_settings(), "DATA_DIR": folder, "LOG_LEVEL": "WARNING", **extra}
        command = [sys.executable, "-m", "benchmarks.commit_and_search", "--measure", *(["--quick"] if quick else [])]
        done = subprocess.run(command, check=True, cwd=ROOT, env=env, stdout=subprocess.PIPE, text=True)
    return [Measured(**row) for row in json.loads(done.stdout.splitlines()[-1])]


def _show(name: str, rows: list[Measured]) -> None:
    small, large = SIZES
    print(f"\n{name}\n{'operation':<16}{'messages':>10}{'median ms':>12}{'p95 ms':>10}")
    for row in rows:
        print(f"{row.operation:<16}{row.rows:>10,}{row.median:>12.2f}{row.p95:>10.2f}")
    for operation in dict.fromkeys(row.operation for row in rows):
        of = {row.rows: row.median for row in rows if row.operation == operation}
        print(f"{operation}: {large // small} times the messages, {of[large] / of[small]:.2f} times the time")


def _measure(samples: int) -> list[Measured]:
    """Fill the store to each size in turn and time both operations there."""
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "smartbrain_site.settings")
    django.setup()
    from django.core.management import call_command  # noqa: PLC0415  Django has to be set up first

    from benchmarks.store import Store  # noqa: PLC0415  the same

    call_command("migrate", interactive=False, verbosity=0)
    store, draw, found = Store(), random.Random(1), []
    for size in SIZES:
        while store.messages < size:
            store.commit([_text(draw) for _ in range(min(BATCH, size - store.messages))])
        found += [
            _timed("search_memory", size, samples, lambda: store.search(_text(draw, words=3))),
            _timed("commit_turn", size, samples, lambda: store.commit([_text(draw)])),
        ]
    return found


def _timed(operation: str, rows: int, samples: int, work: Callable[[], None]) -> Measured:
    work()
    times = []
    for _ in range(samples):
        started = time.perf_counter()
        work()
        times.append((time.perf_counter() - started) * 1000)
    return Measured(operation, rows, statistics.median(times), statistics.quantiles(times, n=20)[-1])


def _text(draw: random.Random, words: int = 20) -> str:
    return " ".join(draw.choices(WORDS, WEIGHTS, k=words))


if __name__ == "__main__":
    sys.exit(main())
