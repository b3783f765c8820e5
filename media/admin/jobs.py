"""The job board: media jobs with their state, what went wrong, and what a person can do about it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any
from urllib.parse import urlencode

from django.contrib import admin
from django.db.models import Max, QuerySet
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect, JsonResponse
from django.urls import reverse

from governance.adminbase import (
    Fact,
    ReadOnlyAdmin,
    Screen,
    as_uuid,
    back_to,
    badge,
    ctx_of,
    decide,
    fact,
    page_url,
    read,
    shown,
    toast,
    when,
)
from kernel import clock
from kernel.canonical import digest
from kernel.context import Ctx
from kernel.errors import InvalidInputError, NotFoundError
from media.admin.lines import TONES, Line, lines_of
from media.admin.uploading import UploadScreen, domains_to_import_into
from media.contracts.documents import UPLOAD
from media.contracts.jobs import JobView, MediaJobStatsResult
from media.contracts.kinds import JobStatus
from media.models import MediaJob
from media.selectors.jobs import stats, unacknowledged, view_job, visible_jobs

PAGE = 20
ATTENTION = "attention"
LABELS = {
    ATTENTION: "Needs attention",
    **{status.value: status.value.capitalize() for status in JobStatus},
    "all": "All",
}


@dataclass(frozen=True, slots=True)
class Tab:
    """One state above the list, with the number of jobs in it."""

    label: str
    count: int
    query: str
    current: bool


class BoardScreen(Screen):
    """All jobs by state. It works as a plain page; a script only asks now and then whether anything changed."""

    name = "media_board"
    route = "board/"
    title = "Media jobs"
    template = "smartbrain/jobs.html"
    group, place, icon = "Memory", 6, "cloud_upload"

    def show(self, request: HttpRequest, **names: Any) -> dict[str, Any]:
        """One page of the state that the address names."""
        state = request.GET.get("state", "all")
        if state not in LABELS:
            raise InvalidInputError(f"There is no state {state!r}: choose one above the list.")
        listed = read("list_media_jobs", request, limit=PAGE, cursor=request.GET.get("cursor"), **_narrowed(state))
        counts: MediaJobStatsResult = read("media_job_stats", request)
        lines = lines_of(listed.jobs, ctx_of(request))
        more = {"state": state, "cursor": listed.next_cursor}
        return {
            "tabs": [_tab(name, counts, state) for name in LABELS],
            "lines": lines,
            "counts": counts,
            "state": state,
            "next": urlencode(more) if listed.next_cursor else "",
            "first": "cursor" not in request.GET,
            "failed": unacknowledged(visible_jobs(ctx_of(request))).filter(status=JobStatus.FAILED).count(),
            "selectable": any(line.selectable for line in lines),
            "moving": counts.counts[JobStatus.QUEUED] + counts.counts[JobStatus.PROCESSING],
            "pulse": pulse(ctx_of(request)),
            "domains": domains_to_import_into(ctx_of(request)),
            "no_reach": not ctx_of(request).reach,
        }

    def send(self, request: HttpRequest, **names: Any) -> HttpResponse:
        """Retry, cancel or acknowledge what the button names."""
        wanted, _, job_id = request.POST.get("act", "").partition(":")
        if wanted in ("retry_selected", "retry_all"):
            self._retry_many(request, wanted)
        else:
            steer(request, wanted, job_id)
        return back_to(request, self.link)

    def _retry_many(self, request: HttpRequest, wanted: str) -> None:
        chosen = request.POST.getlist("pick") if wanted == "retry_selected" else []
        if wanted == "retry_selected" and not chosen:
            raise InvalidInputError("Select at least one job first.")
        told = decide("retry_media_jobs", request, ids=chosen)
        parts = [f"{len(told.retried)} of {len(told.retried) + len(told.refused)} jobs wait for a worker again."]
        parts += sorted({each.reason for each in told.refused})
        parts += [f"{told.remaining} failed ones are left: do it again."] if told.remaining else []
        toast(request, " ".join(parts), done=not told.refused)


class PulseScreen(Screen):
    """Whether anything on the board changed: a short answer that reads no job's content."""

    name = "media_board_pulse"
    route = "board/pulse/"
    placed = False

    def view(self, request: HttpRequest, **names: Any) -> HttpResponse:
        """The pulse of the board, or of the one job that the address names, as JSON."""
        job_id = as_uuid(request.GET.get("id", ""))
        row = visible_jobs(ctx_of(request)).filter(pk=job_id).first() if job_id else None
        beat = _beat(view_job(row, ctx_of(request))) if row else pulse(ctx_of(request))
        return JsonResponse({"pulse": beat}, headers={"Cache-Control": "no-store"})


