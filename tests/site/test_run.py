"""`manage.py run` as people start it: a process of its own, a data folder of its own, a port of its own."""

from __future__ import annotations

import json
import signal
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from contextlib import closing
from http.cookiejar import CookieJar
from pathlib import Path
from urllib.parse import urlencode
from uuid import uuid4

import psutil
import psycopg
import pytest
from django.conf import settings
from django.db import connection

from kernel.db import is_postgres
from scripts.environment import without_settings
from scripts.postgres import free_port

SECONDS = 600


class Running:
    """A server under test; `text()` is everything it has printed so far."""

    def __init__(self, folder: Path, port: int, database_url: str) -> None:
        self.port = port
        self.output = folder / f"output-{uuid4()}.txt"
        env = {**without_settings(), "DATA_DIR": str(folder), "PORT": str(port), "DATABASE_URL": database_url}
        with self.output.open("wb") as file:
            self.process = subprocess.Popen(
                [sys.executable, "manage.py", "run"], cwd=settings.BASE_DIR, env=env, stdout=file, stderr=file
            )

    def text(self) -> str:
        return self.output.read_text("utf-8")

    def wait_until_up(self) -> Running:
        """Wait for both: the web says it is up, and the worker's cluster says it is running."""
        until = time.monotonic() + SECONDS
        while "SmartBrain is up" not in self.text() or "] running." not in self.text():
            assert self.process.poll() is None, self.text()
            assert time.monotonic() < until, self.text()
            time.sleep(0.05)
        return self

    def family(self) -> list[psutil.Process]:
        """Every process that it started."""
        found: list[psutil.Process] = psutil.Process(self.process.pid).children(recursive=True)
        return found

    def ask(self, path: str, key: str, tree: dict) -> dict:
        request = urllib.request.Request(
            f"http://127.0.0.1:{self.port}{path}",
            json.dumps(tree).encode(),
            {"Authorization": f"Bearer {key}", "Content-Type": "application/json"},
        )
        with urllib.request.urlopen(request, timeout=120) as answer:
            body: dict = json.load(answer)
        return body

    def sign_in_wrongly(self, told_address: str) -> int:
        """The status of a sign-in with a wrong password that says it was passed on for that address."""
        page = f"http://127.0.0.1:{self.port}/admin/login/"
        opener = urllib.request.build_opener(urllib.request.HTTPCookieProcessor(jar := CookieJar()))
        opener.open(page, timeout=120).close()
        token = next(cookie.value for cookie in jar if cookie.name == "csrftoken")
        given = {"username": "reviewer", "password": "wrong", "csrfmiddlewaretoken": token or ""}
        headers = {"X-Forwarded-For": told_address, "Referer": page}
        try:
            with opener.open(urllib.request.Request(page, urlencode(given).encode(), headers), timeout=120) as answer:
                return int(answer.status)
        except urllib.error.HTTPError as refused:
            refused.close()
            return refused.code

    def end(self, number: int = signal.SIGINT) -> int:
        self.process.send_signal(number)
        return self.process.wait(SECONDS)


@pytest.fixture
def database_url(tmp_path) -> Iterator[str]:
    """A database of the same kind as the suite's, empty."""
    if not is_postgres():
        yield f"sqlite:///{tmp_path / 'run.sqlite3'}"
        return
    # The maintenance connection: a database cannot be made from inside a transaction, nor dropped from inside itself.
    given, name = connection.settings_dict, f"run_{uuid4().hex}"
    with closing(psycopg.connect(**_place(given), dbname="postgres", autocommit=True)) as server:
        server.execute(f"CREATE DATABASE {name}")
        login = ":".join(filter(None, (given["USER"], given["PASSWORD"])))
        yield f"postgres://{login}@{given['HOST']}:{given['PORT']}/{name}"
        server.execute(f"DROP DATABASE {name} WITH (FORCE)")


def _place(given: dict) -> dict:
    fields = {"host": given["HOST"], "port": given["PORT"], "user": given["USER"], "password": given["PASSWORD"]}
    return {name: value for name, value in fields.items() if value}


@pytest.fixture
def start(tmp_path, database_url) -> Iterator:
    started: list[Running] = []

    def begin(port: int | None = None) -> Running:
        started.append(Running(tmp_path, port or free_port(), database_url))
        return started[-1]

    yield begin
    for running in started:
        if running.process.poll() is None:
            left = [*running.family(), psutil.Process(running.process.pid)]
            for process in left:
                process.kill()
            running.process.wait(SECONDS)


def alive(family: list[psutil.Process]) -> list[psutil.Process]:
    """Those that still run; one that has ended and waits for whoever inherits it does not."""
    return [process for process in family if process.is_running() and process.status() != psutil.STATUS_ZOMBIE]


def test_it_works(start, tmp_path):
    first = start().wait_until_up()
    path = tmp_path / "demo-credentials.json"
    secrets = json.loads(path.read_text("utf-8"))
    key = secrets["api_key"]
    assert path.stat().st_mode & 0o777 == 0o600
    for secret in (key, secrets["reviewer_password"], secrets["operator_password"], str(path)):
        assert secret in first.text()
    turn = {"messages": [{"role": "user", "content": "The mascot is a heron."}]}
    assert [first.sign_in_wrongly(f"203.0.113.{each}") for each in range(6)] == [200] * 4 + [429] * 2
    committed = first.ask("/v1/commit_turn", key, {"domain_id": "demo", "session_id": "run", "turn_events": turn})
    assert committed["seq"] == 1
    family = first.family()
    assert len(family) > 2, "web, worker and the worker's own processes"
    assert first.end(signal.SIGINT) == 0
    assert not alive(family)

    second = start().wait_until_up()
    found = second.ask("/v1/search_memory", key, {"domain_id": "demo", "session_id": "run", "query": "mascot"})
    assert [row["text"] for row in found["results"]] == ["The mascot is a heron."]
    assert json.loads(path.read_text("utf-8")) == secrets
    assert key not in second.text()
    assert secrets["reviewer_password"] not in second.text()
    assert str(path) in second.text()
    family = second.family()
    assert second.end(signal.SIGTERM) == 0
    assert not alive(family)


def test_a_part_that_dies_takes_the_other_along(start):
    running = start().wait_until_up()
    family = running.family()
    worker = next(
        process for process in family if process.ppid() == running.process.pid and "qcluster" in process.cmdline()
    )
    worker.kill()
    assert running.process.wait(SECONDS) == 1
    assert "worker stopped by itself" in running.text()
    assert not alive(family)


def test_a_taken_port_is_named(start, tmp_path):
    with socket.socket() as other:
        other.bind(("127.0.0.1", 0))
        other.listen()
        port = other.getsockname()[1]
        running = start(port)
        assert running.process.wait(SECONDS) == 1
    assert f"Port {port} is taken on 127.0.0.1" in running.text()
    assert "PORT=" in running.text()
    assert "Traceback" not in running.text()
    assert not (tmp_path / "demo-credentials.json").exists(), "nothing is prepared for a server that cannot start"
