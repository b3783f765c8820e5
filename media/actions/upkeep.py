"""Actions that keep the table of jobs in order: take back what lost workers held, delete what ended long ago."""

from __future__ import annotations

from kernel.actions import Action, Applied, Target, register
from kernel.context import Ctx, Right
from kernel.contracts import Contract
from media.contracts.jobs import (
    PruneMediaJobsInput,
    PruneMediaJobsResult,
    RecoverMediaJobsInput,
    RecoverMediaJobsResult,
)
from media.services import jobs


def _everywhere(given: Contract, ctx: Ctx) -> Target:
    return Target(None)


def _nothing(given: Contract, ctx: Ctx) -> None:
    return None


def _recover(given: RecoverMediaJobsInput, prepared: None, ctx: Ctx) -> Applied[RecoverMediaJobsResult]:
    requeued, failed, changes = jobs.recover_stale(ctx)
    return RecoverMediaJobsResult(requeued=requeued, failed=failed), changes


RECOVER_MEDIA_JOBS = register(
    Action(
        "recover_media_jobs",
        "Take back media jobs whose worker shows no life; a job does it each minute.",
        RecoverMediaJobsInput,
        RecoverMediaJobsResult,
        Right.OPERATE,
        _everywhere,
        _nothing,
        _recover,
        queueable=False,
    )
)


def _prune(given: PruneMediaJobsInput, prepared: None, ctx: Ctx) -> Applied[PruneMediaJobsResult]:
    changes = jobs.prune(given.days, given.limit, ctx)
    return PruneMediaJobsResult(pruned=len(changes)), changes


PRUNE_MEDIA_JOBS = register(
    Action(
        "prune_media_jobs",
        "Delete media jobs that ended a week ago and let go of their uploads; a job does it hourly.",
        PruneMediaJobsInput,
        PruneMediaJobsResult,
        Right.OPERATE,
        _everywhere,
        _nothing,
        _prune,
        destroys=True,
        queueable=False,
    )
)
