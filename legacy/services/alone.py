"""One run at a time, on this machine by a lock that is gone with its process, on others by the row of the run."""

from __future__ import annotations

import fcntl
import time
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import datetime
from uuid import UUID

from django.db import IntegrityError, transaction

from kernel import clock
from kernel.conf import conf
from kernel.errors import ConflictError
from legacy.models import MigrationRun
from legacy.selectors.running import INTERRUPTED, LEASE, RUNNING, here, lives, lock_file

EVERY = 5  # seconds after which a run shows that it lives, at the earliest
_TRIES, _PAUSE = 5, 0.05  # whoever looks whether a run goes on holds the lock for a moment


@contextmanager
def alone() -> Iterator[None]:
    """Hold the lock of runs on this machine. Raises ConflictError where another run holds it."""
    conf().data_dir.mkdir(parents=True, exist_ok=True)
    with lock_file().open("w") as file:
        for left in reversed(range(_TRIES)):
            try:
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
                break
            except OSError as exc:
                if not left:
                    raise ConflictError(
                        "Another migrate_legacy is running on this machine: wait until it ends."
                    ) from exc
                time.sleep(_PAUSE)
        yield


def refuse_beside_another() -> None:
    """Raise ConflictError where another run goes on. Whoever asks holds the lock, so none does in this place."""
    for row in MigrationRun.objects.filter(state=RUNNING).exclude(place=here()):
        if lives(row):
            raise _another(row)


def open_run(row: MigrationRun) -> None:
    """Store a run that begins; those that were killed are called interrupted from now on. Raises ConflictError where
    another goes on, or began at the same moment."""
    refuse_beside_another()
    MigrationRun.objects.filter(state=RUNNING).update(state=INTERRUPTED, finished_at=clock.now())
    row.place, row.heartbeat_at = here(), clock.now()
    try:
        with transaction.atomic():
            row.save(force_insert=True)
    except IntegrityError as exc:
        raise ConflictError("Another migrate_legacy began at the same moment: wait until it ends.") from exc


class Pulse:
    """What a run shows of itself; `None` as its id for one that nobody else sees."""

    def __init__(self, run_id: UUID | None) -> None:
        self._run_id = run_id
        self._last: datetime | None = None

    def due(self) -> bool:
        """Whether it is time to show life again."""
        return self._run_id is not None and (self._last is None or (clock.now() - self._last).total_seconds() >= EVERY)

    def beat(self) -> None:
        """Show that the run goes on. Raises ConflictError where it was taken for broken off meanwhile."""
        if self._run_id is None:
            return
        self._last = clock.now()
        if not MigrationRun.objects.filter(pk=self._run_id, state=RUNNING).update(heartbeat_at=self._last):
            raise taken_for_broken_off()


def taken_for_broken_off() -> ConflictError:
    """What a run ends with that is none any more, since another began."""
    return ConflictError("This run showed no life for so long that another began: it ends here.")


def _another(row: MigrationRun) -> ConflictError:
    seen = row.heartbeat_at or row.started_at
    return ConflictError(
        f"Another migrate_legacy is running ({row.place or row.source}, last seen {seen:%Y-%m-%d %H:%M:%S} UTC): wait until "
        f"it ends. Where it was killed, it is taken for broken off {LEASE.seconds // 60} minutes after that."
    )
