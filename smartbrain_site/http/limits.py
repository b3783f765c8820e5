"""Cutting a request body short while it still arrives, so that nobody fills memory or disk with one."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, MutableMapping
from typing import Any

from kernel.conf import conf
from kernel.wire import CUT

Message = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]
App = Callable[[MutableMapping[str, Any], Receive, Send], Awaitable[None]]

UPLOADS = ("/v1/media", "/admin/media/mediajob/upload/")
FORM_BYTES = 1_048_576  # room in an upload for what stands around its file


def limit_body(app: App) -> App:
    """An ASGI application that gets at most one byte more of a body than the limit allows, chunked bodies included.

    That byte is enough for the view to see that the body is too large and to refuse it as it refuses anything else;
    whatever else arrives until it has answered is thrown away. Where files are uploaded the limit is that of a file.
    """

    async def limited(scope: MutableMapping[str, Any], receive: Receive, send: Send) -> None:
        await app(scope, _cut(scope, receive) if scope["type"] == "http" else receive, send)

    return limited


def _cut(scope: MutableMapping[str, Any], receive: Receive) -> Receive:
    most = conf().max_body_bytes
    if scope.get("path") in UPLOADS:
        most = max(most, conf().media_max_bytes + FORM_BYTES)
    left = most + 1

    async def at_most() -> Message:
        nonlocal left
        message = await receive()
        while left == 0 and message["type"] == "http.request":
            message = await receive()
        body = message.get("body", b"")
        if message["type"] != "http.request" or len(body) < left:
            left -= len(body)
            return message
        kept, left = body[:left], 0
        scope[CUT] = True
        return {"type": "http.request", "body": kept, "more_body": False}

    return at_most
