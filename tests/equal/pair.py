"""Two workers side by side, one on SQLite and one on PostgreSQL: every call goes to both, and both must say the same."""

from __future__ import annotations

import json
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from difflib import unified_diff
from functools import cached_property
from pathlib import Path
from typing import Any

from scripts.environment import without_settings
from scripts.venv import ROOT

START = datetime(2026, 3, 2, 9, 0, tzinfo=UTC)
# Pauses before calls, in turn: some calls happen in one instant, some a day after the last.
PAUSES = [timedelta(seconds=n) for n in (0, 0.000001, 1, 61.5, 0, 3600, 86_400, 0.4)]
# Secrets are random and are never kept, and how long a call took is measured; everything else must be equal.
RANDOM = frozenset({"api_key", "key_prefix", "prefix", "took_ms"})
OURS = frozenset({"COVERAGE_PROCESS_CONFIG", "COVERAGE_PROCESS_START"})  # measuring would only slow the workers down


class Pair:
    """Both workers, the number of examples and steps so far, and what was seen in their answers: `action status`, and
    the names of members that were not empty."""

    def __init__(self, workers: Mapping[str, subprocess.Popen[str]]) -> None:
        """`workers` by the name of their database."""
        self.workers = workers
        self.examples = 0
        self.steps = 0
        self.seen: Counter[str] = Counter()
        self.operator = ""
        for name in workers:
            self._read(name)
        self.operator = self.example().person("operator", is_superuser=True)

    def example(self) -> Example:
        """A new example, in a domain that nothing has used yet."""
        self.examples += 1
        return Example(self, self.examples)

    def ask(self, asked: dict[str, Any]) -> dict[str, Any]:
        """The answer of both. Raises AssertionError where they differ or either has a bug."""
        line = json.dumps(asked, ensure_ascii=False) + "\n"
        for worker in self.workers.values():
            assert worker.stdin is not None
            worker.stdin.write(line)
            worker.stdin.flush()
        answers = {name: self._read(name) for name in self.workers}
        for name, answer in answers.items():
            assert "bug" not in answer, f"{name} has a bug in answering {line}{answer['bug']}"
        assert len({comparable(answer) for answer in answers.values()}) == 1, _difference(asked, answers)
        answer = next(iter(answers.values()))
        self.seen.update([f"{asked['action']} {answer['status']}", *_filled(answer)])
        return answer

    def _read(self, name: str) -> dict[str, Any]:
        stream = self.workers[name].stdout
        assert stream is not None
        line = stream.readline()
        assert line, f"the worker on {name} is gone: see its standard error"
        answer: dict[str, Any] = json.loads(line)
        return answer


class Example:
    """One history in a domain of its own, with a clock of its own that every example starts anew."""

    def __init__(self, pair: Pair, number: int) -> None:
        """Make the domain and its agent through the gate; who else takes part comes when asked for."""
        self.pair, self.number = pair, number
        self.domain = f"d{number:06}"
        self.now = START
        self.calls = 0
        self.tight = False  # whether the limits of large stores are those of small ones
        self.agent = f"agent-{self.domain}"
        self.operator = pair.operator
        self.call("system", "create_principal", name=self.agent, domain_id=self.domain)

    @cached_property
    def narrow(self) -> str:
        """An agent that sees projects only."""
        name = f"narrow-{self.domain}"
        self.call("system", "create_principal", name=name, domain_id=self.domain, pattern="project:*")
        return name

    @cached_property
    def reviewer(self) -> str:
        """A person who reviews the domain."""
        name = f"reviewer-{self.domain}"
        person = self.person(name)
        self.call("system", "assign_reviewer", user=name, domain_id=self.domain)
        return person

    def person(self, name: str, *, is_superuser: bool = False) -> str:
        """A new account."""
        self.call("system", "make_person", name=name, is_superuser=is_superuser)
        return f"person:{name}"

    def call(self, actor: str, action: str, /, **fields: Any) -> dict[str, Any]:
        """The status and body that both databases give."""
        self.now += PAUSES[self.calls % len(PAUSES)]
        self.calls += 1
        asked = {
            "action": action,
            "input": fields,
            "actor": actor,
            "at": self.now.isoformat(),
            "call": self.calls,
            "example": self.number,
            "tight": self.tight,
        }
        return self.pair.ask(asked)

    def here(self, actor: str, action: str, /, **fields: Any) -> dict[str, Any]:
        """The same in the example's domain."""
        return self.call(actor, action, **{"domain_id": self.domain, **fields})

    def pages(self, actor: str, action: str, /, **fields: Any) -> Iterator[dict[str, Any]]:
        """The bodies of every page of a list, as far as it is not refused."""
        cursor = None
        while True:
            answer = self.here(actor, action, **fields, **({"cursor": cursor} if cursor else {}))
            if answer["status"] != 200:
                return
            yield answer["body"]
            cursor = answer["body"]["next_cursor"]
            if cursor is None:
                return


def comparable(value: Any) -> str:
    """The answer as text, byte for byte, without what is random."""
    return json.dumps(_without(value, RANDOM), ensure_ascii=False, indent=1)


def _without(value: Any, names: frozenset[str]) -> Any:
    if isinstance(value, dict):
        return {name: _without(inner, names) for name, inner in value.items() if name not in names}
    return [_without(inner, names) for inner in value] if isinstance(value, list) else value


def _filled(value: Any) -> Iterator[str]:
    """The names of all members that hold something, at any depth."""
    if isinstance(value, dict):
        yield from (name for name, inner in value.items() if inner)
    if isinstance(value, dict | list):
        for inner in value.values() if isinstance(value, dict) else value:
            yield from _filled(inner)


def _difference(asked: dict[str, Any], answers: Mapping[str, dict[str, Any]]) -> str:
    (one, first), (other, second) = answers.items()
    lines = unified_diff(comparable(first).split("\n"), comparable(second).split("\n"), one, other, n=2, lineterm="")
    return "\n".join(["the databases disagree", json.dumps(asked, ensure_ascii=False), *lines])


@contextmanager
def running(postgres_url: str, folder: Path) -> Iterator[Pair]:
    """Both workers for the length of the block, on a new SQLite file and an empty PostgreSQL database."""
    urls = {"SQLite": f"sqlite:///{folder / 'equal.sqlite3'}", "PostgreSQL": postgres_url}
    workers: dict[str, subprocess.Popen[str]] = {}
    try:
        for name, url in urls.items():
            data = folder / name
            data.mkdir()
            env = {key: value for key, value in without_settings().items() if key not in OURS}
            workers[name] = subprocess.Popen(
                [sys.executable, "-m", "tests.equal.worker"],
                cwd=ROOT,
                env={**env, "DATABASE_URL": url, "DATA_DIR": str(data), "LOG_LEVEL": "CRITICAL"},
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                text=True,
                encoding="utf-8",
            )
        yield Pair(workers)
    finally:
        for worker in workers.values():
            _end(worker)


def _end(worker: subprocess.Popen[str]) -> None:
    with worker:  # closes its pipes, and so ends it
        assert worker.stdin is not None
        worker.stdin.close()
        try:
            worker.wait(60)
        except subprocess.TimeoutExpired:
            worker.kill()
