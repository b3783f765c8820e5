"""Bringing files from the admin: each becomes a job of the signed-in person."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from django.core.files.uploadedfile import UploadedFile
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect, JsonResponse
from django.urls import reverse

from governance import gate
from governance.adminbase import Screen, ctx_of, decide, toast
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
            return JsonResponse({"jobs": self._enqueue(request)}, status=202)
        except DomainError as exc:
            return JsonResponse(exc.problem(str(ctx_of(request).request_id)), status=exc.status)

    def send(self, request: HttpRequest, **names: Any) -> HttpResponse:
        """Keep the files, ask for a job for each, and show them on the board."""
        made = self._enqueue(request)
        toast(request, "The file waits for a worker." if len(made) == 1 else f"{len(made)} files wait for a worker.")
        return HttpResponseRedirect(reverse("admin:media_board"))

    def _enqueue(self, request: HttpRequest) -> list[str]:
        if was_cut(request):
            raise TooLargeError(f"The files are over {conf().media_max_bytes} bytes: send them one by one.")
        files: Sequence[UploadedFile[Any]] = request.FILES.getlist("file")
        if not 1 <= len(files) <= MOST_FILES:
            raise InvalidInputError(f"Choose at least one file, and {MOST_FILES} at most.")
        scopes = [written_scope(name, "scope") for name in split_scopes(request.POST.get("scope", ""), "scope")]
        place = {"domain_id": request.POST.get("domain_id") or None, "scopes": scopes}
        return [_import(file, place, request) for file in files]


def _import(file: UploadedFile[Any], place: dict[str, Any], request: HttpRequest) -> str:
    """The id of the job that imports the file."""
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
    told = decide(ENQUEUE_MEDIA.name, request, operation="add_media", source=brought.source, options=options, **place)
    return str(told.job_id)
