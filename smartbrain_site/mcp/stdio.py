"""MCP over standard input and output, one client for one process."""

from __future__ import annotations

import sys
from collections.abc import AsyncIterator
from functools import partial
from typing import Any, cast

import anyio
import mcp_types as types
from mcp.server.stdio import stdio_server
from mcp.shared.message import SessionMessage

from kernel.conf import conf
from kernel.errors import TooLargeError
from scopes.selectors import Identity, authenticate_key
from smartbrain_site.mcp.envelope import answer_unreadable, refusal
from smartbrain_site.mcp.server import build
from smartbrain_site.mcp.threads import in_thread


async def serve_stdio(secret: str) -> None:
    """Serve one client; the key is checked again at each call, so that a revoked one stops working at once."""

    def identify() -> Identity:
        return authenticate_key(secret)

    server = build(lambda request: identify())
    answers, refused = anyio.create_memory_object_stream[SessionMessage](16)

    async def readable() -> AsyncIterator[str]:
        async for raw in _lines():
            answer = _too_large() if raw is None else await in_thread(partial(answer_unreadable, raw, identify))
            if answer is not None:
                await answers.send(
                    SessionMessage(types.jsonrpc_message_adapter.validate_python(answer, by_name=False))
                )
            elif raw is not None:
                yield raw.decode("utf-8-sig")
        answers.close()

    lines = cast("anyio.AsyncFile[str]", readable())
    async with stdio_server(stdin=lines) as (reader, writer), anyio.create_task_group() as tasks:

        async def pass_on() -> None:
            async for message in refused:
                await writer.send(message)

        tasks.start_soon(pass_on)
        await server.run(reader, writer, server.create_initialization_options())


async def _lines() -> AsyncIterator[bytes | None]:
    """The lines of standard input; None for one over the limit."""
    limit = conf().max_body_bytes

    async def next_line() -> bytes:
        return await anyio.to_thread.run_sync(sys.stdin.buffer.readline, limit + 1, abandon_on_cancel=True)

    while line := await next_line():
        if len(line) <= limit:
            yield line
            continue
        while line and not line.endswith(b"\n"):
            line = await next_line()
        yield None


def _too_large() -> dict[str, Any]:
    return refusal(TooLargeError(f"The message is over {conf().max_body_bytes} bytes: split it."))
