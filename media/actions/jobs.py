"""Actions on media jobs: look at them, cancel, retry, acknowledge."""

from __future__ import annotations

from dataclasses import dataclass
from uuid import UUID

from django.db.models import QuerySet

from kernel.actions import Action, Applied, Target, register
from kernel.context import Ctx, Right
from kernel.errors import ForbiddenError, TransitionError
from kernel.paging import encode, page
from media.contracts.jobs import MAX_JOBS_AT_ONCE as _MOST
from media.contracts.jobs import (
    JobRef,
    JobView,
    ListMediaJobsInput,
    ListMediaJobsResult,
    MediaJobStatsInput,
    MediaJobStatsResult,
    RefusedJob,
    RetryMediaJobsInput,
    RetryMediaJobsResult,
)
from media.contracts.kinds import JobStatus
from media.models import MediaJob
from media.selectors.jobs import (
    job_by_id,
    require_steering,
    stats,
    unacknowledged,
    view_job,
    visible_jobs,
)
from media.services import jobs
from scopes.selectors import require_domain


def _job_target(given: JobRef, ctx: Ctx) -> Target:
    row = job_by_id(given.id, ctx)
    return Target(row.domain_id, scopes=(), place=row.place)


def _get(given: JobRef, ctx: Ctx) -> JobView:
    return view_job(job_by_id(given.id, ctx), ctx)


GET_MEDIA_JOB = register(
    Action(
        "get_media_job",
        "Read one media job: where it is, its error or result, and what to do next.",
        JobRef,
        JobView,
        Right.READ,
        _job_target,
        _get,
    )
)


def _seen_target(given: ListMediaJobsInput | MediaJobStatsInput | RetryMediaJobsInput, ctx: Ctx) -> Target:
    if given.domain_id is None:
        return Target(None, scopes=())
    require_domain(given.domain_id, ctx)
    return Target(given.domain_id, scopes=())


def _seen(domain_id: str | None, ctx: Ctx) -> QuerySet[MediaJob]:
    rows = visible_jobs(ctx)
    return rows if domain_id is None else rows.filter(domain_id=domain_id)


def _list(given: ListMediaJobsInput, ctx: Ctx) -> ListMediaJobsResult:
    rows = _seen(given.domain_id, ctx)
    if given.status:
        rows = rows.filter(status__in=given.status)
    if given.unacknowledged:
        rows = unacknowledged(rows)
    asked = given.model_copy(update={"offset": 0})
    if given.offset:
        last = rows.order_by("-id").values_list("id", flat=True)[given.offset - 1 : given.offset].first()
        if last is None:
            return ListMediaJobsResult(jobs=[])
        asked = asked.model_copy(update={"cursor": encode([str(last)], asked)})
    found, cursor = page(rows, asked, "id", UUID, newest_first=True)
    return ListMediaJobsResult(jobs=[view_job(row, ctx) for row in found], next_cursor=cursor)


LIST_MEDIA_JOBS = register(
    Action(
        "list_media_jobs",
        "List the media jobs that you can see, newest first.",
        ListMediaJobsInput,
        ListMediaJobsResult,
        Right.READ,
        _seen_target,
        _list,
        resource="media/jobs",
    )
)


def _stats(given: MediaJobStatsInput, ctx: Ctx) -> MediaJobStatsResult:
    return stats(_seen(given.domain_id, ctx), ctx.now)


MEDIA_JOB_STATS = register(
    Action(
        "media_job_stats",
        "Count the media jobs that you can see, state by state.",
        MediaJobStatsInput,
        MediaJobStatsResult,
        Right.READ,
        _seen_target,
        _stats,
        resource="media/jobs/stats",
    )
)


def _steered(given: JobRef, ctx: Ctx) -> MediaJob:
    row = job_by_id(given.id, ctx)
    require_steering(row, ctx)
    return row


def _after(row: MediaJob, ctx: Ctx) -> JobView:
    return view_job(job_by_id(row.pk, ctx), ctx)


def _cancel(given: JobRef, row: MediaJob, ctx: Ctx) -> Applied[JobView]:
    change = jobs.cancel(row, ctx)
    return _after(row, ctx), [change]


