"""Media's background jobs: run one import, and each minute and hour what keeps the table of jobs in order."""

from __future__ import annotations

import logging
from datetime import datetime, timedelta
from uuid import UUID

from governance.gate import perform, system_ctx
from kernel import clock
from kernel.context import Ctx, Door
from kernel.errors import DomainError
from media.actions.objects import GARBAGE_COLLECT_MEDIA_OBJECTS
from media.actions.running import RUN_MEDIA_JOB
from media.actions.upkeep import PRUNE_MEDIA_JOBS, RECOVER_MEDIA_JOBS
from media.contracts.jobs import PruneMediaJobsInput, RecoverMediaJobsInput, RunMediaJobInput
from media.contracts.objects import CollectMediaInput
from media.selectors.jobs import old_jobs, stale_jobs
from media.services import leases
from scopes.selectors import identify_again

KEPT_DAYS = 7
BATCH = 10
BATCH_SECONDS = 45
OUTAGE_SECONDS = 2
BATCHES = 50  # a run removes at most so many batches of bytes, and the next one goes on

logger = logging.getLogger(__name__)


def run_media_job(job_id: str) -> bool:
    """Run this job; False where it does not wait, is not due yet, or another worker has it."""
    lease = leases.claim(UUID(job_id), clock.now())
    if lease is not None:
        _run(lease)
    return lease is not None


def resume_media_jobs() -> int:
    """Take back the jobs of lost workers, then run due ones, those whose message was lost included; how many were run."""
    recover_media_jobs()
    return run_due(BATCH, until=clock.now() + timedelta(seconds=BATCH_SECONDS))


def run_due(most: int, *, until: datetime | None = None) -> int:
    """Run due jobs, the one that waits longest first, and begin none after `until`; how many were run."""
    ran = 0
    while ran < most and (until is None or clock.now() < until):
        lease = leases.claim_next(clock.now())
        if lease is None:
            break
        _run(lease)
        ran += 1
    return ran


def _run(lease: leases.Lease) -> None:
    """Do a claimed job in its owner's name, with what the owner may do now; how it went is in its row and the audit log."""
    identity = identify_again(lease.owner)
    ctx = Ctx(identity.actor, Door.JOB, identity.reach)
    with leases.alive(lease):
        try:
            perform(RUN_MEDIA_JOB, RunMediaJobInput(id=lease.job_id, lease_token=lease.token), ctx=ctx)
        except DomainError as exc:
            logger.info("job %s: %s", lease.job_id, exc.message)
        except Exception:
            logger.exception("job %s, request %s", lease.job_id, ctx.request_id)
        # Where the database was out of reach, nothing is on record of how it went.
        pause = timedelta(seconds=OUTAGE_SECONDS)
        leases.give_back(lease, clock.now() + pause, f"The database could not be reached ({ctx.request_id}).")


def recover_media_jobs() -> None:
    """Take back the jobs of lost workers."""
    if stale_jobs(clock.now()).exists():
        perform(RECOVER_MEDIA_JOBS, RecoverMediaJobsInput(), ctx=system_ctx("worker", Door.JOB))


def prune_media_jobs() -> None:
    """Delete jobs that ended a week ago."""
    if old_jobs(clock.now() - timedelta(days=KEPT_DAYS)).exists():
        perform(PRUNE_MEDIA_JOBS, PruneMediaJobsInput(days=KEPT_DAYS), ctx=system_ctx("worker", Door.JOB))


def collect_media_objects() -> int:
    """Remove stored bytes that nobody needs, batch by batch; how many. Ended in the middle, the next run goes on."""
    removed = 0
    for _ in range(BATCHES):
        answer = perform(GARBAGE_COLLECT_MEDIA_OBJECTS, CollectMediaInput(), ctx=system_ctx("worker", Door.JOB))
        removed += answer.result.removed if answer.result else 0
        if answer.result is None or not answer.result.more:
            break
    return removed
