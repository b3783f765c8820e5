from __future__ import annotations

import json
from uuid import UUID, uuid4

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from governance.models import AuditEntry
from kernel.errors import QuotaExceededError
from kernel.ids import new_id
from memory.models import Turn
from smartbrain_site.http.problems import problem_response, set_request_id
from tests.asked import texts
from tests.conftest import a_turn
from tests.doors.http import Http, assert_problem


@pytest.fixture
def agent(cast) -> Http:
    return Http(cast.agent.key)


def test_it_works(agent):
    stored = agent.post("commit_turn", a_turn("默认数据库是 Postgres"))
    assert stored.status_code == 200
    assert (stored.json()["ok"], stored.json()["seq"]) == (True, 1)
    found = agent.post("search_memory", {"domain_id": "team", "session_id": "s1", "query": "数据库"})
    assert [result["text"] for result in found.json()["results"]] == ["默认数据库是 Postgres"]
    turns = agent.get("/v1/turns?domain_id=team&session_id=s1").json()["turns"]
    assert turns[0]["messages"][0]["content"] == "默认数据库是 Postgres"


def test_a_call_is_entered_under_its_door_and_its_request_id(agent):
    response = agent.post("commit_turn", a_turn())
    entry = AuditEntry.objects.get(action="commit_turn")
    assert (entry.door, entry.actor_name, entry.outcome) == ("http", "agent", "allowed")
    assert entry.request_id == UUID(response["X-Request-Id"])


def test_the_request_id_is_ours_whatever_the_client_sends(agent):
    theirs = str(uuid4())
    response = agent.post("whoami", x_request_id=theirs)
    assert response["X-Request-Id"] != theirs
    assert UUID(response["X-Request-Id"]).version == 7


def test_answers_are_not_kept_by_caches_and_set_no_cookies(agent):
    for response in (agent.post("whoami"), agent.get("/v1/nothing"), agent.get("/v1/docs/"), agent.get("/healthz")):
        assert response["Cache-Control"] == "no-store"
        assert response["X-Content-Type-Options"] == "nosniff"
        assert not response.cookies


@pytest.mark.parametrize("accept", ["text/html", "application/xml", "application/problem+json", "*/*", ""])
def test_answers_are_json_whatever_is_accepted(agent, accept):
    response = agent.post("whoami", accept=accept)
    assert (response.status_code, response["Content-Type"]) == (200, "application/json")


@pytest.mark.parametrize(
    "content_type", ["application/json", "application/json; charset=UTF-8", "application/merge-patch+json", ""]
)
def test_json_is_taken_under_its_names(agent, content_type):
    assert agent.raw("whoami", b"{}", content_type=content_type).status_code == 200


def test_an_empty_body_is_the_empty_object(agent):
    assert agent.raw("whoami", b"").json()["name"] == "agent"


def test_a_byte_order_mark_is_no_fault(agent):
    assert agent.raw("whoami", b"\xef\xbb\xbf{}").status_code == 200


@pytest.mark.parametrize("scheme", ["Bearer", "bearer", "BEARER"])
def test_the_scheme_of_the_key_has_no_case(cast, scheme):
    assert Http().post("whoami", authorization=f"{scheme} {cast.agent.key}").status_code == 200


def test_pages_together_are_the_set(agent):
    for number in range(50):
        agent.post("commit_turn", a_turn(f"message {number}"))
    address, seen, pages = "/v1/turns?domain_id=team&session_id=s1&limit=7", [], 0
    while address:
        response = agent.get(address)
        seen += [turn["seq"] for turn in response.json()["turns"]]
        pages += 1
        link = response.get("Link", "")
        assert bool(link) == (response.json()["next_cursor"] is not None)
        assert not link or link.endswith('>; rel="next"')
        address = link.partition(">")[0].removeprefix("<")
    assert (seen, pages) == (list(range(1, 51)), 8)


def test_posted_pages_are_the_same_pages(agent):
    for number in range(5):
        agent.post("commit_turn", a_turn(f"message {number}"))
    tree = {"domain_id": "team", "session_id": "s1", "limit": 2, "newest_first": True}
    posted = agent.post("list_turns", tree)
    assert posted.json() == agent.get("/v1/turns?domain_id=team&session_id=s1&limit=2&newest_first=true").json()
    assert "Link" not in posted
    following = agent.post("list_turns", {**tree, "cursor": posted.json()["next_cursor"]}).json()
    assert [turn["seq"] for turn in following["turns"]] == [3, 2]


