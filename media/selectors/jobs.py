"""Reading media jobs: the base queryset of what the caller may see, counts from that same queryset, views."""

from __future__ import annotations

from datetime import datetime, timedelta
from uuid import UUID

from django.db.models import Count, F, Min, Q, QuerySet
from django.db.models.functions import Coalesce

from kernel.conf import conf
from kernel.context import ANY, ActorKind, Ctx, Right
from kernel.errors import ForbiddenError, NotFoundError
from kernel.text import is_address
from media.contracts.jobs import JobView, MediaJobStatsResult
from media.contracts.kinds import FINAL, JobStatus
from media.models import MediaJob
from media.selectors.uploads import without_key
from scopes.contracts import ScopeView
from scopes.selectors import within_reach

NEEDING = (JobStatus.FAILED, JobStatus.PARTIAL)
STEERING = (Right.DECIDE, Right.OPERATE)
# Codes of what went wrong, by what may help.
PASSING = frozenset({"unavailable", "quota_exceeded", "internal", "stale"})
_NOT_ALLOWED = frozenset({"forbidden", "scope_not_writable"})
_OF_THE_FILE = frozenset({"invalid_input", "too_large", "not_found"})
_SAYING = ("text", "data", "description", "metadata")  # options and results that hold what a document says


def visible_jobs(ctx: Ctx) -> QuerySet[MediaJob]:
    """The base queryset: one's own jobs, and for people those in the scopes that are assigned to them."""
    domains = {grant.domain_id for grant in ctx.reach}
    own = Q(owner_id=ctx.actor.id) if ANY in domains else Q(owner_id=ctx.actor.id, domain_id__in=sorted(domains))
    if ctx.actor.kind is ActorKind.AGENT:
        return MediaJob.objects.filter(own)
    return MediaJob.objects.filter(own | within_reach(ctx, Right.READ, scope="place"))


def job_by_id(job_id: UUID, ctx: Ctx) -> MediaJob:
    """A job that the caller may see. Raises NotFoundError."""
    row = visible_jobs(ctx).select_related("staging_object").filter(pk=job_id).first()
    if row is None:
        raise NotFoundError(f"No job {str(job_id)!r} that you can see.")
    return row


def may_import(ctx: Ctx, domain_id: str, scopes: tuple[str, ...]) -> bool:
    """Whether the actor may bring documents into the domain and share them to these scopes.

    A key needs the right to write, on every scope named; a person a role that decides or operates there.
    """
    rights = STEERING if ctx.actor.kind is ActorKind.PERSON else (Right.WRITE,)
    if not scopes:
        return any(ctx.may_somewhere(right, domain_id) for right in rights)
    return all(any(ctx.may(right, domain_id, scope) for right in rights) for scope in scopes)


def require_steering(row: MediaJob, ctx: Ctx) -> None:
    """Raise ForbiddenError unless the actor may cancel, retry or acknowledge a job that it can see."""
    if not may_import(ctx, row.domain_id, () if row.place == ANY else (row.place,)):
        raise ForbiddenError("You can see this job but may not steer it: it needs the right to import where it works.")


def stale_jobs(now: datetime) -> QuerySet[MediaJob]:
    """Jobs in work whose worker has shown no life for too long."""
    seen = Coalesce(F("heartbeat_at"), F("started_at"))
    limit = now - timedelta(seconds=conf().media_stale_seconds)
    return MediaJob.objects.filter(status=JobStatus.PROCESSING).alias(seen=seen).filter(seen__lt=limit)


def due_jobs(now: datetime) -> QuerySet[MediaJob]:
    """Jobs that a worker may begin, the one that waits longest first."""
    rows = MediaJob.objects.filter(status=JobStatus.QUEUED, available_at__lte=now)
    return rows.order_by("available_at", "id")


def old_jobs(before: datetime) -> QuerySet[MediaJob]:
    """Jobs that ended before that instant, the oldest first."""
    return MediaJob.objects.filter(status__in=sorted(FINAL), finished_at__lt=before).order_by("finished_at", "id")


