"""Bringing files from the admin: each becomes a job of the signed-in person."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from django.core.files.uploadedfile import UploadedFile
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect, JsonResponse
from django.urls import reverse

from governance import gate
from governance.adminbase import Screen, act, ctx_of, toast
from kernel.conf import conf
from kernel.context import Ctx
from kernel.errors import DomainError, InvalidInputError, TooLargeError
from kernel.wire import was_cut
from media.actions.submitting import ENQUEUE_MEDIA
from media.actions.uploads import UPLOAD_MEDIA
from media.contracts.uploads import UploadMediaInput
from media.selectors.jobs import STEERING
from scopes.contracts import split_scopes, written_scope
from scopes.selectors import visible_domains

MOST_FILES = 20
MOST_DOMAINS = 100


@dataclass(frozen=True, slots=True)
class Brought:
    """What became of the files of a form: jobs, and proposals where policy holds imports for someone else."""

    jobs: list[str]
    proposals: list[str]

    def told(self) -> str:
        """What the files wait for, in words."""
        words = []
        if self.jobs:
            words += [_counted(self.jobs, "The file waits for a worker.", "files wait for a worker.")]
        if self.proposals:
            one, more = "It waits for someone else who may decide on it.", "for someone else who may decide on them."
            words += [_counted(self.proposals, one, f"files wait {more}")]
        return " ".join(words)


def _counted(ids: Sequence[str], one: str, more: str) -> str:
    return one if len(ids) == 1 else f"{len(ids)} {more}"


def domains_to_import_into(ctx: Ctx) -> list[str]:
    """The domains in which the person reviews or operates."""
    found: set[str] = set()
    for right in STEERING:
        found |= set(visible_domains(ctx, right).values_list("pk", flat=True)[:MOST_DOMAINS])
    return sorted(found)


class UploadScreen(Screen):
    """A form for files. A script sends them one by one and shows how far each is; without it they go together."""

    name = "media_upload"
    route = "upload/"
    title = "Import files"
    template = "smartbrain/upload.html"
    placed = False

    def show(self, request: HttpRequest, **names: Any) -> dict[str, Any]:
        """The form."""
        ctx = ctx_of(request)
        return {"domains": domains_to_import_into(ctx), "no_reach": not ctx.reach}

    def view(self, request: HttpRequest, **names: Any) -> HttpResponse:
        """A script is told in JSON how its file fared."""
        if request.method != "POST" or "json" not in request.headers.get("Accept", "") or not self.allowed(request):
            return super().view(request, **names)
        try:
            return JsonResponse(asdict(self._enqueue(request)), status=202)
        except DomainError as exc:
            return JsonResponse(exc.problem(str(ctx_of(request).request_id)), status=exc.status)

    def send(self, request: HttpRequest, **names: Any) -> HttpResponse:
        """Keep the files, ask for a job for each, and show them on the board."""
        brought = self._enqueue(request)
        toast(request, brought.told(), done=not brought.proposals)
        return HttpResponseRedirect(reverse("admin:media_board"))

    def _enqueue(self, request: HttpRequest) -> Brought:
        if was_cut(request):
            raise TooLargeError(f"The files are over {conf().media_max_bytes} bytes: send them one by one.")
        files: Sequence[UploadedFile[Any]] = request.FILES.getlist("file")
        if not 1 <= len(files) <= MOST_FILES:
            raise InvalidInputError(f"Choose at least one file, and {MOST_FILES} at most.")
        scopes = [written_scope(name, "scope") for name in split_scopes(request.POST.get("scope", ""), "scope")]
        place = {"domain_id": request.POST.get("domain_id") or None, "scopes": scopes}
        brought = Brought([], [])
        for file in files:
            _import(file, place, request, brought)
        return brought


def _import(file: UploadedFile[Any], place: dict[str, Any], request: HttpRequest, into: Brought) -> None:
    """Keep the file, and ask for the job that imports it."""
    name = file.name or "file"
    with TemporaryDirectory(prefix="smartbrain-") as folder:
        path = Path(folder) / "upload"
        with path.open("wb") as out:
            for chunk in file.chunks():
                out.write(chunk)
        given = UploadMediaInput.of_file(path, name, place["domain_id"])
        brought = gate.perform(UPLOAD_MEDIA, given, ctx=ctx_of(request)).result
    if brought is None:
        raise TypeError("an upload never waits")
    options = {"name": brought.name}
    answer = act(ENQUEUE_MEDIA.name, request, operation="add_media", source=brought.source, options=options, **place)
    if answer.queued is not None:
        into.proposals.append(str(answer.queued.proposal.id))
    elif answer.result is not None:
        into.jobs.append(str(answer.result.job_id))
