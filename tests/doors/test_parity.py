"""Every action through every door: the same schema, result, refusal and audit entry.

A key never decides or operates, so people's actions succeed through Python and `act --user` alone, and are refused
alike to a key on every door.
"""

from __future__ import annotations

import json
import re
from contextlib import nullcontext
from io import StringIO
from typing import Any

import pytest
from asgiref.sync import async_to_sync
from django.core.management import call_command
from mcp import Client

from governance.models import AuditEntry
from kernel.actions import all_actions, get
from kernel.db import rolled_back
from smartbrain_site.http import openapi
from smartbrain_site.mcp.server import build
from tests.conftest import Cast, Player
from tests.doors.callers import FOR_KEYS, FOR_PEOPLE, Caller, Told, by_python
from tests.doors.examples import EXAMPLES
from tests.doors.examples.governance import queued_commit
from tests.doors.language_model import a_model

pytestmark = pytest.mark.usefixtures("midday")

ACTIONS = sorted(EXAMPLES)
UUID = re.compile(r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}|\b[0-9a-f]{32}\b")
TIME = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?(Z|\+00:00)")
KEY = re.compile(r"sb_[0-9a-f]{12}_[\w-]{43}")
UPLOAD = re.compile(r"upload:[0-9a-f-]{36}\.[\w-]{43}")
KEPT = (
    "action", "actor_kind", "actor_name", "on_behalf_of", "domain_id", "scope", "outcome", "rule", "code", "reason",
    "policy_version", "input_digest", "changes",
)  # fmt: skip


def normal(value: Any) -> Any:
    """The value with ids numbered in the order of appearance, and times and new keys masked."""
    text = KEY.sub("<key>", TIME.sub("<time>", json.dumps(value, ensure_ascii=False, sort_keys=True, default=str)))
    text = UPLOAD.sub("<upload>", text)
    seen: dict[str, str] = {}
    text = UUID.sub(lambda found: seen.setdefault(found[0], f"<id {len(seen)}>"), text)
    return json.loads(text)


def body_of(told: Told) -> dict:
    """The body without what differs by nature: the request's id, the door, a new key's prefix, how long it took."""
    body = {key: value for key, value in told[1].items() if key not in {"request_id", "door", "key_prefix"}}
    if isinstance(body.get("stats"), dict):
        body["stats"] = {key: value for key, value in body["stats"].items() if key != "took_ms"}
    masked: dict = normal(body)
    return masked


def _trail(before: int) -> tuple[list[dict], set[str]]:
    """The audit entries since then, and the doors that they name."""
    rows = list(AuditEntry.objects.order_by("id"))[before:]
    entries = [{name: getattr(row, name) for name in KEPT} for row in rows]
    for entry in entries:
        entry["changes"] = [
            {key: change[key] for key in ("table",)} | {"new": change["before"] is None} for change in entry["changes"]
        ]
    return normal(entries), {row.door for row in rows}


def heard(caller: Caller, player: Player, action: str, tree: dict) -> tuple[int, dict, list[dict], set[str]]:
    """Call, look at what was answered and recorded, and undo it all."""
    before = AuditEntry.objects.count()
    with rolled_back():
        told = caller(player, action, tree)
        entries, doors = _trail(before)
    return told[0], body_of(told), entries, doors


def assert_same(player: Player, action: str, tree: dict) -> tuple[int, dict]:
    """Every door that this player can use answers and records as Python does; gives the answer."""
    status, body, entries, doors = heard(by_python, player, action, tree)
    assert entries
    assert doors == {"python"}
    for door, caller in (FOR_KEYS if player.key else FOR_PEOPLE).items():
        other = heard(caller, player, action, tree)
        assert other[0] == status, (door, other[1])
        assert other[1] == body, door
        assert other[2] == entries, door
        assert other[3] == {door}
    return status, body


def of(cast: Cast, name: str) -> Player:
    player: Player = getattr(cast, name)
    return player


def test_it_works(cast):
    status, body = assert_same(cast.agent, "whoami", {})
    assert (status, body["name"]) == (200, "agent")


def test_no_action_is_left_out():
    assert {action.name for action in all_actions()} == set(EXAMPLES), "add the new action to tests/doors/examples"


@pytest.mark.parametrize("action", ACTIONS)
def test_the_same_result(cast, action):
    example = EXAMPLES[action]
    given = example.given(cast)
    with a_model() if example.model else nullcontext():
        status, body = assert_same(of(cast, example.who), action, given)
    assert status == 200, body


@pytest.mark.parametrize("action", ACTIONS)
def test_the_same_refusal_of_what_is_not_in_the_schema(cast, action):
    example = EXAMPLES[action]
    status, body = assert_same(of(cast, example.who), action, {**example.given(cast), "surprise": 1})
    assert (status, body["code"]) == (422, "invalid_input")
    assert {"loc": ["surprise"], "msg": "Extra inputs are not permitted", "type": "extra_forbidden"} in body["errors"]


@pytest.mark.parametrize("action", [name for name in ACTIONS if EXAMPLES[name].refused])
def test_the_same_refusal_of_whoever_may_not(cast, action):
    example = EXAMPLES[action]
    status, body = assert_same(of(cast, example.refused or ""), action, example.given(cast))
    assert (status, body["code"]) in {(403, "forbidden"), (404, "not_found")}


def test_the_same_answer_of_what_waits_for_a_person(cast):
    status, body = assert_same(cast.agent, "commit_turn", queued_commit(cast))
    assert (status, body["status"], body["proposal"]["state"]) == (202, "queued", "open")


def test_the_same_conflict(cast):
    given = EXAMPLES["create_principal"].given(cast)
    status, body = assert_same(cast.operator, "create_principal", {**given, "name": "reader"})
    assert (status, body["code"]) == (409, "conflict")


@pytest.mark.parametrize("text", ["nul \x00 here", "half \ud800 here"], ids=["NUL", "lone surrogate"])
def test_the_same_refusal_of_text_that_nobody_can_keep(cast, text):
    status, body = assert_same(cast.agent, "search_memory", {"session_id": "s1", "query": text, "domain_id": "team"})
    assert (status, body["code"], body["errors"][0]["loc"]) == (422, "invalid_input", ["query"])


@pytest.mark.parametrize("action", ACTIONS)
def test_the_same_schema(action, db):
    schema = get(action).input.model_json_schema()
    out = StringIO()
    call_command("act", action, "--schema", stdout=out)
    assert json.loads(out.getvalue()) == schema
    assert _tools()[action] == schema
    assert _names(_openapi_input(action)) == _names(schema)


def _names(schema: dict) -> tuple[set[str], set[str]]:
    return set(schema.get("properties", {})), set(schema.get("required", []))


def _openapi_input(action: str) -> Any:
    document = json.loads(openapi.text())
    schema = document["paths"][f"/v1/{action}"]["post"]["requestBody"]["content"]["application/json"]["schema"]
    while "$ref" in schema:
        schema = document["components"]["schemas"][schema["$ref"].rpartition("/")[2]]
    return schema


def _tools() -> dict[str, dict]:
    async def ask() -> dict[str, dict]:
        async with Client(build(lambda request: pytest.fail("listing needs nobody"))) as client:
            return {tool.name: tool.input_schema for tool in (await client.list_tools()).tools}

    return async_to_sync(ask)()
