from __future__ import annotations

import json
import subprocess
import sys
import tempfile
import threading
from typing import IO, Any

import pytest

from governance.models import AuditEntry
from kernel.conf import conf
from memory.models import Message, Turn
from search.models import IndexEntry
from smartbrain_site.mcp.tools import call_tool
from tests.conftest import TEAM, a_turn
from tests.doors.mcp_clients import call, command, environment, post


def _nothing_stored() -> None:
    assert (Turn.objects.count(), Message.objects.count(), IndexEntry.objects.count()) == (0, 0, 0)


def _message(**fields: object) -> dict:
    return a_turn(turn_events={"messages": [{"role": "user", "content": "hello", **fields}]})


def _nested(depth: int) -> object:
    tree: object = 1
    for _ in range(depth):
        tree = [tree]
    return tree


BAD = {
    "no fields": ({}, "invalid_input"),
    "an unknown field": (a_turn(surprise=1), "invalid_input"),
    "a number for a text": (_message(content=5), "invalid_input"),
    "a text for a list": (a_turn(turn_events={"messages": "hello"}), "invalid_input"),
    "a text for a number": ({**a_turn(), "idempotency_key": 5}, "invalid_input"),
    "NUL": (_message(content="a\x00b"), "invalid_input"),
    "NUL in a name": (_message(meta={"a\x00": 1}), "invalid_input"),
    "half of a surrogate pair": (_message(content="a\ud800b"), "invalid_input"),
    "an invisible character in an id": (
        a_turn(scope_context={"read": [{"type": "project", "id": "p\u200b1"}]}),
        "invalid_input",
    ),
    "5 MB in one message": (_message(content="x" * 5_000_000), "too_large"),
    "10,000 messages": (a_turn(turn_events={"messages": [{"role": "user", "content": "x"}] * 10_000}), "too_large"),
    "100 levels": (_message(meta={"a": _nested(100)}), "invalid_input"),
    "300 levels": (_message(meta={"a": _nested(300)}), "invalid_input"),
    "a time without its offset": (_message(created_at="2026-12-01T09:30:00"), "invalid_input"),
    "no time at all": (_message(created_at="yesterday"), "invalid_input"),
    "a time out of range": (_message(created_at="0001-01-01T00:00:00+14:00"), "invalid_input"),
    "an integer of 100 bits": (_message(meta={"n": 2**100}), "invalid_input"),
    "another domain": (a_turn(domain_id="elsewhere"), "not_found"),
    "a scope of another domain": (
        a_turn(scope_context={"read": [{"type": "project", "id": "p", "domain_id": "elsewhere"}]}),
        "invalid_input",
    ),
}


def refused_with(answer: dict, code: str) -> Any:
    """The answer is a whole problem as a tool result; gives it."""
    result = answer["result"]
    problem = result["structuredContent"]
    assert (result["isError"], problem["code"]) == (True, code), problem
    assert json.loads(result["content"][0]["text"]) == problem
    assert "Traceback" not in json.dumps(problem)
    return problem


def test_it_works(cast):
    answer = post(call("commit_turn", a_turn("héllo 世界")), cast.agent.key)
    assert (answer.status_code, answer.json()["result"]["isError"]) == (200, False)
    assert Message.objects.get().content == "héllo 世界"


@pytest.mark.parametrize(("arguments", "code"), BAD.values(), ids=BAD)
def test_a_bad_call_is_refused_and_recorded_over_http(cast, arguments, code):
    answer = post(json.dumps(call("commit_turn", arguments)).encode(), cast.agent.key)
    problem = refused_with(answer.json(), code)
    assert answer.json()["id"] == 1
    entry = AuditEntry.objects.get(action="commit_turn")
    assert (entry.door, entry.code, str(entry.request_id)) == ("mcp", code, problem["request_id"])
    _nothing_stored()


@pytest.mark.parametrize("limit", [-1, 0, 101, 10**18, 10**30, 1.5, "5", True])
def test_a_limit_out_of_range_is_refused(cast, limit):
    answer = post(call("list_sessions", {"domain_id": TEAM, "limit": limit}), cast.agent.key)
    refused_with(answer.json(), "invalid_input")


