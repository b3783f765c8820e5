from __future__ import annotations

import codecs
import json

import pytest

from governance.models import AuditEntry
from memory.models import Message, Turn
from search.models import IndexEntry
from tests.conftest import a_turn, make_agent
from tests.doors.http import Http, assert_problem

TURN = json.dumps(a_turn()).encode()


@pytest.fixture
def agent(db) -> Http:
    return Http(make_agent("agent").key)


def _nothing_stored() -> None:
    assert (Turn.objects.count(), Message.objects.count(), IndexEntry.objects.count()) == (0, 0, 0)


def _message(**fields: object) -> dict:
    return a_turn(turn_events={"messages": [{"role": "user", "content": "hello", **fields}]})


def test_it_works(agent):
    assert agent.raw("commit_turn", TURN).status_code == 200
    assert Message.objects.get().content == "The default database is Postgres."


NOT_JSON = {
    "words": b"hello",
    "form": b"domain_id=team&session_id=s1",
    "cut short": TURN[:-3],
    "two values": TURN + TURN,
    "trailing comma": TURN[:-1] + b",}",
    "single quotes": b"{'domain_id': 'team'}",
    "comment": b"{} // yes",
    "NaN": b'{"domain_id": NaN}',
    "Infinity": b'{"domain_id": Infinity}',
    "minus Infinity": b'{"a": [-Infinity]}',
    "a member name twice": b'{"domain_id": "team", "domain_id": "elsewhere"}',
    "a member name twice, escaped": b'{"domain_id": "team", "domain\\u005fid": "elsewhere"}',
    "a member name twice, deep": TURN.replace(b'{"role": "user",', b'{"role": "user", "role": "system",'),
    "100,000 brackets": b"[" * 100_000,
    "100,000 closed brackets": b'{"a":' + b"[" * 100_000 + b"]" * 100_000 + b"}",
    "100,000 braces": b'{"a":' * 100_000,
    "a number of 100,000 digits": b'{"limit": ' + b"9" * 100_000 + b"}",
    "Latin-1": '{"domain_id": "é"}'.encode("latin-1"),
    "GB18030": '{"domain_id": "数据库"}'.encode("gb18030"),
    "UTF-16 with its mark": codecs.BOM_UTF16_LE + TURN.decode().encode("utf-16-le"),
    "UTF-16": TURN.decode().encode("utf-16-le"),
    "UTF-32": TURN.decode().encode("utf-32"),
    "a lone surrogate in UTF-8": b'{"domain_id": "\xed\xa0\x80"}',
    "an overlong NUL": b'{"domain_id": "\xc0\x80"}',
    "a bare NUL": b'{"domain_id": "a\x00b"}',
    "a bare line break in a text": b'{"domain_id": "a\nb"}',
    "bytes": bytes(range(256)),
}


@pytest.mark.parametrize("body", NOT_JSON.values(), ids=NOT_JSON.keys())
def test_what_is_no_json_is_refused(agent, body):
    assert_problem(agent.raw("commit_turn", body), 400, "invalid_json")
    _nothing_stored()
    entry = AuditEntry.objects.get(action="commit_turn")
    assert (entry.outcome, entry.code) == ("invalid", "invalid_json")


@pytest.mark.parametrize("body", NOT_JSON.values(), ids=NOT_JSON.keys())
def test_what_is_no_json_is_refused_with_a_key_in_the_header_too(agent, body):
    assert_problem(agent.raw("commit_turn", body, idempotency_key="k1"), 400, "invalid_json")
    _nothing_stored()


@pytest.mark.parametrize("body", [b"[]", b"1", b'"text"', b"null", b"true", b"1e9"])
def test_json_that_is_no_object_is_refused(agent, body):
    assert_problem(agent.raw("commit_turn", body), 422, "invalid_input")
    _nothing_stored()


