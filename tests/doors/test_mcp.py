from __future__ import annotations

import asyncio
import json
import signal
import subprocess
import sys

import httpx2
import pytest
from django.conf import settings

from governance.models import AuditEntry
from kernel.actions import Effect, all_actions
from memory.models import Turn
from smartbrain_site.mcp import tools
from smartbrain_site.mcp.threads import in_thread
from tests.conftest import TEAM, a_turn
from tests.doors.mcp_clients import HEADERS, call, command, environment, over_http, over_stdio, serving

pytestmark = pytest.mark.django_db(transaction=True)
TRANSPORTS = {"http": over_http, "stdio": over_stdio}


@pytest.fixture(scope="module")
def address():
    with serving() as address:
        yield address


@pytest.fixture(params=TRANSPORTS)
def connect(request, address):
    def connected(key: str, mode: str = "auto"):
        return TRANSPORTS[request.param](address, key, mode)

    return connected


@pytest.mark.parametrize("mode", ["auto", "legacy"])
def test_it_works(cast, connect, mode):
    async def talk():
        async with connect(cast.agent.key, mode) as client:
            listed = (await client.list_tools()).tools
            stored = await client.call_tool("commit_turn", a_turn("默认数据库是 Postgres"))
            found = await client.call_tool("search_memory", {"domain_id": TEAM, "session_id": "s1", "query": "数据库"})
        return listed, stored, found

    listed, stored, found = asyncio.run(talk())
    assert [tool.name for tool in listed] == [action.name for action in all_actions()]
    assert not stored.is_error
    assert stored.structured_content["seq"] == 1
    assert [row["text"] for row in found.structured_content["results"]] == ["默认数据库是 Postgres"]
    entry = AuditEntry.objects.get(action="search_memory")
    assert (entry.door, entry.actor_name, entry.outcome) == ("mcp", "agent", "allowed")


def test_a_refusal_is_the_problem_object(cast, connect):
    async def talk():
        async with connect(cast.stranger.key) as client:
            return await client.call_tool("commit_turn", a_turn())

    answer = asyncio.run(talk())
    assert answer.is_error
    assert (answer.structured_content["code"], answer.structured_content["status"]) == ("not_found", 404)
    assert json.loads(answer.content[0].text) == answer.structured_content
    assert not Turn.objects.exists()


def test_an_unknown_tool_is_refused(cast, connect):
    async def talk():
        async with connect(cast.agent.key) as client:
            return await client.call_tool("no_such_tool", {})

    answer = asyncio.run(talk())
    assert (answer.is_error, answer.structured_content["code"]) == (True, "not_found")


def test_a_call_that_waits_for_a_person_says_so(cast, connect):
    rule = {"name": "all", "actions": ["commit_turn"]}
    cast.operator.do("set_policy", domain_id=TEAM, document={"review": {"queue": [rule]}}, reason="look first")

    async def talk():
        async with connect(cast.agent.key) as client:
            await client.list_tools()  # so that the client checks the answer against the output schema
            return await client.call_tool("commit_turn", a_turn())

    answer = asyncio.run(talk())
    assert not answer.is_error
    assert answer.structured_content["status"] == "queued"
    assert not Turn.objects.exists()


def test_a_key_that_is_revoked_meanwhile_stops_working(cast, connect):
    async def talk():
        async with connect(cast.agent.key) as client:
            before = await client.call_tool("whoami", {})
            await in_thread(lambda: cast.operator.do("revoke_key", key_prefix=cast.agent.key.split("_")[1]))
            return before, await client.call_tool("commit_turn", a_turn())

    try:
        before, after = asyncio.run(talk())
    except BaseExceptionGroup as group:  # over HTTP the answer is 401, which the client raises
        assert "401" in repr(group.exceptions) or "Unauthorized" in repr(group.exceptions)  # noqa: PT017
    else:
        assert not before.is_error
        assert (after.is_error, after.structured_content["code"]) == (True, "unauthenticated")
    assert not Turn.objects.exists()


