"""Whether a run that says so is really under way: where it began its lock tells, elsewhere the time since it showed life."""

from __future__ import annotations

import fcntl
import socket
from datetime import timedelta
from pathlib import Path

from kernel import clock
from kernel.conf import conf
from legacy.models import MigrationRun

LEASE = timedelta(minutes=5)  # after which a run on another machine that showed no life is taken for broken off
LOCK = "migrate_legacy.lock"
RUNNING, INTERRUPTED = "running", "interrupted"


def here() -> str:
    """The machine and folder in which the lock of a run lies."""
    return f"{socket.gethostname()}:{conf().data_dir.resolve()}"[:300]


def lock_file() -> Path:
    """The file that a run locks for as long as its process lives, however that ends."""
    return conf().data_dir / LOCK


def state_of(row: MigrationRun) -> str:
    """Its state: `interrupted` where it says that it runs and does not."""
    return INTERRUPTED if row.state == RUNNING and not lives(row) else row.state


def lives(row: MigrationRun) -> bool:
    """Whether a run goes on: its process holds its lock, or on another machine it said so lately."""
    machine, _, folder = row.place.partition(":")
    locked = _is_locked(Path(folder) / LOCK) if machine == socket.gethostname() else None
    return (row.heartbeat_at or row.started_at) > clock.now() - LEASE if locked is None else locked


def _is_locked(lock: Path) -> bool | None:
    """Whether some process holds a lock of this machine; None where that cannot be looked at."""
    try:
        with lock.open("rb") as file:
            fcntl.flock(file, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except BlockingIOError:
        return True
    except FileNotFoundError:
        return False
    except OSError:
        return None
    return False