CANCEL_MEDIA_JOB = register(
    Action(
        "cancel_media_job",
        "Stop a media job that no worker has begun.",
        JobRef,
        JobView,
        Right.READ,
        _job_target,
        _steered,
        _cancel,
        queueable=False,
        instead="Import it again.",
    )
)


def _retriable(given: JobRef, ctx: Ctx) -> MediaJob:
    row = _steered(given, ctx)
    jobs.require_upload(row)
    return row


def _retry(given: JobRef, row: MediaJob, ctx: Ctx) -> Applied[JobView]:
    change = jobs.retry(row, ctx)
    return _after(row, ctx), [change]


RETRY_MEDIA_JOB = register(
    Action(
        "retry_media_job",
        "Let a failed media job begin anew.",
        JobRef,
        JobView,
        Right.READ,
        _job_target,
        _retriable,
        _retry,
        queueable=False,
        instead="Cancel it while it waits.",
    )
)


def _acknowledge(given: JobRef, row: MediaJob, ctx: Ctx) -> Applied[JobView]:
    changes = jobs.acknowledge(row, ctx)
    return _after(row, ctx), changes


ACKNOWLEDGE_MEDIA_JOB = register(
    Action(
        "acknowledge_media_job",
        "Note that you know how a media job ended: it asks for attention no longer.",
        JobRef,
        JobView,
        Right.READ,
        _job_target,
        _steered,
        _acknowledge,
        queueable=False,
        instead="Nothing is lost by it: the job stays in the list.",
    )
)


_LOOKED_AT = 5 * _MOST  # the store may be asked about each


@dataclass(frozen=True, slots=True)
class _Chosen:
    """Jobs to try again, those that cannot be with the reason, and how many failed ones are left."""

    rows: list[MediaJob]
    refused: list[RefusedJob]
    remaining: int


def _choose(given: RetryMediaJobsInput, ctx: Ctx) -> _Chosen:
    """The jobs named, or the newest failed ones that nobody took note of: who acknowledged one left it as it is. It looks
    past those that cannot be tried again, so that they do not keep the rest from it for ever."""
    visible = _seen(given.domain_id, ctx).select_related("staging_object")
    failed = unacknowledged(visible).filter(status=JobStatus.FAILED)
    rows = visible.filter(pk__in=given.ids).order_by("id") if given.ids else failed.order_by("-finished_at", "-id")
    chosen: list[MediaJob] = []
    refused: list[RefusedJob] = []
    found = set()
    for row in rows[:_LOOKED_AT]:
        found.add(row.pk)
        try:
            require_steering(row, ctx)
            jobs.require_upload(row)
        except (ForbiddenError, TransitionError) as exc:
            refused.append(RefusedJob(id=row.pk, reason=exc.message))
        else:
            chosen.append(row)
        if len(chosen) == _MOST:
            break
    unknown = [RefusedJob(id=each, reason="No such job that you can see.") for each in given.ids if each not in found]
    left = 0 if given.ids else failed.count() - len(found)
    return _Chosen(sorted(chosen, key=lambda row: row.pk), [*unknown, *refused], left)


def _retry_many(given: RetryMediaJobsInput, chosen: _Chosen, ctx: Ctx) -> Applied[RetryMediaJobsResult]:
    refused, retried, changes = list(chosen.refused), [], []
    for row in chosen.rows:
        try:
            changes.append(jobs.retry(row, ctx))
        except TransitionError as exc:
            refused.append(RefusedJob(id=row.pk, reason=exc.message))
        else:
            retried.append(row.pk)
    return RetryMediaJobsResult(retried=retried, refused=refused, remaining=chosen.remaining), changes


RETRY_MEDIA_JOBS = register(
    Action(
        "retry_media_jobs",
        "Let several failed media jobs begin anew: those named, or all that you can see and nobody acknowledged.",
        RetryMediaJobsInput,
        RetryMediaJobsResult,
        Right.READ,
        _seen_target,
        _choose,
        _retry_many,
        queueable=False,
        instead="Cancel them while they wait.",
    )
)