def test_ten_calls_at_once_are_ten_turns(cast, connect):
    async def talk():
        async with connect(cast.agent.key) as client:
            return await asyncio.gather(*(client.call_tool("commit_turn", a_turn(f"note {n}")) for n in range(10)))

    answers = asyncio.run(talk())
    assert not any(answer.is_error for answer in answers)
    assert sorted(answer.structured_content["seq"] for answer in answers) == list(range(1, 11))


def test_two_keys_on_one_server_are_two_principals(cast, address):
    async def talk():
        async with over_http(address, cast.agent.key) as one, over_http(address, cast.stranger.key) as two:
            return [await client.call_tool("whoami", {}) for client in (one, two, one)]

    assert [answer.structured_content["name"] for answer in asyncio.run(talk())] == ["agent", "stranger", "agent"]


def test_no_session_is_opened_and_a_named_one_is_refused(cast, address):
    hello = {
        "jsonrpc": "2.0",
        "id": 1,
        "method": "initialize",
        "params": {
            "protocolVersion": "2025-06-18",
            "capabilities": {},
            "clientInfo": {"name": "test", "version": "1"},
        },
    }

    def post(key: str, message: dict, **headers: str) -> httpx2.Response:
        sent = {**HEADERS, "authorization": f"Bearer {key}", **headers}
        return httpx2.post(address, json=message, headers=sent, timeout=120)

    opened = post(cast.agent.key, hello)
    assert opened.status_code == 200
    assert "mcp-session-id" not in opened.headers
    stolen = post(cast.stranger.key, call("commit_turn", a_turn()), **{"mcp-session-id": "a-stolen-id"})
    assert (stolen.status_code, stolen.json()["error"]["data"]["code"]) == (404, "not_found")
    assert not Turn.objects.exists()


@pytest.mark.parametrize("key", ["", "sb_0123456789ab_nobody", "钥匙"])
def test_stdio_with_a_bad_key_ends_with_2_and_says_why(db, key):
    done = subprocess.run(
        [sys.executable, *command()], env=environment(SMARTBRAIN_API_KEY=key), input="", capture_output=True, text=True
    )
    assert (done.returncode, done.stdout) == (2, "")
    assert ("SMARTBRAIN_API_KEY" if not key else "The API key is unknown, malformed or revoked") in done.stderr
    assert "Traceback" not in done.stderr


def test_stdio_with_a_key_file_that_is_not_there_ends_with_2(db, tmp_path):
    given = environment(SMARTBRAIN_API_KEY_FILE=str(tmp_path / "none"))
    done = subprocess.run([sys.executable, *command()], env=given, input="", capture_output=True, text=True)
    assert (done.returncode, done.stdout) == (2, "")
    assert "SMARTBRAIN_API_KEY" in done.stderr
    assert "Traceback" not in done.stderr


def test_stdio_ends_at_ctrl_c_while_it_waits_for_a_message(cast):
    with subprocess.Popen(
        [sys.executable, *command()],
        env=environment(SMARTBRAIN_API_KEY=cast.agent.key),
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    ) as process:
        assert process.stdin
        assert process.stdout
        assert process.stderr
        process.stdin.write(b"no message\n")
        process.stdin.flush()
        assert b"invalid_json" in process.stdout.readline()  # it is up
        process.send_signal(signal.SIGINT)
        assert process.wait(120) == 130
        assert process.stderr.read() == b""


def test_the_published_tool_list_is_the_list_in_force():
    published = (settings.BASE_DIR / "schemas" / "mcp-tools.json").read_text("utf-8")
    assert published == tools.text(), "run `manage.py export_schemas`"


def test_the_hints_say_what_each_tool_does():
    for action, tool in zip(all_actions(), tools.tool_list(), strict=True):
        hints = tool["annotations"]
        assert hints["readOnlyHint"] is (action.effect is Effect.READ), action.name
        assert hints["destructiveHint"] is (action.effect is Effect.DESTROY), action.name
        assert hints["idempotentHint"] is action.idempotent, action.name
        assert tool["inputSchema"]["type"] == tool["outputSchema"]["type"] == "object", action.name
    by_name = {tool["name"]: tool["annotations"] for tool in tools.tool_list()}
    assert by_name["search_memory"]["readOnlyHint"]
    assert by_name["revoke_key"]["destructiveHint"]
    assert not by_name["create_principal"]["idempotentHint"]