class JobScreen(Screen):
    """One job: its input, how it went, and the buttons that its state allows."""

    name = "media_job"
    route = "<uuid:pk>/change/"
    title = "Media job"
    template = "smartbrain/job.html"
    placed = False

    def absent(self, request: HttpRequest, error: NotFoundError, **names: Any) -> HttpResponse:
        """A job out of sight answers like one that does not exist."""
        return self.owner.missing(request, str(names["pk"]))

    def show(self, request: HttpRequest, **names: Any) -> dict[str, Any]:
        """The job, read through the gate."""
        view: JobView = read("get_media_job", request, id=str(names["pk"]))
        (line,) = lines_of([view], ctx_of(request))
        return {"line": line, "facts": _facts(line), "board": reverse("admin:media_board"), "pulse": _beat(view)}

    def send(self, request: HttpRequest, **names: Any) -> HttpResponse:
        """Retry, cancel or acknowledge it."""
        steer(request, request.POST.get("act", "").partition(":")[0], str(names["pk"]))
        return HttpResponseRedirect(page_url(MediaJob(pk=names["pk"])))


DONE = {
    "retry": "The job waits for a worker again.",
    "cancel": "The job is canceled.",
    "acknowledge": "Noted: the job asks for attention no longer.",
}


def steer(request: HttpRequest, wanted: str, job_id: str) -> None:
    """Do one of three things to a job, through the gate. Raises DomainError."""
    if wanted not in DONE:
        raise InvalidInputError("Choose what to do with one of the buttons.")
    decide(f"{wanted}_media_job", request, id=job_id)
    toast(request, DONE[wanted])


def _narrowed(state: str) -> dict[str, object]:
    if state == ATTENTION:
        return {"unacknowledged": True}
    return {} if state == "all" else {"status": [state]}


def _tab(name: str, counts: MediaJobStatsResult, state: str) -> Tab:
    numbers = {ATTENTION: counts.unacknowledged, "all": counts.total}
    number = numbers[name] if name in numbers else counts.counts[JobStatus(name)]
    return Tab(LABELS[name], number, urlencode({"state": name}), name == state)


def pulse(ctx: Ctx) -> str:
    """Another text whenever a job that the person sees came, moved or went."""
    rows = visible_jobs(ctx)
    latest = rows.aggregate(made=Max("created_at"), begun=Max("started_at"))
    counts = stats(rows, clock.now()).model_dump(mode="json", exclude={"oldest_queued_age_seconds"})
    return digest([counts, str(latest["made"]), str(latest["begun"])])[:16]


def _beat(view: JobView) -> str:
    return digest(view.model_dump(mode="json"))[:16]


def _facts(line: Line) -> list[Fact]:
    view = line.view
    scopes = ", ".join(f"{each.type}:{each.id}" for each in view.scopes) or "nobody but its owner"
    return [
        fact("Asked for by", view.owner),
        fact("Domain", view.domain_id),
        fact("Shared to", scopes),
        fact("Does", view.operation, kind="word"),
        fact("Source", line.source),
        fact("Attempts", f"{view.attempts} of {view.max_attempts}"),
        fact("Asked for", view.created_at, kind="time"),
        fact("Not before", view.available_at, kind="time"),
        fact("Begun", view.started_at, kind="time"),
        fact("Ended", view.finished_at, kind="time"),
        fact("Acknowledged", view.acknowledged_at, kind="time"),
        fact("Job id", str(view.id), kind="code"),
    ]


@admin.register(MediaJob)
class MediaJobAdmin(ReadOnlyAdmin):
    """The table behind the board; the board itself is in the navigation."""

    placed = False
    list_display = ("what", "state", "tries", "whose", "domain_name", "asked", "ended")
    narrow_by = ("domain", "status")
    search_fields = ("source", "owner_name")
    search_help_text = "Start of a source or an owner's name, or a job's UUID"
    teach = "No jobs yet. Agents import with this action:"
    teach_command = 'manage.py act enqueue_media \'{"operation": "add_document", "source": "https://example.org"}\''
    screens = (BoardScreen, PulseScreen, UploadScreen, JobScreen)

    def visible(self, ctx: Ctx) -> QuerySet[MediaJob]:
        """The jobs that the person may see."""
        return visible_jobs(ctx)

    @admin.display(description="Source")
    def what(self, row: MediaJob) -> str:
        """What is imported; an upload's source is a key to the bytes, so its name stands there."""
        if not row.source.startswith(UPLOAD):
            return shown(row.source)
        return shown(row.options.get("name") or "an uploaded file")

    @admin.display(description="State")
    def state(self, row: MediaJob) -> str:
        """Where it is."""
        return badge(row.status, TONES[JobStatus(row.status)])

    @admin.display(description="Attempts")
    def tries(self, row: MediaJob) -> int:
        """How often it was begun."""
        return row.attempts

    @admin.display(description="Owner")
    def whose(self, row: MediaJob) -> str:
        """Who asked for it."""
        return shown(row.owner_name)

    @admin.display(description="Domain")
    def domain_name(self, row: MediaJob) -> str:
        """The domain."""
        return shown(row.domain_id)

    @admin.display(description="Asked for (UTC)")
    def asked(self, row: MediaJob) -> str:
        """When it was asked for."""
        return when(row.created_at)

    @admin.display(description="Ended (UTC)")
    def ended(self, row: MediaJob) -> str:
        """When it ended."""
        return when(row.finished_at)
