"""How a worker works: it takes a job, does it in its owner's name while it shows that it lives, and keeps order."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable
from datetime import timedelta
from uuid import UUID

from governance.gate import perform, system_ctx
from kernel import clock
from kernel.context import Ctx, Door
from kernel.errors import DomainError
from kernel.text import storable
from media.actions.running import RUN_MEDIA_JOB
from media.actions.upkeep import PRUNE_MEDIA_JOBS, RECOVER_MEDIA_JOBS
from media.contracts.jobs import PruneMediaJobsInput, RecoverMediaJobsInput, RunMediaJobInput
from media.selectors.jobs import old_jobs, stale_jobs
from media.services import leases
from scopes.selectors import identify_again

KEPT_DAYS = 7
BATCH = 10
BATCH_SECONDS = 45
OUTAGE_SECONDS = 2

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
    until = time.monotonic() + BATCH_SECONDS
    return run_due(BATCH, stop=lambda: time.monotonic() > until)


def run_due(most: int, *, stop: Callable[[], bool] = lambda: False) -> int:
    """Run due jobs, the one that waits longest first, and begin none once `stop` says so; how many were run."""
    ran = 0
    while ran < most and not stop():
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
            logger.info("job %s: %s", lease.job_id, storable(exc.message))
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
