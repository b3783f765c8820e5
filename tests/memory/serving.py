"""Real servers on free ports of this machine, for tests of what goes out over HTTP."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler
from typing import Any

from tests.serving import Quiet, Server, running, send

Reply = Callable[[BaseHTTPRequestHandler, bytes], None]
Seen = list[tuple[str, dict[str, str], Any]]


@contextmanager
def serving(reply: Reply) -> Iterator[tuple[str, Seen]]:
    """The address of a server that answers every POST so, and the requests that it got: path, headers, JSON or bytes."""
    seen: Seen = []

    class Handler(Quiet, BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers.get("content-length", 0)))
            headers = {name.lower(): value for name, value in self.headers.items()}
            is_json = headers.get("content-type", "").startswith("application/json")
            seen.append((self.path, headers, json.loads(body) if is_json else body))
            try:
                reply(self, body)
            except (BrokenPipeError, ConnectionResetError):
                self.close_connection = True

    server = Server(Handler)
    with running(server):
        yield f"http://127.0.0.1:{server.server_port}", seen


PATIENCE = 120.0  # seconds that a server waits for who asked to leave


def silent(handler: BaseHTTPRequestHandler, _: bytes) -> None:
    """Say nothing for as long as who asked stays."""
    handler.connection.settimeout(PATIENCE)
    handler.rfile.read(1)


def dripping(handler: BaseHTTPRequestHandler, _: bytes) -> None:
    """Send one byte after the other for as long as who asked stays."""
    handler.send_response(200)
    handler.send_header("content-length", "10000")
    handler.end_headers()
    until = time.monotonic() + PATIENCE
    while time.monotonic() < until:
        handler.wfile.write(b" ")
        handler.wfile.flush()
        time.sleep(0.05)


def answer(body: bytes, status: int = 200, **headers: str) -> Reply:
    """Always this body."""
    return lambda handler, _: send(handler, body, status, **headers)
