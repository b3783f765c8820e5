"""How many parsing processes run at once on this machine: each holds one of a few lock files for as long as it lives."""

from __future__ import annotations

import fcntl
import os
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from kernel.conf import conf
from kernel.errors import UnavailableError

_WAIT_SECONDS = 30.0
_LOOK_SECONDS = 0.05
_RETRY_SECONDS = 15


class BusyError(UnavailableError):
    """As many files are being read as may be at once: it was not this file's fault."""


@contextmanager
def slot() -> Iterator[int]:
    """The handle of a lock that no other process of this machine holds. Given on to a child, the child holds it too, so
    that a parser whose server was killed still counts.

    Raises BusyError where none of them comes free within half a minute.
    """
    folder = conf().data_dir / "parsing"
    folder.mkdir(parents=True, exist_ok=True)
    handle = _taken(folder, max(1, conf().media_parsers))
    try:
        yield handle
    finally:
        os.close(handle)


def _taken(folder: Path, number: int) -> int:
    until = time.monotonic() + _WAIT_SECONDS
    while True:
        for name in range(number):
            handle = os.open(folder / f"{name}.lock", os.O_RDONLY | os.O_CREAT, 0o600)
            try:
                fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                os.close(handle)
            else:
                return handle
        if time.monotonic() >= until:
            raise BusyError("Other files are being read: try again in a moment.", retry_after=_RETRY_SECONDS)
        time.sleep(_LOOK_SECONDS)
