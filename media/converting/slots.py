"""How many parsing processes run at once on this machine: each holds one of a few lock files for as long as it lives."""

from __future__ import annotations

import fcntl
import os
import time
from collections.abc import Iterator
from contextlib import contextmanager

from kernel.conf import conf
from kernel.errors import UnavailableError

_FOLDER = "parsing"
_WAIT_SECONDS = 30.0
_LOOK_SECONDS = 0.05
_RETRY_SECONDS = 15


class BusyError(UnavailableError):
    """As many files are being read as may be at once: it was not this file's fault."""


@contextmanager
def slot() -> Iterator[int]:
    """The handle of a lock that no other process of this machine holds. Given on to a child, the child holds it too, so
    that a parser whose server was killed still counts.

    Raises BusyError where none of them comes free within half a minute, UnavailableError where no file can be locked.
    """
    handle = _taken(max(1, conf().media_parsers))
    try:
        yield handle
    finally:
        os.close(handle)


def check_folder() -> None:
    """Raise UnavailableError where the files cannot be made or locked."""
    handle = _lock(0)
    if handle is not None:
        os.close(handle)


def _taken(number: int) -> int:
    until = time.monotonic() + _WAIT_SECONDS
    while True:
        for place in range(number):
            handle = _lock(place)
            if handle is not None:
                return handle
        if time.monotonic() >= until:
            raise BusyError("Other files are being read: try again in a moment.", retry_after=_RETRY_SECONDS)
        time.sleep(_LOOK_SECONDS)


def _lock(place: int) -> int | None:
    """The handle of one file, locked; None where another process holds it."""
    folder = conf().data_dir / _FOLDER
    try:
        folder.mkdir(parents=True, exist_ok=True)
        # NFS locks only a handle that may write.
        handle = os.open(folder / f"{place}.lock", os.O_RDWR | os.O_CREAT, 0o600)
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            os.close(handle)
            raise
    except BlockingIOError:
        return None
    except OSError as exc:
        raise UnavailableError(
            f"No file can be read: the lock files in the folder `{_FOLDER}` of the server's data folder cannot be used "
            f"({exc.strerror}). Its operator has to give the server's user the right to write there, on a disk that "
            "takes locks."
        ) from exc
    return handle
