"""A language model over real HTTP that always gives one answer."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

from django.test import override_settings

from kernel.conf import conf

FACT = {"type": "facts", "key": "fact:db:port", "statement": "数据库端口是 5432", "confidence": 0.9}


@contextmanager
def a_model(text: str = json.dumps({"items": [FACT]})) -> Iterator[None]:
    """A configured model whose every reply is this text."""
    body = json.dumps({"choices": [{"message": {"role": "assistant", "content": text}}]}).encode()

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            self.rfile.read(int(self.headers["content-length"]))
            self.send_response(200)
            self.send_header("content-length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *args: object) -> None:
            """Say nothing."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    thread = threading.Thread(target=server.serve_forever, args=(0.01,))
    thread.start()
    url = f"http://127.0.0.1:{server.server_port}/v1"
    try:
        with override_settings(SMARTBRAIN=replace(conf(), model_url=url, model_name="tiny")):
            yield
    finally:
        server.shutdown()
        thread.join()
        server.server_close()
