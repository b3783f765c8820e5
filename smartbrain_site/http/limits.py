"""Cutting a request body short while it still arrives, so that nobody fills memory or disk with one."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, MutableMapping
from typing import Any

from kernel.conf import conf

Message = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]
App = Callable[[MutableMapping[str, Any], Receive, Send], Awaitable[None]]


def limit_body(app: App) -> App:
    """An ASGI application that gets at most one byte more of a body than the limit allows, chunked bodies included.

    That byte is enough for the view to see that the body is too large and to refuse it as it refuses anything else;
    whatever else arrives until it has answered is thrown away.
    """

    async def limited(scope: MutableMapping[str, Any], receive: Receive, send: Send) -> None:
        await app(scope, _cut(receive) if scope["type"] == "http" else receive, send)

    return limited


def _cut(receive: Receive) -> Receive:
    left = conf().max_body_bytes + 1

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
        return {"type": "http.request", "body": kept, "more_body": False}

    return at_most
