"""How many turns one, four and eight writers commit in a second on PostgreSQL, all in one domain and each in its own.

`python -m benchmarks.parallel_commits [--quick]`. Each writer is a process that commits turns with a message and a
decision to a project of its own. Writers of one domain wait for each other at the end of each commit, so that conflicts
between scopes are found: `waits` is the share of their time that they wait for that lock, `holds` the share that they
have it. Ratios count: to one writer, which depends on the processors that are free, and of one domain to domains of
their own, which shows the lock. The exit status is 1 where four in one domain commit less than half of what four in
domains of their own do.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import subprocess
import sys
import tempfile
import time

from benchmarks.measuring import set_up, words_of
from scripts.environment import without_settings
from scripts.postgres import PostgresMissingError, temporary_postgres
from scripts.venv import ROOT

WRITERS = (1, 4, 8)
ONE, OWN = "one domain", "own domains"
WARM_UP = 10  # turns of each writer before the clock starts


def main() -> int:
    """Measure each number of writers, and say what comes of more of them."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.parallel_commits")
    parser.add_argument("--quick", action="store_true", help="50 turns of each writer instead of 200")
    parser.add_argument("--write", nargs=3, metavar=("NUMBER", "DOMAIN", "TURNS"), help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.write:
        number, domain, turns = options.write
        _write(int(number), domain, int(turns))
        return 0
    turns = 50 if options.quick else 200
    try:
        with temporary_postgres() as server, tempfile.TemporaryDirectory(prefix="smartbrain-bench-") as folder:
            env = {**without_settings(), "DATA_DIR": folder, "LOG_LEVEL": "WARNING", "DATABASE_URL": server.url}
            subprocess.run([sys.executable, "manage.py", "migrate", "-v", "0"], check=True, cwd=ROOT, env=env)
            print(f"\nPostgreSQL {server.version}, {os.cpu_count()} processors")
            print(f"{'writers':<10}{'where':<14}{'turns/s':>10}{'ratio':>8}{'waits':>8}{'holds':>8}")
            rates = _measure(turns, env)
    except PostgresMissingError as exc:
        print(exc)
        return 1
    for count in WRITERS[1:]:
        print(
            f"{count} writers: one domain gives {rates[ONE, count] / rates[OWN, count]:.2f} of what own domains give"
        )
    if rates[ONE, 4] < rates[OWN, 4] / 2:
        print("TOO SLOW: four writers in one domain commit less than half of what four in domains of their own do.")
        return 1
    return 0


def _measure(turns: int, env: dict[str, str]) -> dict[tuple[str, int], float]:
    """Turns a second of each number of writers in each place. The places take turns, so that a machine that others use
    is unfair to none."""
    rates: dict[tuple[str, int], float] = {}
    for count in WRITERS:
        for where in (ONE, OWN):
            domains = [f"{where[:3]}{count}" + (f"-{number}" if where == OWN else "") for number in range(count)]
            seconds, waited, held = _together(domains, turns, env)
            rate = rates[where, count] = count * turns / seconds
            ratio, spent = rate / rates[where, WRITERS[0]], count * seconds
            print(
                f"{count:<10}{where:<14}{rate:>10.1f}{ratio:>8.2f}{waited / spent:>8.0%}{held / spent:>8.0%}",
                flush=True,
            )
    return rates


def _together(domains: list[str], turns: int, env: dict[str, str]) -> tuple[float, float, float]:
    """Seconds that writers of these domains take together, each with so many turns, from one start to the last end; and
    those that they waited for the lock and had it, summed."""
    command = [sys.executable, "-m", "benchmarks.parallel_commits", "--write"]
    writers = [
        subprocess.Popen(
            [*command, str(number), domain, str(turns)],
            cwd=ROOT, env=env, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
        )
        for number, domain in enumerate(domains)
    ]  # fmt: skip
    try:
        for writer in writers:
            _line(writer)
        started = time.perf_counter()
        for writer in writers:
            writer.stdin.write("go\n")  # type: ignore[union-attr]
            writer.stdin.flush()  # type: ignore[union-attr]
        spent = [json.loads(_line(writer)) for writer in writers]
        return time.perf_counter() - started, sum(waited for waited, _ in spent), sum(held for _, held in spent)
    finally:
        for writer in writers:
            writer.communicate(timeout=60)


def _line(writer: subprocess.Popen[str]) -> str:
    line = writer.stdout.readline()  # type: ignore[union-attr]
    if not line:
        raise RuntimeError("A writer ended before it was done: see above.")
    return line


def _write(number: int, domain: str, turns: int) -> None:
    """One writer: ready once it is warm, then so many turns when told to go; it tells how long it waited for the lock
    and how long it had it, in seconds."""
    set_up()
    from benchmarks.store import Store  # noqa: PLC0415  Django has to be set up first
    from memory.services.conflicts import finding  # noqa: PLC0415  as above

    store, draw = Store(domain, f"writer-{domain}-{number}"), random.Random(number)
    place = {"type": "project", "id": f"p{number}"}
    lock = finding.lock_domain  # type: ignore[attr-defined]
    waited = held = since = 0.0

    def locking(domain_id: str) -> None:
        nonlocal waited, since
        asked = time.perf_counter()
        lock(domain_id)
        since = time.perf_counter()
        waited += since - asked

    finding.lock_domain = locking  # type: ignore[attr-defined]
    for turn in range(-WARM_UP, turns):
        if turn == 0:
            waited = held = 0.0
            print("ready", flush=True)
            sys.stdin.readline()
        store.learn_in(place, words_of(draw, 12), f"decision:p{number}:{turn}", words_of(draw, 8))
        held += time.perf_counter() - since
    print(json.dumps([waited, held]), flush=True)


if __name__ == "__main__":
    sys.exit(main())
