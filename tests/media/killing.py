"""A server and workers in processes of their own, to be killed at any moment and started again."""

from __future__ import annotations

import http.client
import json
import os
import random
import signal
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from django.conf import settings
from django.db import connection

from kernel.db import is_postgres
from scripts.environment import without_settings
from scripts.postgres import free_port

SECONDS = 600
STALE = 2


def database_url() -> str:
    """The database of the running test."""
    given = connection.settings_dict
    if not is_postgres():
        return f"sqlite:///{given['NAME']}"
    login = ":".join(filter(None, (given["USER"], given["PASSWORD"])))
    return f"postgres://{login}@{given['HOST']}:{given['PORT']}/{given['NAME']}"


class Crew:
    """One web server, one cluster of the queue and one plain worker, on the database of the test."""

    def __init__(self, folder: Path) -> None:
        self.port = free_port()
        self.output = folder / "output.txt"
        self.env = {
            **without_settings(),
            "DATA_DIR": str(folder),
            "DATABASE_URL": database_url(),
            "WORKERS": "1",
            "SMARTBRAIN_MEDIA_STALE_SECONDS": str(STALE),
            "SMARTBRAIN_MEDIA_ATTEMPTS": "100",
        }
        web = ["-m", "uvicorn", "smartbrain_site.asgi:application", "--port", str(self.port), "--log-level", "warning"]
        self.commands = {
            "web": web,
            "cluster": ["manage.py", "qcluster"],
            "worker": ["manage.py", "media_worker", "--interval", "0.2"],
        }
        self.running: dict[str, subprocess.Popen[bytes]] = {}
        self.killed: dict[str, int] = dict.fromkeys(self.commands, 0)

    def start(self, name: str) -> None:
        with self.output.open("ab") as file:
            self.running[name] = subprocess.Popen(
                [sys.executable, *self.commands[name]], cwd=settings.BASE_DIR, env=self.env,
                stdin=subprocess.DEVNULL, stdout=file, stderr=file, start_new_session=True,
            )  # fmt: skip

    def kill(self, name: str) -> None:
        """End the process and all that it started, with no chance to tidy up."""
        process = self.running.pop(name, None)
        if process is not None:
            os.killpg(process.pid, signal.SIGKILL)
            process.wait(SECONDS)

    def kill_again(self, name: str) -> None:
        """Kill it and start it anew."""
        self.kill(name)
        self.killed[name] += 1
        self.start(name)

    def ask(self, path: str, key: str, tree: dict[str, Any] | None = None) -> dict[str, Any]:
        """The answer of the server; asked again, with the same words, for as long as nobody answers."""
        raw = json.dumps(tree).encode() if tree is not None else None
        headers = {"Authorization": f"Bearer {key}", "Content-Type": "application/json"}
        until = time.monotonic() + SECONDS
        while True:
            try:
                request = urllib.request.Request(f"http://127.0.0.1:{self.port}{path}", raw, headers)
                with urllib.request.urlopen(request, timeout=120) as answer:
                    body: dict[str, Any] = json.load(answer)
                    return body
            except urllib.error.HTTPError as exc:
                if exc.code not in (409, 503):  # under way in a process that died, or the database is busy
                    raise
            except (OSError, http.client.HTTPException):
                pass  # it is being killed, perhaps in the middle of its answer, and started again
            assert time.monotonic() < until, self.output.read_text("utf-8")[-4000:]
            time.sleep(0.1)


@contextmanager
def crew(folder: Path) -> Iterator[Crew]:
    """The crew at work; whatever happens, nothing of it is left."""
    made = Crew(folder)
    try:
        for name in made.commands:
            made.start(name)
        yield made
    finally:
        for name in list(made.running):
            made.kill(name)


def moments(seed: int) -> Iterator[tuple[str, float]]:
    """Whom to kill, and how many seconds later than before: the same for the same seed."""
    draw = random.Random(seed)
    while True:
        yield draw.choice(["web", "cluster", "worker", "worker"]), draw.uniform(0.3, 2.5)
