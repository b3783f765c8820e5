"""Measuring one operation on both databases, each in a process of its own, and saying how it grows with the store."""

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
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass

import django

from scripts.environment import without_settings
from scripts.postgres import PostgresMissingError, temporary_postgres
from scripts.venv import ROOT

SIZES = (1_000, 10_000)
STOP_WORDS = 20
# Words by rank: the r-th is used 1/r as often as the first, as in natural text (Zipf). Every eighth is Chinese.
RANKS = range(1, 4001)
HAN = "数据库迁移备份索引集群延迟审核策略会话记忆检索排序摘要冲突项目预算发布报告会议客户"
WORDS = [HAN[rank % len(HAN)] + HAN[rank // 8 % len(HAN)] if rank % 8 == 0 else f"word{rank}" for rank in RANKS]
WEIGHTS = [1 / rank for rank in RANKS]


@dataclass(frozen=True, slots=True)
class Measured:
    """Times of one operation at one size of the store, in milliseconds: on the clock, and of this process's CPU.
    `least` is the 5th percentile on the clock, which tells what it costs on a machine that is busy with other things."""

    operation: str
    rows: int
    median: float
    p95: float
    cpu: float
    least: float


def run(
    module: str,
    what: str,
    measure: Callable[[int], list[Measured]],
    judge: Callable[[list[Measured]], list[str]] = lambda rows: [],
) -> int:
    """Run the benchmark `module` on both databases and print a table. `measure` takes the number of samples; `judge`
    tells what of it is too much. The exit status is 1 where anything is, and where a database could not be measured."""
    parser = argparse.ArgumentParser(prog=f"python -m {module}")
    parser.add_argument("--quick", action="store_true", help="100 samples of each instead of 500")
    parser.add_argument("--measure", action="store_true", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.measure:
        print(json.dumps([asdict(row) for row in measure(100 if options.quick else 500)]))
        return 0
    rows = _in_process(module, options.quick, {})
    _show("SQLite", what, rows)
    faults = judge(rows)
    try:
        with temporary_postgres() as server:
            rows = _in_process(module, options.quick, {"DATABASE_URL": server.url})
            _show(f"PostgreSQL {server.version}", what, rows)
            faults += judge(rows)
    except PostgresMissingError as exc:
        faults.append(str(exc))
    for fault in faults:
        print(fault)
    return 1 if faults else 0


def grown(rows: list[Measured], most: Mapping[str, float]) -> list[str]:
    """The operations that take more times as long in the largest store as in the smallest than they may."""
    faults = []
    for operation, times in growth_of(rows).items():
        if times > most.get(operation, times):
            faults.append(f"TOO MUCH: {operation} takes {times:.2f} times the time, {most[operation]} at most")
    return faults


def growth_of(rows: list[Measured]) -> dict[str, float]:
    """How many times as long each operation takes in the largest store as in the smallest, at its least."""
    small, large = min(row.rows for row in rows), max(row.rows for row in rows)
    least = {(row.operation, row.rows): row.least for row in rows}
    operations = dict.fromkeys(row.operation for row in rows)
    return {name: least[name, large] / least[name, small] for name in operations}


def set_up() -> None:
    """Django with a fresh database, and what is loaded set aside from garbage collection as in the server."""
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "smartbrain_site.settings")
    django.setup()
    from django.core.management import call_command  # noqa: PLC0415  Django has to be set up first

    from kernel.loaded import keep_loaded  # noqa: PLC0415

    call_command("migrate", interactive=False, verbosity=0)
    keep_loaded()


def timed(operation: str, rows: int, samples: int, work: Callable[[], object]) -> Measured:
    """The times of an operation, after one call to warm up."""
    work()
    times, cpu = [], []
    for _ in range(samples):
        started, spent = time.perf_counter(), time.process_time()
        work()
        times.append((time.perf_counter() - started) * 1000)
        cpu.append((time.process_time() - spent) * 1000)
    return measured(operation, rows, times, cpu)


def measured(operation: str, rows: int, times: Sequence[float], cpu: Sequence[float]) -> Measured:
    """What the times of several calls come to."""
    least, *_, high = statistics.quantiles(times, n=20, method="inclusive")
    return Measured(operation, rows, statistics.median(times), high, statistics.median(cpu), least)


def words_of(draw: random.Random, count: int = 20) -> str:
    """A text of so many words, common ones more often."""
    return " ".join(draw.choices(WORDS, WEIGHTS, k=count))


def question_of(draw: random.Random, count: int) -> str:
    """A question of so many words, without the twenty commonest, which stand for the stop words of natural text."""
    return " ".join(draw.choices(WORDS[STOP_WORDS:], WEIGHTS[STOP_WORDS:], k=count))


def _in_process(module: str, quick: bool, extra: dict[str, str]) -> list[Measured]:
    with tempfile.TemporaryDirectory(prefix="smartbrain-bench-") as folder:
        env = {**without_settings(), "DATA_DIR": folder, "LOG_LEVEL": "WARNING", **extra}
        command = [sys.executable, "-m", module, "--measure", *(["--quick"] if quick else [])]
        done = subprocess.run(command, check=True, cwd=ROOT, env=env, stdout=subprocess.PIPE, text=True)
    return [Measured(**row) for row in json.loads(done.stdout.splitlines()[-1])]


def _show(name: str, what: str, rows: list[Measured]) -> None:
    small, large = min(row.rows for row in rows), max(row.rows for row in rows)
    print(f"\n{name}\n{'operation':<30}{what:>10}{'median ms':>12}{'p95 ms':>10}{'CPU ms':>10}")
    for row in rows:
        print(f"{row.operation:<30}{row.rows:>10,}{row.median:>12.2f}{row.p95:>10.2f}{row.cpu:>10.2f}")
    for operation, times in growth_of(rows).items():
        print(f"{operation}: {large // small} times the {what}, {times:.2f} times the time")
