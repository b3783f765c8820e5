"""Leases on media jobs: a worker takes a job, shows that it lives, or gives it back. The only writes to the table of
jobs outside the gate, since nothing but who works on a row is in them."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from datetime import datetime
from threading import Event, Thread
from uuid import UUID, uuid4

from django.db import Error, connection, transaction
from django.db.models import F, QuerySet

from kernel import clock
from kernel.conf import conf
from kernel.context import Actor, ActorKind
from kernel.db import skipping_locked
from media.contracts.kinds import JobStatus
from media.models import MediaJob
from media.selectors.jobs import due_jobs

HEARTBEAT_SECONDS = 30.0

logger = logging.getLogger(__name__)
_open: ContextVar[bool] = ContextVar("leasing", default=False)


@dataclass(frozen=True, slots=True)
class Lease:
    """A job that this worker holds, and in whose name it is run."""

    job_id: UUID
    token: UUID
    owner: Actor


def is_open() -> bool:
    """Whether the code that asks is taking or keeping a lease; the tests' write guard rests on it."""
    return _open.get()


@contextmanager
def _leasing() -> Iterator[None]:
    token = _open.set(True)
    try:
        with transaction.atomic():
            yield
    finally:
        _open.reset(token)


def claim(job_id: UUID, now: datetime) -> Lease | None:
    """Take this job; None where it is not waiting, not due yet, or another worker was first."""
    return _claim(due_jobs(now).filter(pk=job_id), now)


def claim_next(now: datetime) -> Lease | None:
    """Take the due job that waits longest; None where there is none that nobody else is taking."""
    return _claim(due_jobs(now), now)


def _claim(rows: QuerySet[MediaJob], now: datetime) -> Lease | None:
    with _leasing():
        row = skipping_locked(rows).first()
        if row is None:
            return None
        token = uuid4()
        taken = MediaJob.objects.filter(pk=row.pk, status=JobStatus.QUEUED, attempts=row.attempts).update(
            status=JobStatus.PROCESSING,
            attempts=F("attempts") + 1,
            lease_token=token,
            started_at=now,
            heartbeat_at=now,
        )
    return Lease(row.pk, token, owner_of(row)) if taken else None


def owner_of(row: MediaJob) -> Actor:
    """Who asked for the job."""
    kinds = {"user": ActorKind.PERSON, "system": ActorKind.SYSTEM}
    kind = kinds.get(row.owner_id.partition(":")[0], ActorKind.AGENT)
    return Actor(kind, row.owner_id, row.owner_name)


def beat(lease: Lease, now: datetime) -> bool:
    """Show that the worker lives; False where the lease is lost."""
    with _leasing():
        return bool(held(lease.job_id, lease.token).update(heartbeat_at=now))


def held(job_id: UUID, token: UUID) -> QuerySet[MediaJob]:
    """The job as long as this lease holds it: every write of its worker starts here and counts the rows."""
    return MediaJob.objects.filter(pk=job_id, status=JobStatus.PROCESSING, lease_token=token)


def give_back(lease: Lease, now: datetime, note: str) -> bool:
    """Let another worker have the job where nothing is on record of how it went; False where the lease is lost, or the
    job was begun as often as it may: that one is left to whoever recovers lost jobs, which puts its failure on record."""
    rows = held(lease.job_id, lease.token).filter(attempts__lt=F("max_attempts"))
    with _leasing():
        return bool(
            rows.update(status=JobStatus.QUEUED, lease_token=None, heartbeat_at=None, available_at=now, note=note)
        )


@contextmanager
def alive(lease: Lease) -> Iterator[None]:
    """Show that the worker lives for as long as the block runs."""
    stop = Event()
    interval = min(HEARTBEAT_SECONDS, conf().media_stale_seconds / 3)
    thread = Thread(target=_keep, args=(lease, stop, interval), name=f"lease-{lease.job_id}", daemon=True)
    thread.start()
    try:
        yield
    finally:
        stop.set()
        thread.join()


def _keep(lease: Lease, stop: Event, interval: float) -> None:
    try:
        while not stop.wait(interval):
            try:
                if not beat(lease, clock.now()):
                    return
            except Error as exc:  # the database may be back for the next one
                logger.warning("heartbeat of job %s failed: %s", lease.job_id, exc)
    finally:
        connection.close()
