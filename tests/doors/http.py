"""The HTTP door as a client sees it."""

from __future__ import annotations

import json
from functools import lru_cache
from typing import Any
from uuid import UUID

from django.test import Client

PROBLEM = "application/problem+json"


@lru_cache(maxsize=1)
def _client() -> Client:
    """One for all: loading the middleware takes long, and no answer sets a cookie."""
    return Client(raise_request_exception=False)


class Http:
    """A caller with one API key; `key` empty sends no Authorization header."""

    def __init__(self, key: str = "") -> None:
        self.client = _client()
        self.auth = {"authorization": f"Bearer {key}"} if key else {}

    def raw(self, action: str, body: bytes | str, content_type: str = "application/json", **headers: str) -> Any:
        sent = {**self.auth, **{name.replace("_", "-"): value for name, value in headers.items()}}
        return self.client.post(f"/v1/{action}", body, content_type=content_type, headers=sent)

    def post(self, action: str, tree: dict | None = None, **headers: str) -> Any:
        return self.raw(action, json.dumps(tree or {}), **headers)

    def get(self, address: str, **headers: str) -> Any:
        return self.client.get(address, headers={**self.auth, **headers})


def assert_problem(response: Any, status: int, code: str) -> dict[str, Any]:
    """The response is a whole problem document with this status and code; gives its body."""
    assert (response.status_code, response["Content-Type"]) == (status, PROBLEM), response.content[:500]
    body: dict[str, Any] = response.json()
    assert (body["status"], body["code"], body["type"]) == (status, code, f"urn:smartbrain:{code}")
    assert body["detail"] == body["error"] != ""
    assert UUID(body["request_id"]) == UUID(response["X-Request-Id"])
    return body
