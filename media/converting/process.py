"""Running the parsing process: what it may see, how long it may take, and what its end means."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from kernel.errors import InvalidInputError, TooLargeError
from media.converting.results import Limits

_CHILD = Path(__file__).with_name("child.py")
_REASONS = {
    "damaged": "The file is damaged or not what its name says: it cannot be read as {kind}.",
    "protected": "The file is protected by a password: take the protection away first.",
}


def parse(path: Path, extension: str, limits: Limits) -> dict[str, Any]:
    """What the process read. Raises InvalidInputError for a file it cannot read, TooLargeError over a limit."""
    given = (path, extension, limits.memory, max(1, int(limits.seconds)), limits.pages, limits.chars)
    return _read(run(_CHILD, given, limits.seconds), extension)


def run(child: Path, given: Sequence[object], seconds: float) -> bytes:
    """What a script wrote to its standard output; it is alone, with no environment, in an empty folder.

    Raises TooLargeError where it takes longer than it may.
    """
    command = [sys.executable, "-I", "-X", "utf8", str(child), *map(str, given)]
    with tempfile.TemporaryDirectory() as empty, tempfile.TemporaryFile() as answer:
        running = subprocess.Popen(  # noqa: S603  our own script; the file's name is an argument and never a word of a shell
            command,
            stdin=subprocess.DEVNULL,
            stdout=answer,
            stderr=subprocess.DEVNULL,
            cwd=empty,
            env={"PYTHONDONTWRITEBYTECODE": "1", "HOME": empty, "TMPDIR": empty},
            start_new_session=True,
        )
        try:
            code = running.wait(seconds)
        except subprocess.TimeoutExpired as exc:
            raise TooLargeError(f"The file takes longer than {seconds:g} seconds to read: split it.") from exc
        finally:
            _stop(running)
        answer.seek(0)
        told = answer.read()
    if code in (-signal.SIGXCPU, -signal.SIGKILL):
        raise TooLargeError(f"The file takes longer than {seconds:g} seconds to read: split it.")
    return told


def _stop(running: subprocess.Popen[bytes]) -> None:
    if running.poll() is None:
        os.killpg(running.pid, signal.SIGKILL)
        running.wait()


def _read(told: bytes, extension: str) -> dict[str, Any]:
    try:
        answer: dict[str, Any] = json.loads(told)
    except ValueError:
        answer = {"refused": ["damaged", ""]}
    if "refused" not in answer:
        return answer
    reason, detail = [*answer["refused"], ""][:2]
    if reason == "too_large":
        raise TooLargeError(f"The file is too large to read: {detail}.")
    raise InvalidInputError(_REASONS[reason].format(kind=extension.lstrip(".")))
