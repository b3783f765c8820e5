"""A media job as pages show it: what a person knows it by, how long it took, and what it says in sentences."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from uuid import UUID

from django.urls import reverse

from governance.adminbase import as_uuid, page_url
from kernel import clock
from kernel.context import ANY, Ctx
from kernel.errors import ForbiddenError
from media.contracts.documents import UPLOAD
from media.contracts.jobs import JobView
from media.contracts.kinds import FINAL, JobStatus
from media.models import MediaJob, SourceDocument
from media.selectors.jobs import require_steering
from media.selectors.sight import visible_documents

TONES = {
    JobStatus.QUEUED: "plain",
    JobStatus.PROCESSING: "warn",
    JobStatus.COMPLETED: "good",
    JobStatus.PARTIAL: "warn",
    JobStatus.FAILED: "bad",
    JobStatus.CANCELED: "plain",
}
_CODED = re.compile(r"([a-z][a-z0-9]*(?:_[a-z0-9]+)*)(?::\s*(?!//)(.*))?", re.DOTALL)
_SENTENCES = {
    "format_not_read": "Nothing here reads files of this kind",
    "no_text_found": "No text was found in it",
    "nul_characters_removed": "NUL characters were taken out of the text",
}


@dataclass(frozen=True, slots=True)
class Told:
    """A warning or an error: the sentence for people, and the code for whoever looks it up; empty where there is none."""

    sentence: str
    code: str = ""


def told(text: str) -> Told:
    """What `code:sentence` says. A code without a sentence becomes one: its words, and what stands behind the colon."""
    coded = _CODED.fullmatch(text)
    if coded is None:
        return Told(text)
    code, rest = coded[1], (coded[2] or "").strip()
    if " " in rest:
        return Told(rest, code)
    words = _SENTENCES.get(code) or code.replace("_", " ").capitalize()
    more = rest.replace("_", " ").replace(":", ", ")
    return Told(f"{words}: {more}." if more else f"{words}.", code)


@dataclass(frozen=True, slots=True)
class Line:
    """One job as a page shows it: times in seconds; `outcome` is what the operation itself said where it did nothing;
    `document` is what came of it, where the person may see that."""

    view: JobView
    document: SourceDocument | None
    waited: float
    ran: float | None
    steers: bool

    @property
    def title(self) -> str:
        """What a person knows it by: its address, the name of its file, its title, that of its document, else what it
        does and the end of its id. An upload's source is a key to the bytes and is never shown."""
        address = self.view.source if self.view.source.startswith("http") else ""
        named = (str(self.view.options.get(name) or "").strip() for name in ("name", "title"))
        made = self.document.title.strip() if self.document else ""
        return next(filter(None, (address, *named, made)), f"{self.view.operation} {self.view.id.hex[-8:]}")

    @property
    def source(self) -> str:
        """Where it reads from, in words where that is no address."""
        if self.view.source.startswith(UPLOAD):
            return "an uploaded file"
        return self.view.source or "text that was sent along"

    @property
    def tone(self) -> str:
        """How its state is coloured."""
        return TONES[self.view.status]

    @property
    def outcome(self) -> str:
        """What the operation said where it did nothing."""
        said = str((self.view.result or {}).get("status", ""))
        return said if said not in ("success", "partial") else ""

    @property
    def link(self) -> str:
        """Its own page."""
        return reverse("admin:media_job", args=[self.view.id])

    @property
    def document_link(self) -> str:
        """The page of its document; empty where there is none to see."""
        return page_url(self.document) if self.document else ""

    @property
    def moving(self) -> bool:
        """Whether it waits or is worked on."""
        return self.view.status not in FINAL

    @property
    def running(self) -> bool:
        """Whether a worker has it."""
        return self.view.status is JobStatus.PROCESSING

    @property
    def selectable(self) -> bool:
        """Whether it can be chosen to be retried together with others."""
        return self.steers and self.view.status is JobStatus.FAILED

    @property
    def error(self) -> Told:
        """Why it failed."""
        return told(self.view.error)

    @property
    def warnings(self) -> list[Told]:
        """What was left out."""
        return [told(str(each)) for each in (self.view.result or {}).get("warnings", [])]


def lines_of(views: Sequence[JobView], ctx: Ctx) -> list[Line]:
    """Jobs with what a page works out, the documents of all of them found at once."""
    made = {view.id: found for view in views if (found := _document_id(view))}
    rows = visible_documents(ctx).only("id", "title").in_bulk(list(made.values()))
    return [_line(view, rows.get(made.get(view.id)), ctx) for view in views]


def _document_id(view: JobView) -> UUID | None:
    return as_uuid(str((view.result or {}).get("document_id", "")))


def _line(view: JobView, document: SourceDocument | None, ctx: Ctx) -> Line:
    """Waiting counts from when it could be begun: it was not waiting before its time, nor during an earlier attempt."""
    now = clock.now()
    begun = None if view.status in (JobStatus.QUEUED, JobStatus.CANCELED) else view.started_at
    waited = (begun or view.finished_at or now) - view.available_at
    ran = (view.finished_at or now) - begun if begun else None
    return Line(
        view, document, max(0, waited.total_seconds()), ran.total_seconds() if ran else None, _steers(view, ctx)
    )


def _steers(view: JobView, ctx: Ctx) -> bool:
    place = f"{view.scopes[0].type}:{view.scopes[0].id}" if view.scopes else ANY
    try:
        require_steering(MediaJob(domain_id=view.domain_id, place=place), ctx)
    except ForbiddenError:
        return False
    return True
