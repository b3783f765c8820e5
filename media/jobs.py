"""Media's background jobs: one line each, the work is in actions."""

from __future__ import annotations

from governance.gate import perform, system_ctx
from kernel.context import Door
from media.actions import working
from media.actions.objects import GARBAGE_COLLECT_MEDIA_OBJECTS
from media.contracts.objects import CollectMediaInput

BATCHES = 50  # a run removes at most so many batches of bytes, and the next one goes on


def run_media_job(job_id: str) -> bool:
    """Run this job, unless somebody has it or had it."""
    return working.run_media_job(job_id)


def resume_media_jobs() -> int:
    """Take back the jobs of lost workers and run those that are due; each minute."""
    return working.resume_media_jobs()


def prune_media_jobs() -> None:
    """Delete jobs that ended a week ago; each hour."""
    working.prune_media_jobs()


def collect_media_objects() -> int:
    """Remove stored bytes that nobody needs, batch by batch; how many. Ended in the middle, the next run goes on."""
    removed = 0
    for _ in range(BATCHES):
        answer = perform(GARBAGE_COLLECT_MEDIA_OBJECTS, CollectMediaInput(), ctx=system_ctx("worker", Door.JOB))
        removed += answer.result.removed if answer.result else 0
        if answer.result is None or not answer.result.more:
            break
    return removed
