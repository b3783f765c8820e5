"""What becomes of a media job: asked for, done, failed, canceled, tried again, taken back, deleted. All inside the gate."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any
from uuid import UUID

from django.db import IntegrityError, transaction

from kernel.actions import Change
from kernel.canonical import digest
from kernel.conf import conf
from kernel.context import ANY, Ctx
from kernel.db import skipping_locked
from kernel.errors import ConflictError, DomainError, IdempotencyConflictError, TransitionError
from kernel.queue import enqueue
from kernel.rows import insert
from kernel.text import storable
from media.contracts.kinds import FINAL, JobStatus
from media.converting import BusyError
from media.models import MediaJob, MediaObject
from media.selectors.jobs import PASSING, old_jobs, stale_jobs
from media.selectors.uploads import without_key
from media.services.leases import held
from media.storage import store

MAX_ERROR = 2_000
_BUSY_FOR = timedelta(days=1)  # since it waits: so long an attempt that finds too many others at work is no attempt
_STILL_BUSY = (
    "As many files as may be were being read by others whenever it was tried. See whether parsing processes hang, or let "
    "more run at once (`SMARTBRAIN_MEDIA_PARSERS`); then retry the job."
)


class LeaseLostError(TransitionError):
    """Another worker took over this job: nothing of what was done is kept."""


@dataclass(frozen=True, slots=True)
class Wanted:
    """An import as it was asked for; `scopes` are written `type:id`, `staged` is the upload that it reads."""

    domain_id: str
    operation: str
    source: str
    options: dict[str, Any]
    scopes: tuple[str, ...] = ()
    staged: MediaObject | None = None

    @property
    def fingerprint(self) -> str:
        """SHA-256 of what was asked: the order of keys is nothing to it, that of lists is."""
        source = self.staged.content_hash if self.staged else self.source
        return digest([self.operation, source, self.options, self.domain_id, list(self.scopes)])


def submit(wanted: Wanted, key: str, ctx: Ctx) -> tuple[MediaJob, list[Change]]:
    """A new job, or with no change the one that this actor asked for before under the same key.

    Raises IdempotencyConflictError where the key was used for something else, ConflictError where what came of it was
    erased since. Of two at once, one is stored.
    """
    try:
        with transaction.atomic():
            row = MediaJob.objects.create(
                domain_id=wanted.domain_id,
                owner_id=ctx.actor.id,
                owner_name=ctx.actor.name,
                operation=wanted.operation,
                source=wanted.source,
                options=wanted.options,
                scopes=list(wanted.scopes),
                place=wanted.scopes[0] if wanted.scopes else ANY,
                max_attempts=conf().media_attempts,
                available_at=ctx.now,
                created_at=ctx.now,
                waits_since=ctx.now,
                idempotency_key=key,
                request_fingerprint=wanted.fingerprint,
                staging_object=wanted.staged,
            )
    except IntegrityError:
        earlier = MediaJob.objects.filter(owner_id=ctx.actor.id, idempotency_key=key).first() if key else None
        if earlier is None:
            raise
        if not earlier.request_fingerprint:
            raise ConflictError(
                "What this key's job imported was erased since: use a new key for a new job."
            ) from None
        if earlier.request_fingerprint != wanted.fingerprint:
            raise IdempotencyConflictError from None
        return earlier, []
    begin(row)
    return row, [Change("media_jobs", str(row.pk), None, _telling(row))]


def adopt(rows: Sequence[MediaJob]) -> None:
    """Take in jobs that were asked for elsewhere; those that wait are begun like any other."""
    insert(rows)
    for row in rows:
        if row.status == JobStatus.QUEUED:
            begin(row)


def finish(job_id: UUID, token: UUID, result: dict[str, Any], ctx: Ctx) -> tuple[JobStatus, Change]:
    """Keep the result of a job together with what it stored. Raises LeaseLostError where another worker has it."""
    degraded = bool(result.get("warnings")) or result.get("status", "success") != "success"
    status = JobStatus.PARTIAL if degraded else JobStatus.COMPLETED
    written = held(job_id, token).update(
        status=status, result=plain(result), error="", finished_at=ctx.now, lease_token=None, heartbeat_at=None
    )
    if not written:
        raise LeaseLostError
    return status, _moved(job_id, JobStatus.PROCESSING, status)


def hold_on(job_id: UUID, token: UUID, ctx: Ctx) -> None:
    """Lock a job at the start of what stores its result. Raises LeaseLostError where another worker has it."""
    if not held(job_id, token).update(heartbeat_at=ctx.now):
        raise LeaseLostError


def fail(job_id: UUID, token: UUID, error: DomainError, ctx: Ctx) -> list[Change]:
    """Keep why an attempt failed: it waits for another where that may help, else it has failed for good. One that
    found too many others at work does not count on the first day that the job waits."""
    row = held(job_id, token).filter(owner_id=ctx.actor.id).first()
    if row is None:
        return []
    crowded = isinstance(error, BusyError)
    busy = crowded and ctx.now - row.waits_since < _BUSY_FOR
    again = busy or (error.code in PASSING and row.attempts < row.max_attempts)
    message = _STILL_BUSY if crowded and not again else error.message
    text = storable(f"{error.code}: {message}")
    if error.code == "internal":
        text += f" ({ctx.request_id})"
    status = JobStatus.QUEUED if again else JobStatus.FAILED
    pause = timedelta(seconds=max(2**row.attempts, error.retry_after or 0))
    written = held(job_id, token).update(
        status=status,
        error=text[:MAX_ERROR],
        attempts=max(0, row.attempts - 1) if busy else row.attempts,
        available_at=ctx.now + pause if again else row.available_at,
        finished_at=None if again else ctx.now,
        lease_token=None,
        heartbeat_at=None,
    )
    return [_moved(job_id, JobStatus.PROCESSING, status, error=text[:MAX_ERROR])] if written else []


def cancel(row: MediaJob, ctx: Ctx) -> Change:
    """Stop a job that nobody has begun. Raises TransitionError for any other."""
    written = MediaJob.objects.filter(pk=row.pk, status=JobStatus.QUEUED).update(
        status=JobStatus.CANCELED, finished_at=ctx.now
    )
    if not written:
        raise TransitionError(f"Only a queued job can be canceled; this one is {_status_now(row)}.")
    return _moved(row.pk, JobStatus.QUEUED, JobStatus.CANCELED)


def require_upload(row: MediaJob) -> None:
    """Raise TransitionError where the bytes that a job needs are gone. It may ask the store: not in a transaction."""
    if row.staging_object is not None and not store().exists(row.staging_object.content_hash):
        raise TransitionError("The file that was uploaded for this job is gone: upload it again.")


def retry(row: MediaJob, ctx: Ctx) -> Change:
    """Let a failed job begin anew. Raises TransitionError for any other."""
    written = MediaJob.objects.filter(pk=row.pk, status=JobStatus.FAILED).update(
        status=JobStatus.QUEUED,
        attempts=0,
        result=None,
        error="",
        note="",
        available_at=ctx.now,
        waits_since=ctx.now,
        started_at=None,
        finished_at=None,
        acknowledged_at=None,
    )
    if not written:
        raise TransitionError(f"Only a failed job can be retried; this one is {_status_now(row)}.")
    begin(row)
    return _moved(row.pk, JobStatus.FAILED, JobStatus.QUEUED)


def acknowledge(row: MediaJob, ctx: Ctx) -> list[Change]:
    """Note that a person knows how the job ended; saying it again changes nothing. Raises TransitionError before it
    has ended."""
    rows = MediaJob.objects.filter(pk=row.pk, status__in=sorted(FINAL))
    if rows.filter(acknowledged_at=None).update(acknowledged_at=ctx.now):
        return [Change("media_jobs", str(row.pk), {"acknowledged": False}, {"acknowledged": True})]
    if not rows.exists():
        raise TransitionError(f"Only a job that has ended can be acknowledged; this one is {_status_now(row)}.")
    return []


def recover_stale(ctx: Ctx) -> tuple[list[UUID], list[UUID], list[Change]]:
    """Take back the jobs whose worker is lost: those that wait again, those that were begun too often, the changes."""
    requeued: list[UUID] = []
    failed: list[UUID] = []
    changes: list[Change] = []
    for row in stale_jobs(ctx.now).order_by("id")[:500]:
        over = row.attempts >= row.max_attempts
        note = f"The worker of attempt {row.attempts} showed no life since {_last_seen(row):%Y-%m-%d %H:%M:%S} UTC."
        error = "unavailable: No worker lived long enough to finish it." if over else ""
        status = JobStatus.FAILED if over else JobStatus.QUEUED
        written = stale_jobs(ctx.now).filter(pk=row.pk, lease_token=row.lease_token).update(
            status=status,
            note=note,
            error=error,
            available_at=row.available_at if over else ctx.now,
            finished_at=ctx.now if over else None,
            lease_token=None,
            heartbeat_at=None,
        )  # fmt: skip
        if not written:
            continue
        changes.append(_moved(row.pk, JobStatus.PROCESSING, status, note=note))
        (failed if over else requeued).append(row.pk)
        if not over:
            begin(row)
    return requeued, failed, changes


def begin(row: MediaJob) -> None:
    """Let a worker take it up, once this transaction is through."""
    enqueue("media.jobs.run_media_job", str(row.pk))


def _last_seen(row: MediaJob) -> datetime:
    return row.heartbeat_at or row.started_at or row.created_at


def prune(days: int, limit: int, ctx: Ctx) -> list[Change]:
    """Delete jobs that ended so many days ago, so that nothing keeps their uploads any longer."""
    found = list(skipping_locked(old_jobs(ctx.now - timedelta(days=days)))[:limit])
    MediaJob.objects.filter(pk__in=[row.pk for row in found], status__in=sorted(FINAL)).delete()
    return [Change("media_jobs", str(row.pk), _telling(row), None) for row in found]


def plain(value: Any) -> Any:
    """Plain JSON of which every text can be stored."""
    if isinstance(value, str):
        return storable(value)
    if isinstance(value, dict):
        return {storable(name): plain(inner) for name, inner in value.items()}
    if isinstance(value, (list, tuple)):
        return [plain(inner) for inner in value]
    return value


def _telling(row: MediaJob) -> dict[str, Any]:
    """What the audit log keeps of a job."""
    return {"operation": row.operation, "source": without_key(row.source), "status": row.status, "scopes": row.scopes}


def _moved(job_id: UUID, before: JobStatus, after: JobStatus, **more: str) -> Change:
    return Change("media_jobs", str(job_id), {"status": before.value}, {"status": after.value, **more})


def _status_now(row: MediaJob) -> str:
    return MediaJob.objects.values_list("status", flat=True).filter(pk=row.pk).first() or "gone"
