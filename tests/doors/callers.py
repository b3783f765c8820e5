"""The same call through each door, in the thread and the transaction of the test."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from io import StringIO
from tempfile import NamedTemporaryFile

from asgiref.sync import async_to_sync
from django.conf import settings
from django.core.management import call_command
from django.test import override_settings
from mcp import Client

from kernel.errors import DomainError
from scopes.selectors import authenticate_key
from smartbrain_site import embedded
from smartbrain_site.mcp.server import build
from tests.conftest import TEAM, Player
from tests.doors.http import Http

Told = tuple[int, dict]  # status and body
Caller = Callable[[Player, str, dict], Told]
PASSWORD = "correct horse battery"


def status_of(body: dict) -> int:
    """The HTTP status that an answer would have had: a call that waits for a person names its proposal."""
    return 202 if body.get("status") == "queued" and "proposal" in body else 200


def by_python(player: Player, action: str, tree: dict) -> Told:
    try:
        answer = player.call(action, tree)
    except DomainError as exc:
        return exc.status, exc.problem("r")
    return answer.status, answer.body()


def by_http(player: Player, action: str, tree: dict) -> Told:
    response = Http(player.key).post(action, tree)
    return response.status_code, response.json()


def by_mcp(player: Player, action: str, tree: dict) -> Told:
    async def call() -> Told:
        async with Client(build(lambda request: authenticate_key(player.key))) as client:
            result = await client.call_tool(action, tree)
        body = result.structured_content
        assert isinstance(body, dict)
        assert [json.loads(part.text) for part in result.content if part.type == "text"] == [body]
        if result.is_error:
            return body["status"], body
        return status_of(body), body

    return async_to_sync(call)()


def by_act(player: Player, action: str, tree: dict) -> Told:
    """A key is taken from the settings, a person signs in with a password file."""
    out, err = StringIO(), StringIO()
    person = [] if player.key else ["--user", player.name]
    left: object = 0
    with NamedTemporaryFile("w") as password:
        password.write(f"{PASSWORD}\n")
        password.flush()
        conf = replace(settings.SMARTBRAIN, api_key=player.key, password_file=password.name)
        try:
            with override_settings(SMARTBRAIN=conf):
                call_command("act", action, json.dumps(tree), *person, stdout=out, stderr=err)
        except SystemExit as exc:
            left = exc.code
    if left == 0:
        assert err.getvalue() == ""
        body = json.loads(out.getvalue())
        return status_of(body), body
    assert (left, out.getvalue()) == (1, "")
    body = json.loads(err.getvalue())
    return body["status"], body


def by_embedded(player: Player, action: str, tree: dict) -> Told:
    try:
        body = getattr(embedded.Brain(TEAM, player.name), action)(**tree)
    except DomainError as exc:
        return exc.status, exc.problem("r")
    return status_of(body), body


FOR_KEYS: dict[str, Caller] = {"http": by_http, "mcp": by_mcp, "cli": by_act, "python": by_embedded}
FOR_PEOPLE: dict[str, Caller] = {"cli": by_act}