def stats(rows: QuerySet[MediaJob], now: datetime) -> MediaJobStatsResult:
    """Counts over the very rows that a list would show. A job waits from when it may be begun, not from when it was asked
    for: an earlier attempt, a pause, and years in an older system are no waiting."""
    found = dict(rows.order_by().values_list("status").annotate(number=Count("pk")))
    oldest = rows.filter(status=JobStatus.QUEUED).aggregate(at=Min("available_at"))["at"]
    return MediaJobStatsResult(
        counts={status: found.get(status.value, 0) for status in JobStatus},
        total=sum(found.values()),
        unacknowledged=unacknowledged(rows).count(),
        oldest_queued_age_seconds=max(0, int((now - oldest).total_seconds())) if oldest else None,
        stale_processing=rows.filter(pk__in=stale_jobs(now).values("pk")).count(),
    )


def unacknowledged(rows: QuerySet[MediaJob]) -> QuerySet[MediaJob]:
    """Those that ended badly and that nobody took note of."""
    return rows.filter(status__in=NEEDING, acknowledged_at=None)


def view_job(row: MediaJob, ctx: Ctx) -> JobView:
    """A job as answers show it: without its lease, and to others than its owner without the key to its upload and without
    what the document says, which they see where it is shared to them."""
    options, result, source = row.options, row.result, row.source
    if row.owner_id != ctx.actor.id:
        options = {name: value for name, value in options.items() if name not in _SAYING}
        result = {name: value for name, value in result.items() if name not in _SAYING} if result else result
        source = without_key(source)
    return JobView(
        id=row.pk,
        domain_id=row.domain_id,
        owner=row.owner_name,
        operation=row.operation,
        source=source,
        options=options,
        scopes=[_scope(name) for name in row.scopes],
        status=JobStatus(row.status),
        attempts=row.attempts,
        max_attempts=row.max_attempts,
        result=result,
        error=row.error,
        note=row.note,
        advice=advice(row),
        created_at=row.created_at,
        available_at=row.available_at,
        started_at=row.started_at,
        finished_at=row.finished_at,
        acknowledged_at=row.acknowledged_at,
    )


def _scope(name: str) -> ScopeView:
    kind, _, external_id = name.partition(":")
    return ScopeView(type=kind, id=external_id)


def _after_failure(row: MediaJob) -> str:
    """By the code of what went wrong, and by whether a retry would read anything new."""
    code = row.error.partition(":")[0]
    if code in PASSING:
        return "Retry the job once what it needs is there again; or acknowledge it, and it is left as it is."
    if code in _NOT_ALLOWED and is_address(row.source):
        return (
            "Have what the error names allowed: the host in SMARTBRAIN_MEDIA_ALLOWED_HOSTS, or the owner's right; then "
            "retry the job. Or bring the file itself as a new job and acknowledge this one."
        )
    if code in _NOT_ALLOWED:
        return "Have its owner given the right that is missing, then retry the job; or acknowledge it."
    if code not in _OF_THE_FILE:
        return "Remove the cause, then retry the job; or acknowledge it, and it is left as it is."
    if is_address(row.source):
        return "Put right what stands at its address, then retry the job; or acknowledge it, and it is left as it is."
    return (
        "A retry would read the same bytes and fail again: bring a repaired or smaller file as a new job, then "
        "acknowledge this one."
    )


def advice(row: MediaJob) -> str:
    """What whoever looks at the job can do next."""
    outcome = str((row.result or {}).get("status", ""))
    if row.status == JobStatus.FAILED:
        return _after_failure(row)
    if outcome == "unsupported":
        return (
            "Nothing here reads this kind of file, so it is found by its name and tags alone: save it in a format that "
            "is read, such as PDF, DOCX, XLSX, PPTX, HTML or text, and import that."
        )
    if outcome == "skipped":
        return "It was left out for the reason that its warnings name: import it again with other options."
    if row.status == JobStatus.PARTIAL:
        return "It was stored without the parts that its warnings name: import it again once they can be read."
    if row.status == JobStatus.CANCELED:
        return "Import it again if it is wanted after all."
    return ""
