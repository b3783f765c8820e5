"""Sending the file of a document, whole, in part or as a small picture, so that no browser takes it for a page of ours."""

from __future__ import annotations

import re
from collections.abc import AsyncIterator, Iterator
from uuid import UUID

from asgiref.sync import sync_to_async
from django.core.handlers.asgi import ASGIRequest
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseBase, StreamingHttpResponse
from django.utils.http import content_disposition_header

from governance.adminbase.asking import ctx_of
from governance.gate import perform
from kernel.context import Ctx
from kernel.errors import DomainError, NotFoundError, RangeNotThereError, UnavailableError
from media.actions.files import GET_DOCUMENT_FILE
from media.contracts.files import GetDocumentFileInput, GetDocumentFileResult
from media.extracting import PICTURES, small_picture
from media.services.ingesting.looking import limits_now
from media.storage import store

_PARTIAL = 206
_GONE = "The bytes of this document are not in the store: an operator has to look."
_RANGE = re.compile(r"bytes=(\d{0,18})-(\d{0,18})")
# What a browser may be told a file is; of others, such as pages and pictures with scripts, it learns nothing.
_TOLD = re.compile(
    r"(image/(jpeg|png|gif|webp|bmp|tiff)|audio/[a-z0-9.+-]+|video/[a-z0-9.+-]+|application/pdf|text/plain)"
)
_HEADERS = {
    "X-Content-Type-Options": "nosniff",
    "Content-Security-Policy": "sandbox; default-src 'none'",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Cache-Control": "private, no-store",
}


def send_file(document_id: UUID, request: HttpRequest, ctx: Ctx) -> HttpResponseBase:
    """The file of a document as an attachment. Raises DomainError where the caller may not see it, RangeNotThereError
    where it has not the part that is asked for."""
    found = perform(GET_DOCUMENT_FILE, GetDocumentFileInput(document_id=document_id), ctx=ctx).result
    if found is None:
        raise NotFoundError
    size, etag = found.byte_size, f'"{found.content_hash}"'
    asked = request.headers.get("Range", "")
    span = _span(asked, size) if request.headers.get("If-Range", etag) == etag else (0, size)
    if span is None:
        raise RangeNotThereError.of(size)
    start, length = span
    partial = length < size
    response = _body(found, request, start, length)
    response.status_code = _PARTIAL if partial else response.status_code
    headers = {
        **_HEADERS,
        "Accept-Ranges": "bytes",
        "ETag": etag,
        "Content-Length": str(length),
        "Content-Type": _type(found.mime),
    }
    if partial:
        headers["Content-Range"] = f"bytes {start}-{start + length - 1}/{size}"
    headers["Content-Disposition"] = content_disposition_header(as_attachment=True, filename=found.name) or ""
    for name, value in headers.items():
        response[name] = value
    return response


def download(request: HttpRequest, document_id: UUID) -> HttpResponseBase:
    """The file of a document for whoever is signed in to the admin."""
    try:
        return send_file(document_id, request, ctx_of(request))
    except RangeNotThereError as exc:
        size = {"Content-Range": f"bytes */{exc.extra['byte_size']}"}
        return HttpResponse(exc.message, "text/plain", exc.status, headers=size)
    except DomainError as exc:
        return _not_sent(exc)


def show_picture(request: HttpRequest, document_id: UUID) -> HttpResponse:
    """The picture of a document, small and made anew from its pixels, for whoever is signed in to the admin."""
    try:
        found = perform(GET_DOCUMENT_FILE, GetDocumentFileInput(document_id=document_id), ctx=ctx_of(request)).result
        if found is None or found.mime not in PICTURES:
            raise NotFoundError("This document is no picture.")
        if not store().exists(found.content_hash):
            raise UnavailableError(_GONE)
        with store().local_path(found.content_hash) as path:
            raw = small_picture(path, found.mime, limits_now())
    except DomainError as exc:
        return _not_sent(exc)
    return HttpResponse(raw, "image/jpeg", headers={**_HEADERS, "Content-Disposition": "inline"})


def _not_sent(exc: DomainError) -> HttpResponse:
    """The answer in the admin where there is nothing to send. Raises Http404 unless trying later may help."""
    if exc.status == UnavailableError.status:
        return HttpResponse(exc.message, "text/plain", exc.status)
    raise Http404(exc.message) from exc


def _body(found: GetDocumentFileResult, request: HttpRequest, start: int, length: int) -> HttpResponseBase:
    if request.method == "HEAD":
        return HttpResponse()
    try:
        pieces = store().stream(found.content_hash, start, length)
    except NotFoundError as exc:
        raise UnavailableError(_GONE) from exc
    return StreamingHttpResponse(_without_waiting(pieces) if isinstance(request, ASGIRequest) else pieces)


async def _without_waiting(pieces: Iterator[bytes]) -> AsyncIterator[bytes]:
    """The pieces for a server that must not wait for a disk."""
    following = sync_to_async(lambda: next(pieces, b""))
    while piece := await following():
        yield piece


def _span(asked: str, size: int) -> tuple[int, int] | None:
    """Where to begin and how many bytes: all of them unless one part is asked for, None for one that is not there."""
    found = _RANGE.fullmatch(asked.strip())
    if found is None or not any(found.groups()):
        return 0, size
    first, last = found.groups()
    if first and last and int(first) > int(last):
        return 0, size
    start = int(first) if first else size - min(int(last), size)
    end = min(int(last), size - 1) if first and last else size - 1
    if start > end:
        return None if first or not int(last) else (0, size)
    return start, end - start + 1


def _type(mime: str) -> str:
    return mime if _TOLD.fullmatch(mime) else "application/octet-stream"