def test_head_answers_as_get_without_a_body(agent):
    response = agent.client.head("/v1/sessions?domain_id=team", headers=agent.auth)
    assert (response.status_code, response.content) == (200, b"")


def test_the_key_header_fills_the_field(agent):
    first = agent.post("commit_turn", a_turn(), idempotency_key="k1")
    again = agent.post("commit_turn", a_turn(idempotency_key="k1"))
    same = agent.post("commit_turn", a_turn(idempotency_key="k1"), idempotency_key="k1")
    assert first.json()["turn_id"] == again.json()["turn_id"] == same.json()["turn_id"]
    assert [answer.json()["deduplicated"] for answer in (first, again, same)] == [False, True, True]
    assert Turn.objects.count() == 1


def test_a_key_with_another_payload_is_a_conflict(agent):
    agent.post("commit_turn", a_turn("one"), idempotency_key="k1")
    assert_problem(agent.post("commit_turn", a_turn("two"), idempotency_key="k1"), 409, "idempotency_conflict")
    assert Turn.objects.count() == 1


def test_two_different_keys_are_refused(agent):
    response = agent.post("commit_turn", a_turn(idempotency_key="k1"), idempotency_key="k2")
    assert assert_problem(response, 422, "invalid_input")["errors"][0]["loc"] == ["idempotency_key"]
    assert AuditEntry.objects.get(action="commit_turn").outcome == "invalid"
    assert not Turn.objects.exists()


def test_a_key_is_refused_where_the_action_takes_none(agent):
    response = agent.post("whoami", idempotency_key="k1")
    assert assert_problem(response, 422, "invalid_input")["errors"][0]["loc"] == ["idempotency_key"]


def test_a_queued_call_answers_202(cast, agent):
    rules = {"review": {"queue": [{"name": "look-first", "actions": ["commit_turn"]}]}}
    cast.operator.do("set_policy", domain_id="team", document=rules, reason="look first")
    response = agent.post("commit_turn", a_turn())
    assert (response.status_code, response.json()["status"]) == (202, "queued")
    assert not Turn.objects.exists()
    again = agent.get("/v1/proposals?domain_id=team&state=open").json()["proposals"]
    assert [row["id"] for row in again] == [response.json()["proposal"]["id"]]


def test_health_needs_no_key_and_tells_nothing_else(db):
    response = Http().get("/healthz")
    assert (response.status_code, response.json()) == (200, {"status": "ok"})


def test_health_is_degraded_while_the_database_is_away(db, no_database):
    with no_database:
        response = Http().get("/healthz")
    assert (response.status_code, response.json()) == (503, {"status": "degraded"})


def test_over_quota_says_when_to_come_back(rf):
    request = rf.get("/v1/turns")
    set_request_id(request, new_id())
    response = problem_response(QuotaExceededError(retry_after=7), request)
    assert (response.status_code, response["Retry-After"], response.data["code"]) == (429, "7", "quota_exceeded")


def _messages(count: int) -> dict:
    messages = [{"role": "user", "content": f"the database of message {n} is number {n % 7}"} for n in range(count)]
    return {"domain_id": "team", "session_id": "s1", "turn_events": {"messages": messages}}


def _queries(agent: Http, action: str, tree: dict) -> list[str]:
    body = json.dumps(tree)
    with CaptureQueriesContext(connection) as captured:
        assert agent.raw(action, body).status_code == 200
    return texts(captured)


def test_the_number_of_queries_of_a_commit_does_not_grow_with_what_is_stored(agent, no_folding):
    agent.post("commit_turn", _messages(10))
    few = _queries(agent, "commit_turn", _messages(1))
    agent.post("commit_turn", _messages(290))
    many = _queries(agent, "commit_turn", _messages(1))
    assert len(few) == len(many), "\n".join(many)


def test_the_number_of_queries_of_a_search_does_not_grow_with_what_is_stored(agent):
    question = {"domain_id": "team", "session_id": "s1", "query": "which database is number 3", "limit": 10}
    agent.post("commit_turn", _messages(10))
    few = _queries(agent, "search_memory", question)
    agent.post("commit_turn", _messages(290))
    many = _queries(agent, "search_memory", question)
    assert len(few) == len(many), "\n".join(many)
