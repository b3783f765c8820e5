"""MCP over streamable HTTP at /mcp/: each POST carries its own key and is answered on its own.

No session is kept between requests, so any worker can answer any request, a stolen session id opens nothing, and a
revoked key stops working at once.
"""

from __future__ import annotations

import asyncio
import io
import json
import logging
from collections.abc import Awaitable, Callable
from functools import cache
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from django.conf import settings
from django.core.exceptions import DisallowedHost
from django.core.handlers.asgi import ASGIRequest
from django.db import InterfaceError, OperationalError
from django.http.request import split_domain_port, validate_host

from kernel.conf import conf
from kernel.errors import (
    DomainError,
    ForbiddenError,
    InternalError,
    MethodNotAllowedError,
    NotFoundError,
    TooLargeError,
    UnauthenticatedError,
    UnavailableError,
)
from scopes.selectors import Identity, authenticate_key
from smartbrain_site.mcp.envelope import answer_unreadable, refusal
from smartbrain_site.mcp.threads import in_thread

if TYPE_CHECKING:
    from mcp.server.lowlevel import Server
    from mcp.server.streamable_http_manager import StreamableHTTPSessionManager

Scope = dict[str, Any]
Receive = Callable[[], Awaitable[Any]]
Send = Callable[[Any], Awaitable[None]]

PATHS = ("/mcp", "/mcp/")

logger = logging.getLogger(__name__)


async def mcp_application(scope: Scope, receive: Receive, send: Send) -> None:
    """Answer one HTTP request to /mcp/."""
    try:
        _check_head(ASGIRequest(dict(scope), io.BytesIO()))
        identity = await _identify(scope)
        body = await _read(receive)
        unreadable = await in_thread(lambda: answer_unreadable(body, lambda: identity))
    except DomainError as exc:
        await _refuse(send, exc)
        return
    except (OperationalError, InterfaceError) as exc:
        logger.warning("database unavailable: %s", exc)
        await _refuse(send, UnavailableError("The database is busy or cannot be reached: try again later."))
        return
    except Exception:
        logger.exception("a request to MCP failed before there was a call")
        await _refuse(send, InternalError())
        return
    if unreadable is not None:
        await _send(send, unreadable.get("error", {}).get("data", {}).get("status", 200), unreadable, [])
        return
    await _serve({**scope, "state": {**scope.get("state", {}), "identity": identity}}, _replay(body, receive), send)


def _check_head(request: ASGIRequest) -> None:
    """Refuse other methods than POST, other hosts and origins than our own (DNS rebinding), keys sent in the clear, and sessions, which we
    never open."""
    if request.method != "POST":
        raise MethodNotAllowedError("Send POST: there is no stream to listen to and no session to close.")
    try:
        request.get_host()
    except DisallowedHost as exc:
        raise ForbiddenError("This server does not answer for that host: see ALLOWED_HOSTS.") from exc
    origin = request.headers.get("Origin")
    if origin is not None and not _known_origin(origin):
        raise ForbiddenError("Calls from pages of that origin are not allowed: see ALLOWED_HOSTS.")
    if settings.SECURE_SSL_REDIRECT and not request.is_secure():
        raise ForbiddenError("Use https: a key must not travel in the clear.")
    if "Mcp-Session-Id" in request.headers:
        raise NotFoundError("There is no such session: this server keeps none. Send the request without it.")


def _known_origin(origin: str) -> bool:
    if origin in settings.CSRF_TRUSTED_ORIGINS:
        return True
    try:
        domain, _ = split_domain_port(urlsplit(origin).netloc.lower())
    except ValueError:
        return False
    return bool(domain) and validate_host(domain, settings.ALLOWED_HOSTS)


async def _identify(scope: Scope) -> Identity:
    given = [value for name, value in scope["headers"] if name.lower() == b"authorization"]
    kind, _, secret = given[0].decode("latin-1").partition(" ") if len(given) == 1 else ("", "", "")
    if kind.lower() != "bearer":
        raise UnauthenticatedError
    return await in_thread(lambda: authenticate_key(secret))


async def _read(receive: Receive) -> bytes:
    limit = conf().max_body_bytes
    body = bytearray()
    while True:
        message = await receive()
        body.extend(message.get("body", b""))
        if len(body) > limit:
            raise TooLargeError(f"The body is over {limit} bytes: split it.")
        if not message.get("more_body", False):
            return bytes(body)


def _replay(body: bytes, receive: Receive) -> Receive:
    """The body again for the next reader, then whatever the client sends."""
    waiting: list[dict[str, Any]] = [{"type": "http.request", "body": body, "more_body": False}]

    async def again() -> Any:
        return waiting.pop() if waiting else await receive()

    return again


async def _serve(scope: Scope, receive: Receive, send: Send) -> None:
    manager_class, server = await asyncio.to_thread(_load)
    manager = manager_class(server, json_response=True, stateless=True, max_request_body_size=conf().max_body_bytes)
    async with manager.run():
        await manager.handle_request(scope, receive, send)


@cache
def _load() -> tuple[type[StreamableHTTPSessionManager], Server[Any]]:
    """The MCP library and the server, loaded at the first request: they take seconds."""
    from mcp.server.streamable_http_manager import StreamableHTTPSessionManager  # noqa: PLC0415

    from smartbrain_site.mcp.server import build  # noqa: PLC0415

    return StreamableHTTPSessionManager, build(_identity_of)


def _identity_of(call: Any) -> Identity:
    identity: Identity = call.request.state.identity
    return identity


async def _refuse(send: Send, error: DomainError) -> None:
    """A refusal before there is a call: a JSON-RPC error under the HTTP status of the problem that it carries."""
    headers = []
    if isinstance(error, UnauthenticatedError):
        headers.append((b"www-authenticate", b"Bearer"))
    if isinstance(error, MethodNotAllowedError):
        headers.append((b"allow", b"POST"))
    await _send(send, error.status, refusal(error), headers)


async def _send(send: Send, status: int, body: dict[str, Any], headers: list[tuple[bytes, bytes]]) -> None:
    kind = (b"content-type", b"application/json")
    await send({"type": "http.response.start", "status": status, "headers": [kind, *headers]})
    await send({"type": "http.response.body", "body": json.dumps(body).encode("ascii")})