NESTED = b'{"domain_id": "team", "session_id": "s1", "turn_events": {"messages": [{"role": "user", "content": "x", '
WRONG = {
    "empty": (b"{}", "session_id"),
    "no events": (json.dumps(a_turn(turn_events={})).encode(), "turn_events"),
    "empty events": (json.dumps(a_turn(turn_events={"messages": []})).encode(), "turn_events"),
    "events are a list": (json.dumps(a_turn(turn_events=[])).encode(), "turn_events"),
    "null session": (json.dumps(a_turn(session_id=None)).encode(), "session_id"),
    "session is a number": (json.dumps(a_turn(session_id=1)).encode(), "session_id"),
    "session is blank": (json.dumps(a_turn(session_id=" ")).encode(), "session_id"),
    "session is empty": (json.dumps(a_turn(session_id="")).encode(), "session_id"),
    "session is too long": (json.dumps(a_turn(session_id="s" * 201)).encode(), "session_id"),
    "domain is a list": (json.dumps(a_turn(domain_id=["team"])).encode(), "domain_id"),
    "domain with a slash": (json.dumps(a_turn(domain_id="../team")).encode(), "domain_id"),
    "content is a number": (json.dumps(_message(content=1)).encode(), "turn_events.messages.0.content"),
    "content is null": (json.dumps(_message(content=None)).encode(), "turn_events.messages.0.content"),
    "content is an object": (json.dumps(_message(content={"a": 1})).encode(), "turn_events.messages.0.content"),
    "unknown role form": (json.dumps(_message(role="User!")).encode(), "turn_events.messages.0.role"),
    "unknown field": (json.dumps(a_turn(sesion_id="s1")).encode(), "sesion_id"),
    "unknown field of a message": (json.dumps(_message(text="x")).encode(), "turn_events.messages.0.text"),
    "meta is a list": (json.dumps(_message(meta=[1])).encode(), "turn_events.messages.0.meta"),
    "key is empty": (json.dumps(a_turn(idempotency_key="")).encode(), "idempotency_key"),
    "key is too long": (json.dumps(a_turn(idempotency_key="k" * 129)).encode(), "idempotency_key"),
    "time without offset": (
        json.dumps(_message(created_at="2026-12-01T09:30:00")).encode(),
        "turn_events.messages.0.created_at",
    ),
    "malformed time": (json.dumps(_message(created_at="yesterday")).encode(), "turn_events.messages.0.created_at"),
    "a day there is not": (
        json.dumps(_message(created_at="2026-02-30T00:00:00Z")).encode(),
        "turn_events.messages.0.created_at",
    ),
    "time as a number": (json.dumps(_message(created_at=1764554400)).encode(), "turn_events.messages.0.created_at"),
    "time before the first": (
        json.dumps(_message(created_at="0001-01-01T00:00:00+14:00")).encode(),
        "turn_events.messages.0.created_at",
    ),
    "time after the last": (
        json.dumps(_message(created_at="9999-12-31T23:59:59-14:00")).encode(),
        "turn_events.messages.0.created_at",
    ),
    "NUL": (json.dumps(_message(content="a\x00b")).encode(), "turn_events.messages.0.content"),
    "NUL in an id": (json.dumps(a_turn(session_id="a\x00b")).encode(), "session_id"),
    "NUL in a name of meta": (json.dumps(_message(meta={"a\x00": 1})).encode(), "turn_events.messages.0.meta"),
    "lone surrogate": (json.dumps(_message(content="a\ud800b")).encode(), "turn_events.messages.0.content"),
    "low surrogate": (json.dumps(_message(name="\udfff")).encode(), "turn_events.messages.0.name"),
    "surrogate in a name of meta": (
        json.dumps(_message(meta={"\ud800": 1})).encode(),
        "turn_events.messages.0.meta",
    ),
    "a number beyond floats": (NESTED + b'"meta": {"n": 1e999}}]}}', "turn_events.messages.0.meta.n"),
    "an integer beyond 64 bits": (NESTED + b'"meta": {"n": ' + b"9" * 30 + b"}}]}}", "turn_events.messages.0.meta.n"),
    "nested 40 deep": (
        NESTED + b'"meta": {"n": ' + b"[" * 40 + b"]" * 40 + b"}}]}}",
        "turn_events.messages.0.meta",
    ),
    "nested 500 deep": (
        NESTED + b'"meta": {"n": ' + b"[" * 500 + b"]" * 500 + b"}}]}}",
        "turn_events.messages.0.meta",
    ),
}


@pytest.mark.parametrize(("body", "where"), WRONG.values(), ids=WRONG.keys())
def test_a_wrong_input_is_refused_and_the_place_is_named(agent, body, where):
    found = assert_problem(agent.raw("commit_turn", body), 422, "invalid_input")
    assert where in [".".join(fault["loc"]) for fault in found["errors"]]
    _nothing_stored()


def test_a_refusal_never_repeats_the_input(agent):
    response = agent.post("commit_turn", _message(created_at="hunter2", content=["hunter2"], role="hunter2!"))
    assert "hunter2" not in response.content.decode()


def test_an_id_given_twice_is_refused(agent):
    messages = [{"role": "user", "content": "x", "id": "m1"}, {"role": "user", "content": "y", "id": "m1"}]
    assert_problem(agent.post("commit_turn", a_turn(turn_events={"messages": messages})), 422, "invalid_input")
    _nothing_stored()