@pytest.mark.parametrize(
    "query", ['" OR 1=1 --', "NEAR(a b)", "a* AND (", "'; DROP TABLE turns; --", "%_\\", "\u202e"]
)
def test_operators_in_a_query_have_no_meaning(cast, query):
    cast.agent.do("commit_turn", a_turn())
    answer = post(
        call("search_memory", {"domain_id": TEAM, "session_id": "s1", "query": query}), cast.agent.key
    ).json()
    assert not answer["result"]["isError"]
    assert answer["result"]["structuredContent"]["results"] == []


NO_CALL = {
    "nothing": (b"", 400, "invalid_json"),
    "words": (b"hello", 400, "invalid_json"),
    "cut short": (json.dumps(call("whoami", {})).encode()[:-2], 400, "invalid_json"),
    "Latin-1": ('{"a": "é"}'.encode("latin-1"), 400, "invalid_json"),
    "NaN": (b'{"jsonrpc": "2.0", "id": NaN}', 400, "invalid_json"),
    "a name twice": (b'{"id": 1, "id": 2}', 400, "invalid_json"),
    "a batch": (json.dumps([call("whoami", {})]).encode(), 422, "invalid_input"),
    "a number": (b"1", 422, "invalid_input"),
    "100,000 brackets": (b"[" * 100_000, 400, "invalid_json"),
}


@pytest.mark.parametrize(("body", "status", "code"), NO_CALL.values(), ids=NO_CALL)
def test_what_is_no_message_is_refused_over_http(cast, body, status, code):
    answer = post(body, cast.agent.key)
    assert answer.status_code == status
    error = answer.json()["error"]
    assert (error["data"]["code"], error["message"]) == (code, error["data"]["detail"])
    _nothing_stored()


@pytest.mark.parametrize("arguments", [[1], "text", 5])
def test_arguments_that_are_no_object_are_refused(cast, arguments):
    answer = post(call("whoami", arguments), cast.agent.key).json()
    assert answer["error"]["code"] == -32602


def test_a_body_over_the_limit_is_refused(cast):
    answer = post(b" " * (conf().max_body_bytes + 1), cast.agent.key)
    assert (answer.status_code, answer.json()["error"]["data"]["code"]) == (413, "too_large")


@pytest.mark.parametrize("key", [None, "", "sb", "sb_0123456789ab_wrong", "sb_é_x", "x" * 5000])
def test_without_a_key_that_works_nothing_is_answered(cast, key):
    answer = post(call("commit_turn", a_turn()), key)
    assert (answer.status_code, answer.headers["www-authenticate"]) == (401, "Bearer")
    assert answer.json()["error"]["data"]["code"] == "unauthenticated"
    _nothing_stored()


def test_a_revoked_key_is_refused(cast):
    cast.operator.do("revoke_key", key_prefix=cast.agent.key.split("_")[1])
    assert post(call("whoami", {}), cast.agent.key).status_code == 401


@pytest.mark.parametrize("method", ["GET", "DELETE", "PUT"])
def test_only_post_is_taken(cast, method):
    answer = post(b"", cast.agent.key, method)
    assert (answer.status_code, answer.headers["allow"]) == (405, "POST")


@pytest.mark.parametrize("host", ["evil.example", "127.0.0.1.evil.example", "evil.example:8000"])
def test_another_host_name_is_refused(cast, host):
    answer = post(call("commit_turn", a_turn()), cast.agent.key, host=host)
    assert (answer.status_code, answer.json()["error"]["data"]["code"]) == (403, "forbidden")
    _nothing_stored()


@pytest.mark.parametrize("origin", ["https://evil.example", "null", "http://[", "https://localhost.evil.example:1"])
def test_a_page_of_another_origin_is_refused(cast, origin):
    answer = post(call("commit_turn", a_turn()), cast.agent.key, origin=origin)
    assert (answer.status_code, answer.json()["error"]["data"]["code"]) == (403, "forbidden")
    _nothing_stored()


