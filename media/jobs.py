"""Media's background jobs: one line each, the work is elsewhere."""

from __future__ import annotations

from governance.gate import perform, system_ctx
from kernel.context import Door
from media.actions.objects import GARBAGE_COLLECT_MEDIA_OBJECTS
from media.contracts.objects import CollectMediaInput

BATCHES = 50  # a run removes at most so many batches, and the next one goes on


def collect_media_objects() -> int:
    """Remove stored bytes that nobody needs, batch by batch; how many. Ended in the middle, the next run goes on."""
    removed = 0
    for _ in range(BATCHES):
        answer = perform(GARBAGE_COLLECT_MEDIA_OBJECTS, CollectMediaInput(), ctx=system_ctx("worker", Door.JOB))
        removed += answer.result.removed if answer.result else 0
        if answer.result is None or not answer.result.more:
            break
    return removed