@pytest.mark.parametrize("limit", [-1, 0, 101, 10**6, 2**63, 10**40, "10", 1.5, True, None])
def test_a_limit_outside_its_range_is_refused(agent, limit):
    question = {"domain_id": "team", "session_id": "s1", "query": "x", "limit": limit}
    assert_problem(agent.post("search_memory", question), 422, "invalid_input")


def test_a_message_of_5_mb_is_too_large(agent):
    assert_problem(agent.post("commit_turn", a_turn("x" * 5_000_000)), 413, "too_large")
    _nothing_stored()


def test_a_body_over_8_mib_is_too_large(agent):
    assert_problem(agent.post("commit_turn", a_turn("x" * 8_400_000)), 413, "too_large")
    assert AuditEntry.objects.get(action="commit_turn").code == "too_large"
    _nothing_stored()


def test_a_body_over_8_mib_is_too_large_with_a_key_in_the_header_too(agent):
    response = agent.post("commit_turn", a_turn("x" * 8_400_000), idempotency_key="k1")
    assert_problem(response, 413, "too_large")
    _nothing_stored()


def test_10_000_messages_in_one_commit_are_too_many(agent):
    messages = [{"role": "user", "content": f"message {n}"} for n in range(10_000)]
    body = assert_problem(agent.post("commit_turn", a_turn(turn_events={"messages": messages})), 413, "too_large")
    assert "1000 at most" in body["detail"]
    _nothing_stored()


def test_a_query_over_its_limit_is_too_large(agent):
    agent.post("commit_turn", a_turn())
    question = {"domain_id": "team", "session_id": "s1", "query": "x" * 4_001}
    assert_problem(agent.post("search_memory", question), 413, "too_large")


INVISIBLE = {
    "zero-width space": "data\u200bbase \u200b",
    "right-to-left override": "safe \u202e txt.exe",
    "tag characters": "hello \U000e0041\U000e0042",
    "soft hyphen": "data\u00adbase",
    "byte order mark": "\ufeffhello",
    "escape": "\x1b[31mred",
    "delete": "a\x7fb",
    "hangul filler": "\u3164 hello",
    "noncharacter": "hello \uffff",
    "line separator": "one\u2028two\u2029three",
}


@pytest.mark.parametrize("text", INVISIBLE.values(), ids=INVISIBLE.keys())
def test_invisible_characters_are_kept_as_they_are_and_the_text_is_found(agent, text):
    agent.post("commit_turn", a_turn(f"{text} elephant"))
    turns = agent.get("/v1/turns?domain_id=team&session_id=s1").json()["turns"]
    assert turns[0]["messages"][0]["content"] == f"{text} elephant"
    found = agent.post("search_memory", {"domain_id": "team", "session_id": "s1", "query": "elephant"}).json()
    assert [result["text"] for result in found["results"]] == [f"{text} elephant"]


OPERATORS = [
    '" OR 1=1 --',
    "' OR '1'='1",
    "'; DROP TABLE messages; --",
    "NEAR(",
    "NEAR(a b, 5)",
    "a AND NOT b",
    "NOT",
    "OR",
    "*",
    "Post*",
    "%",
    "_",
    "%s %(x)s",
    '"',
    '"unclosed',
    "'",
    "\\",
    "(((",
    ")",
    "content:x",
    "{col}: ^x",
    "a:* & !b | c <-> d",
    "-",
    "!!",
    "\u0001",
    "🙂",
    " ",
    "\n",
    "\u202e",
    "的",
    "a" * 4_000,
    "a " * 2_000,
    "数据库" * 1_000,
]


@pytest.mark.parametrize("query", OPERATORS, ids=range(len(OPERATORS)))
def test_operators_have_no_meaning_in_a_query(agent, query):
    agent.post("commit_turn", a_turn("nothing of that kind"))
    response = agent.post("search_memory", {"domain_id": "team", "session_id": "s1", "query": query})
    assert response.status_code == 200
    assert response.json()["results"] == []
    assert Message.objects.count() == 1


def test_words_among_operators_are_found(agent):
    agent.post("commit_turn", a_turn("the password of Bobby"))
    for query in ('"Bobby" OR 1=1 --', "NEAR(bobby", "bobby*", "'bobby'; DROP TABLE messages"):
        found = agent.post("search_memory", {"domain_id": "team", "session_id": "s1", "query": query}).json()
        assert [result["text"] for result in found["results"]] == ["the password of Bobby"], query
