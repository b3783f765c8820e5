from __future__ import annotations

import asyncio
from typing import Any

import pytest

from kernel.conf import conf
from smartbrain_site.http.limits import App, limit_body

CHUNK = 1_000_000


class Sender:
    """A client that sends `chunks` chunks of a body and then goes away; it counts how many were taken."""

    def __init__(self, chunks: int) -> None:
        self.chunks = chunks
        self.taken = 0

    async def receive(self) -> dict[str, Any]:
        if self.taken >= self.chunks:
            return {"type": "http.disconnect"}
        self.taken += 1
        return {"type": "http.request", "body": b"x" * CHUNK, "more_body": self.taken < self.chunks}


def _serve(app: App, sender: Sender) -> None:
    async def send(message: Any) -> None: ...

    async def one_request() -> None:
        await limit_body(app)({"type": "http"}, sender.receive, send)

    asyncio.run(one_request())


def _read_through(sender: Sender) -> tuple[int, str]:
    """How many bytes an application gets, and what it is told when it listens on."""
    got: list[Any] = []

    async def app(scope: Any, receive: Any, send: Any) -> None:
        size, more = 0, True
        while more:
            message = await receive()
            size += len(message["body"])
            more = message["more_body"]
        got.append(size)
        got.append((await receive())["type"])

    _serve(app, sender)
    return got[0], got[1]


def test_it_works():
    assert _read_through(Sender(3)) == (3 * CHUNK, "http.disconnect")


@pytest.mark.parametrize("chunks", [9, 40])
def test_a_body_over_the_limit_is_cut_one_byte_after_it(chunks):
    assert _read_through(Sender(chunks)) == (conf().max_body_bytes + 1, "http.disconnect")


def test_the_application_need_not_wait_for_the_rest():
    sender = Sender(1_000)

    async def app(scope: Any, receive: Any, send: Any) -> None:
        more = True
        while more:
            more = (await receive())["more_body"]

    _serve(app, sender)
    assert sender.taken == 9