def test_a_page_of_this_host_is_served(cast):
    assert post(call("whoami", {}), cast.agent.key, origin="http://localhost:8000").status_code == 200


def test_a_key_in_the_clear_is_refused_where_https_is_required(cast, settings):
    settings.SECURE_SSL_REDIRECT = True
    assert post(call("whoami", {}), cast.agent.key).status_code == 403


def test_a_named_session_is_refused(cast):
    answer = post(call("commit_turn", a_turn()), cast.agent.key, mcp_session_id="0123456789abcdef")
    assert (answer.status_code, answer.json()["error"]["data"]["code"]) == (404, "not_found")
    _nothing_stored()


def test_a_bug_before_the_call_is_shown_as_a_number_only(cast, a_bug):
    with a_bug:
        answer = post(call("whoami", {}), cast.agent.key)
    assert (answer.status_code, answer.json()["error"]["data"]["code"]) == (500, "internal")
    assert "secret detail" not in answer.text


def test_a_bug_in_the_call_is_shown_as_a_number_only(cast, a_bug):
    with a_bug:
        answer = call_tool("whoami", {}, lambda: cast.agent.identity)
    assert (answer.refused, answer.body["code"], answer.body["status"]) == (True, "internal", 500)
    assert "secret detail" not in json.dumps(answer.body)


def test_a_database_that_is_away_is_said_to_be_away(cast, no_database):
    with no_database:
        answer = post(call("whoami", {}), cast.agent.key)
    assert (answer.status_code, answer.json()["error"]["data"]["code"]) == (503, "unavailable")
    assert "/secret/" not in answer.text


def _converse(lines: list[bytes], env: dict[str, str], wanted: int) -> tuple[list[dict], bytes]:
    """Say these lines to a server process and hear so many answers before hanging up; gives them, and its complaints."""
    with tempfile.TemporaryFile() as complaints:
        process = subprocess.Popen(
            [sys.executable, *command()], env=env, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=complaints
        )
        with process:
            assert process.stdin
            assert process.stdout
            speaker = threading.Thread(target=_say, args=(process.stdin, lines))
            speaker.start()
            answers = [json.loads(line) for _, line in zip(range(wanted), process.stdout, strict=False)]
            speaker.join()
            process.stdin.close()
            assert process.wait(120) == 0
        complaints.seek(0)
        return answers, complaints.read()


def _say(stdin: IO[bytes], lines: list[bytes]) -> None:
    for line in lines:
        stdin.write(line + b"\n")
    stdin.flush()


@pytest.mark.django_db(transaction=True)
def test_each_bad_line_on_standard_input_gets_its_answer(cast):
    hello = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "test", "version": "1"}}
    lines = [json.dumps({"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": hello}).encode()]
    lines += [json.dumps({"jsonrpc": "2.0", "method": "notifications/initialized"}).encode()]
    codes = {}
    for number, (arguments, code) in enumerate(BAD.values(), start=1):
        lines.append(json.dumps(call("commit_turn", arguments, number)).encode())
        codes[number] = code
    unreadable = [body.replace(b"\n", b" ") for body, _, _ in NO_CALL.values()] + [b" " * (conf().max_body_bytes + 9)]
    lines += unreadable
    lines.append(json.dumps(call("commit_turn", a_turn("the good one"), "good")).encode())
    answers, complaints = _converse(lines, environment(SMARTBRAIN_API_KEY=cast.agent.key), len(lines) - 1)
    assert b"Traceback" not in complaints
    by_id = {answer["id"]: answer for answer in answers if answer["id"] is not None}
    for number, code in codes.items():
        refused_with(by_id[number], code)
    faults = [answer["error"]["data"]["code"] for answer in answers if answer["id"] is None]
    assert sorted(faults) == sorted([code for _, _, code in NO_CALL.values()] + ["too_large"])
    assert [message.content for message in Message.objects.all()] == ["the good one"]
    assert AuditEntry.objects.filter(action="commit_turn", door="mcp").exclude(outcome="allowed").count() == len(codes)
