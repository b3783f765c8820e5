"""A language model over real HTTP that always gives one answer."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from http.server import BaseHTTPRequestHandler

from django.test import override_settings

from kernel.conf import conf
from tests.serving import Quiet, Server, running, send

FACT = {"type": "facts", "key": "fact:db:port", "statement": "数据库端口是 5432", "confidence": 0.9}


@contextmanager
def a_model(text: str = json.dumps({"items": [FACT]})) -> Iterator[None]:
    """A configured model whose every reply is this text."""
    body = json.dumps({"choices": [{"message": {"role": "assistant", "content": text}}]}).encode()

    class Handler(Quiet, BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            self.rfile.read(int(self.headers["content-length"]))
            send(self, body)

    server = Server(Handler)
    url = f"http://127.0.0.1:{server.server_port}/v1"
    with running(server), override_settings(SMARTBRAIN=replace(conf(), model_url=url, model_name="tiny")):
        yield
