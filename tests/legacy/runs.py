"""The command in a process of its own, on the database of the running test: to be killed, interrupted or measured."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from typing import Any

from django.conf import settings
from django.core.management import call_command

from scopes.contracts import LEGACY_DOMAIN
from scripts.environment import without_settings
from tests.conftest import make_agent
from tests.guards.write_guard import unguarded
from tests.legacy.judging import OWNER
from tests.legacy.sources.databases import Source
from tests.media.killing import database_url

SECONDS = 3_600


def running(source: Source, folder: Path, *arguments: str) -> AbstractContextManager[subprocess.Popen[str]]:
    """A run that has begun and whose output can be read; whatever happens, nothing of it is left. `folder` is its
    DATA_DIR."""
    return _begun(folder, "migrate_legacy", "--from", source.url, "--owner", OWNER, "--json", *arguments)


@contextmanager
def _begun(folder: Path, *command: str) -> Iterator[subprocess.Popen[str]]:
    with subprocess.Popen(
        [sys.executable, "manage.py", *command],
        cwd=settings.BASE_DIR,
        env={
            **without_settings(),
            "DATA_DIR": str(folder),
            "DATABASE_URL": database_url(),
            "SMARTBRAIN_MEDIA_ALLOWED_HOSTS": "*",
        },
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    ) as process:
        try:
            yield process
        finally:
            process.kill()


def run(source: Source, folder: Path, *arguments: str) -> dict[str, Any]:
    """A whole run; its figures."""
    with running(source, folder, *arguments) as process:
        out, err = process.communicate(timeout=SECONDS)
        assert process.returncode == 0, err[-3000:]
        figures: dict[str, Any] = json.loads(out)
        return figures


def validated(source: Source, folder: Path) -> dict[str, Any]:
    """The report of a validation against the source, whatever it says."""
    with _begun(folder, "validate_migration", "--from", source.url, "--json") as process:
        out, err = process.communicate(timeout=SECONDS)
        assert process.returncode in (0, 1), err[-3000:]
        report: dict[str, Any] = json.loads(out)
        return report


def start_over() -> None:
    """Empty the target, and make its owner anew."""
    with unguarded():
        call_command("flush", interactive=False, verbosity=0)
    make_agent(OWNER, LEGACY_DOMAIN)
