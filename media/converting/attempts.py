"""The script that tries what a parsing process must be refused, and writes as JSON what it got through with.

It is run by `alone.py`, in the place of a parser, and imports nothing of the product. It does no harm where it succeeds:
the process that it starts ends at once, the program is nowhere, the signal is none, the file lies in its own empty folder.
"""

from __future__ import annotations

import errno
import json
import os
import socket
import sys
from collections.abc import Callable
from pathlib import Path


def start_a_process() -> None:
    """Start another process."""
    if child := os.fork():
        os.waitpid(child, 0)
    else:
        os._exit(0)


def start_a_program() -> None:
    """Become another program."""
    os.execv("./none", ["none"])  # noqa: S606  there is none


def reach_the_network() -> None:
    """Open a socket."""
    socket.socket().close()


def signal_another_process() -> None:
    """See whether a signal to the server could be sent."""
    os.kill(os.getppid(), 0)


def write_a_file() -> None:
    """Write a file."""
    Path("probe").write_bytes(b"")


def remove_a_file() -> None:
    """Take a file away."""
    Path("none").unlink()


ATTEMPTS: tuple[Callable[[], None], ...] = (
    start_a_process, start_a_program, reach_the_network, signal_another_process, write_a_file, remove_a_file,
)  # fmt: skip


def gets_through(attempt: Callable[[], None]) -> bool:
    """Whether the kernel lets it pass; that it then comes to nothing is another matter."""
    try:
        attempt()
    except OSError as exc:
        return exc.errno != errno.EPERM
    return True


if __name__ == "__main__":
    sys.stdout.write(json.dumps([each.__name__.replace("_", " ") for each in ATTEMPTS if gets_through(each)]))
