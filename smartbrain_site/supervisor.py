"""Keep a few processes running together: they start, serve and end as one."""

from __future__ import annotations

import errno
import os
import signal
import socket
import subprocess
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from types import FrameType

POLL_SECONDS = 0.1
GRACE_SECONDS = 10.0
STOP_SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


@dataclass(frozen=True, slots=True)
class Part:
    """One process by the name people know it by."""

    name: str
    command: Sequence[str]


class PartStoppedError(Exception):
    """A part ended though nobody asked it to."""


def serve(parts: Sequence[Part], *, ready: Callable[[], bool], announce: Callable[[], None]) -> None:
    """Run the parts until SIGINT, SIGTERM or SIGHUP, then stop them all; `announce` is called once `ready` is true.

    Raises PartStoppedError, after stopping the others, when a part ends by itself.
    """
    with _stop_asked() as stop:
        running: dict[str, subprocess.Popen[bytes]] = {}
        try:
            for part in parts:
                running[part.name] = _start(part)
            _watch(running, stop, ready, announce)
        finally:
            _end(list(running.values()))


def why_not_listen(host: str, port: int) -> str:
    """Why a server cannot listen there now; empty where it can."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    with socket.socket(family) as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((host, port))
        except OverflowError:
            return f"Port {port} is no port: they go from 1 to 65535."
        except OSError as exc:
            if exc.errno == errno.EADDRINUSE:
                return f"Port {port} is taken on {host}: stop what listens there."
            return f"Port {port} on {host} cannot be used: {exc.strerror}."
    return ""


def accepts(host: str, port: int) -> bool:
    """Whether a server listens there now."""
    try:
        socket.create_connection((host, port), timeout=1).close()
    except OSError:
        return False
    return True


def _watch(
    running: dict[str, subprocess.Popen[bytes]],
    stop: threading.Event,
    ready: Callable[[], bool],
    announce: Callable[[], None],
) -> None:
    announced = False
    while not stop.wait(POLL_SECONDS):
        for name, process in running.items():
            if process.poll() is not None:
                raise PartStoppedError(f"{name} stopped by itself (exit status {process.returncode}).")
        if not announced and ready():
            announce()
            announced = True


@contextmanager
def _stop_asked() -> Iterator[threading.Event]:
    """An event that a stop signal sets, for as long as the block lasts."""
    stop = threading.Event()

    def ask(number: int, frame: FrameType | None) -> None:
        stop.set()

    asked = [number for number in STOP_SIGNALS if number != signal.SIGHUP or _hangs_up()]
    before = {number: signal.signal(number, ask) for number in asked}
    try:
        yield stop
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def _hangs_up() -> bool:
    """Whether a closed terminal may stop us; under nohup it may not."""
    return signal.getsignal(signal.SIGHUP) is not signal.SIG_IGN


def _start(part: Part) -> subprocess.Popen[bytes]:
    """A part in a session of its own: Ctrl-C at the terminal comes here first, and what a part starts ends with it."""
    return subprocess.Popen(part.command, stdin=subprocess.DEVNULL, start_new_session=True)  # noqa: S603  our own


def _end(processes: list[subprocess.Popen[bytes]]) -> None:
    """Ask all to stop, wait, then end what is left of each, children included."""
    for process in processes:
        if process.poll() is None:
            process.terminate()
    until = time.monotonic() + GRACE_SECONDS
    for process in processes:
        try:
            process.wait(max(0.0, until - time.monotonic()))
        except subprocess.TimeoutExpired:
            continue
    for process in processes:
        with suppress(ProcessLookupError, PermissionError):  # nothing is left; macOS says so with the second
            os.killpg(process.pid, signal.SIGKILL)
        process.wait()
