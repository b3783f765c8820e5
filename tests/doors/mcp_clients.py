"""The MCP door as a client sees it: the SDK's own client over both transports, and raw messages."""

from __future__ import annotations

import os
import sys
import threading
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from typing import Any, cast

import httpx2
import uvicorn
from asgiref.sync import async_to_sync
from django.conf import settings
from django.db import connection
from mcp import Client
from mcp.client import session
from mcp.client.stdio import StdioServerParameters
from mcp.client.streamable_http import streamable_http_client

from smartbrain_site.asgi import application

session.DISCOVER_TIMEOUT_SECONDS = 300.0  # a server in a process of its own may be long in starting
HEADERS = {"accept": "application/json, text/event-stream", "content-type": "application/json"}


@contextmanager
def serving() -> Iterator[str]:
    """A real server on a free port; gives the address of its MCP door."""
    config = uvicorn.Config(application, port=0, log_level="warning", ws="none", lifespan="off")
    server = uvicorn.Server(config)
    thread = threading.Thread(target=server.run)
    thread.start()
    while not server.started:
        thread.join(0.01)
        assert thread.is_alive(), "the server did not start"
    port = server.servers[0].sockets[0].getsockname()[1]
    try:
        yield f"http://127.0.0.1:{port}/mcp/"
    finally:
        server.should_exit = True
        thread.join()


@asynccontextmanager
async def over_http(address: str, key: str, mode: str = "auto") -> AsyncIterator[Client]:
    async with (
        httpx2.AsyncClient(headers={"authorization": f"Bearer {key}"}, timeout=120) as http,
        Client(streamable_http_client(address, http_client=http), mode=mode) as client,
    ):
        yield client


@asynccontextmanager
async def over_stdio(address: str, key: str, mode: str = "auto") -> AsyncIterator[Client]:
    parameters = StdioServerParameters(command=sys.executable, args=command(), env=environment(SMARTBRAIN_API_KEY=key))
    async with Client(parameters, mode=mode) as client:
        yield client


def command(name: str = "mcp", *args: str) -> list[str]:
    """The arguments that start a management command."""
    return [str(settings.BASE_DIR / "manage.py"), name, *args]


def environment(**more: str) -> dict[str, str]:
    """The environment of a process on the test's own database."""
    return {**os.environ, "DATABASE_URL": _database_url(), "DATA_DIR": str(settings.DATA_DIR), **more}


def _database_url() -> str:
    given = connection.settings_dict
    if connection.vendor == "sqlite":
        return f"sqlite:///{given['NAME']}"
    sign_in = f"{given['USER']}:{given['PASSWORD']}@" if given["USER"] else ""
    return f"postgres://{sign_in}{given['HOST']}:{given['PORT']}/{given['NAME']}"


def post(body: bytes | Any, key: str | None, method: str = "POST", **headers: str) -> httpx2.Response:
    """One request to the ASGI application, in the thread and transaction of the test."""
    sent = {**HEADERS, **({"authorization": f"Bearer {key}"} if key is not None else {})}
    sent.update({name.replace("_", "-"): value for name, value in headers.items()})
    raw = [(name.encode(), value.encode()) for name, value in sent.items()]

    async def send() -> httpx2.Response:
        transport = httpx2.ASGITransport(app=cast("Any", application))
        async with httpx2.AsyncClient(transport=transport, base_url="http://localhost") as client:
            given = {"content": body} if isinstance(body, bytes) else {"json": body}
            return await client.request(method, "/mcp/", headers=raw, **given)

    return async_to_sync(send)()


def call(name: str, arguments: Any, message_id: Any = 1) -> dict[str, Any]:
    """A tools/call message."""
    return {
        "jsonrpc": "2.0", "id": message_id, "method": "tools/call", "params": {"name": name, "arguments": arguments},
    }  # fmt: skip
