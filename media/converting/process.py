"""Running the parsing process: what it may see, how long it may take, and what its end means."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from kernel.errors import InvalidInputError, TooLargeError
from media.converting.results import Limits
from media.converting.slots import slot

_CHILD, _ALONE, _ATTEMPTS = (Path(__file__).with_name(f"{name}.py") for name in ("child", "alone", "attempts"))
_MARGIN = 1_048_576
_TRYING = 20.0  # seconds that trying what is refused may take, on a machine that has much to do
_REASONS = {
    "damaged": "The file is damaged or not what its name says: it cannot be read as {kind}.",
    "protected": "The file is protected by a password: take the protection away first.",
}


def parse(path: Path, extension: str, limits: Limits) -> dict[str, Any]:
    """What the process read. Raises InvalidInputError for a file it cannot read, TooLargeError over a limit."""
    longest = 12 * limits.chars + _MARGIN  # JSON may take twelve bytes for a character
    allowed = Allowance(limits.seconds, limits.memory, longest)
    return _read(run(_CHILD, (path, extension, limits.pages, limits.chars), allowed), extension)


def let_through(memory: int) -> list[str] | None:
    """What a parsing process should be refused and is not, in words; None where such a process does not run at all.
    Raises TooLargeError where it does not end by itself."""
    try:
        told: list[str] = json.loads(_run(_ATTEMPTS, (), Allowance(_TRYING, memory)))
    except ValueError:
        return None
    return told


@dataclass(frozen=True, slots=True)
class Allowance:
    """What a script may take: seconds in all, bytes of memory, bytes of its answer."""

    seconds: float
    memory: int
    answer: int = _MARGIN


def run(script: Path, given: Sequence[object], allowed: Allowance) -> bytes:
    """What a script wrote to its standard output. It is alone, with no environment, in an empty folder, and may do no more
    than `alone.py` leaves it; nothing that it started outlives it.

    Raises TooLargeError where it takes longer or says more than it may, BusyError where too many others run.
    """
    with slot() as handle:
        return _run(script, given, allowed, handle)


def _run(script: Path, given: Sequence[object], allowed: Allowance, *held: int) -> bytes:
    """The same with no regard to others. What is in `held` the script holds for as long as it lives."""
    seconds = allowed.seconds
    limits = (allowed.memory, max(1, int(seconds)), allowed.answer)
    command = [sys.executable, "-I", "-X", "utf8", *map(str, (_ALONE, *limits, script, *given))]
    with tempfile.TemporaryDirectory() as empty, tempfile.TemporaryFile() as answer:
        running = subprocess.Popen(  # noqa: S603  our own script; the file's name is an argument and never a word of a shell
            command,
            stdin=subprocess.DEVNULL,
            stdout=answer,
            stderr=subprocess.DEVNULL,
            cwd=empty,
            env={"PYTHONDONTWRITEBYTECODE": "1", "HOME": empty, "TMPDIR": empty},
            start_new_session=True,
            pass_fds=held,
        )
        try:
            code = running.wait(seconds)
        except subprocess.TimeoutExpired as exc:
            raise TooLargeError(f"The file takes longer than {seconds:g} seconds to read: split it.") from exc
        finally:
            _stop(running)
        answer.seek(0)
        told = answer.read(allowed.answer)
    if len(told) == allowed.answer:
        raise TooLargeError(f"What the file holds is over {allowed.answer} bytes: split it.")
    if code in (-signal.SIGXCPU, -signal.SIGALRM, -signal.SIGKILL):
        raise TooLargeError(f"The file takes longer than {seconds:g} seconds to read: split it.")
    return told


def _stop(running: subprocess.Popen[bytes]) -> None:
    """End the whole group: the script, and where it could start anything, that too."""
    with suppress(ProcessLookupError):
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
