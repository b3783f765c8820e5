from __future__ import annotations

import base64
import gzip
import json
from urllib.parse import urlencode
from uuid import uuid4

import pytest

from governance.contracts import ListDomainsInput
from governance.models import AuditEntry
from kernel.canonical import canonical_json
from kernel.paging import filters_digest
from memory.contracts import ListSessionsInput, ListTurnsInput
from memory.models import Message, Turn
from scopes.models import Principal
from tests.conftest import a_turn
from tests.doors.http import Http, assert_problem
from tests.guards import write_guard


@pytest.fixture
def agent(cast) -> Http:
    return Http(cast.agent.key)


def test_it_works(agent):
    assert agent.post("whoami").json()["name"] == "agent"


def _without_key(cast) -> dict[str, str]:
    return {}


def _revoked(cast) -> dict[str, str]:
    cast.operator.do("revoke_key", key_prefix=cast.agent.key.split("_")[1])
    return {"authorization": f"Bearer {cast.agent.key}"}


BAD_KEYS = {
    "missing": _without_key,
    "empty": lambda cast: {"authorization": ""},
    "no secret": lambda cast: {"authorization": "Bearer"},
    "blank secret": lambda cast: {"authorization": "Bearer   "},
    "another scheme": lambda cast: {"authorization": f"Basic {cast.agent.key}"},
    "no scheme": lambda cast: {"authorization": cast.agent.key},
    "wrong secret": lambda cast: {"authorization": f"Bearer {cast.agent.key[:-4]}AAAA"},
    "cut": lambda cast: {"authorization": f"Bearer {cast.agent.key[:20]}"},
    "other prefix": lambda cast: {"authorization": "Bearer sb_" + cast.stranger.key[3:15] + cast.agent.key[15:]},
    "malformed": lambda cast: {"authorization": "Bearer nonsense"},
    "not ASCII": lambda cast: {"authorization": "Bearer sb_ключ_секрет"},
    "NUL": lambda cast: {"authorization": "Bearer sb_\x00_\x00"},
    "very long": lambda cast: {"authorization": "Bearer sb_" + "a" * 60_000},
    "revoked": _revoked,
}


@pytest.mark.parametrize("make", BAD_KEYS.values(), ids=BAD_KEYS.keys())
def test_a_call_without_a_valid_key_is_refused_alike(cast, make):
    headers = make(cast)
    posted = Http().post("commit_turn", a_turn(), **headers)
    listed = Http().get("/v1/domains", **headers)
    details = {assert_problem(response, 401, "unauthenticated")["detail"] for response in (posted, listed)}
    assert details == {"No valid key: send `Authorization: Bearer <api key>`."}
    assert posted["WWW-Authenticate"] == listed["WWW-Authenticate"] == "Bearer"
    assert not Turn.objects.exists()


def test_the_key_of_a_principal_that_is_switched_off_is_refused(cast, agent):
    with write_guard.unguarded():
        Principal.objects.filter(name="agent").update(active=False)
    assert_problem(agent.post("whoami"), 401, "unauthenticated")


@pytest.mark.parametrize(
    "address", ["/v1/", "/v1", "/v1/nothing", "/v1/commit_turn/", "/v1/commit_turn/x", "/v1/../v1/x"]
)
@pytest.mark.parametrize("method", ["get", "post", "put", "delete", "options", "head"])
def test_an_unknown_address_is_not_found(db, address, method):
    response = getattr(Http().client, method)(address)
    assert response.status_code == 404
    if method != "head":
        assert_problem(response, 404, "not_found")


@pytest.mark.parametrize("method", ["get", "put", "patch", "delete", "options", "trace"])
def test_an_action_takes_post_only(agent, method):
    response = getattr(agent.client, method)("/v1/commit_turn", headers=agent.auth)
    assert_problem(response, 405, "method_not_allowed")
    assert response["Allow"] == "POST"


@pytest.mark.parametrize("address", ["/v1/turns", "/v1/schema/", "/v1/docs/"])
def test_what_is_read_takes_no_post(agent, address):
    response = agent.client.post(address, "{}", content_type="application/json", headers=agent.auth)
    assert_problem(response, 405, "method_not_allowed")
    assert "GET" in response["Allow"]


CONTENT_TYPES = [
    "application/x-www-form-urlencoded",
    "multipart/form-data; boundary=x",
    "text/plain",
    "application/xml",
    "application/json; charset=utf-16",
    "application/json; charset=latin-1",
    "nonsense",
]


@pytest.mark.parametrize("content_type", CONTENT_TYPES)
def test_another_content_type_is_refused_and_recorded(agent, content_type):
    response = agent.raw("commit_turn", json.dumps(a_turn()).encode(), content_type=content_type)
    assert_problem(response, 415, "unsupported_media_type")
    entry = AuditEntry.objects.get(action="commit_turn")
    assert (entry.outcome, entry.code) == ("invalid", "unsupported_media_type")
    assert not Turn.objects.exists()


def test_a_compressed_body_is_refused(agent):
    body = gzip.compress(json.dumps(a_turn()).encode())
    assert_problem(agent.raw("commit_turn", body, content_encoding="gzip"), 415, "unsupported_media_type")
    assert_problem(agent.raw("commit_turn", body), 400, "invalid_json")
    assert not Turn.objects.exists()


def test_query_parameters_on_an_action_are_refused(agent):
    response = agent.client.post(
        "/v1/commit_turn?domain_id=team", json.dumps(a_turn()), content_type="application/json", headers=agent.auth
    )
    assert_problem(response, 422, "invalid_input")
    assert not Turn.objects.exists()


BAD_QUERIES = {
    "unknown parameter": ("domain_id=team&session_id=s1&sort=asc", ["sort"]),
    "missing parameter": ("domain_id=team", ["session_id"]),
    "limit is no number": ("domain_id=team&session_id=s1&limit=ten", ["limit"]),
    "limit has a fraction": ("domain_id=team&session_id=s1&limit=1.5", ["limit"]),
    "limit is negative": ("domain_id=team&session_id=s1&limit=-1", ["limit"]),
    "limit is nought": ("domain_id=team&session_id=s1&limit=0", ["limit"]),
    "limit is huge": ("domain_id=team&session_id=s1&limit=101", ["limit"]),
    "limit is beyond 64 bits": ("domain_id=team&session_id=s1&limit=99999999999999999999999", ["limit"]),
    "limit in other digits": ("domain_id=team&session_id=s1&limit=%D9%A3", ["limit"]),
    "limit is empty": ("domain_id=team&session_id=s1&limit=", ["limit"]),
    "limit twice": ("domain_id=team&session_id=s1&limit=1&limit=2", ["limit"]),
    "domain twice": ("domain_id=team&domain_id=elsewhere&session_id=s1", ["domain_id"]),
    "not a boolean": ("domain_id=team&session_id=s1&newest_first=yes", ["newest_first"]),
    "cursor is nonsense": ("domain_id=team&session_id=s1&cursor=nonsense", ["cursor"]),
    "cursor is empty": ("domain_id=team&session_id=s1&cursor=", ["cursor"]),
    "cursor is too long": ("domain_id=team&session_id=s1&cursor=" + "A" * 3000, ["cursor"]),
    "NUL": ("domain_id=team&session_id=s%001", ["session_id"]),
}


@pytest.mark.parametrize(("given", "loc"), BAD_QUERIES.values(), ids=BAD_QUERIES.keys())
def test_a_bad_query_parameter_is_named(agent, given, loc):
    agent.post("commit_turn", a_turn())
    body = assert_problem(agent.get(f"/v1/turns?{given}"), 422, "invalid_input")
    assert [fault["loc"] for fault in body["errors"]] == [loc]


@pytest.mark.parametrize(
    "given", ["session_id=%FF%FE", "session_id=%ED%A0%80", "&".join(f"p{n}=1" for n in range(300))]
)
def test_a_query_string_that_cannot_be_read_is_refused(agent, given):
    assert_problem(agent.get(f"/v1/turns?{given}"), 422, "invalid_input")


def test_a_cursor_of_other_filters_is_refused(agent):
    for session in ("s1", "s2"):
        for number in range(3):
            agent.post("commit_turn", a_turn(f"message {number}", session_id=session))
    cursor = agent.get("/v1/turns?domain_id=team&session_id=s1&limit=1").json()["next_cursor"]
    response = agent.get(f"/v1/turns?domain_id=team&session_id=s2&limit=1&cursor={cursor}")
    assert_problem(response, 422, "invalid_input")


FORGED = ["\x00", "\ud800", "9" * 30, "9" * 6_000, "-1", "nonsense", "", "%", "' OR 1=1 --"]


@pytest.mark.parametrize("place", FORGED, ids=range(len(FORGED)))
def test_a_forged_cursor_is_refused_or_leads_nowhere(agent, place):
    agent.post("commit_turn", a_turn())
    lists = {
        "domains": (ListDomainsInput(), {}),
        "sessions": (ListSessionsInput(domain_id="team"), {"domain_id": "team"}),
        "turns": (ListTurnsInput(domain_id="team", session_id="s1"), {"domain_id": "team", "session_id": "s1"}),
    }
    for resource, (given, fields) in lists.items():
        body = canonical_json([filters_digest(given), place]).encode("utf-8", "surrogatepass")
        escaped = json.dumps([filters_digest(given), place]).encode()
        for raw in (body, escaped):
            cursor = base64.urlsafe_b64encode(raw).decode().rstrip("=")
            response = agent.get(f"/v1/{resource}?{urlencode({**fields, 'cursor': cursor})}")
            assert response.status_code in (200, 422), (resource, response.content)


def _elsewhere(ref: str) -> dict:
    scope = {"type": "project", "id": "p1", **({"domain_id": ref} if ref else {})}
    return {"read": [scope], "default_write": scope}


FOREIGN = {
    "commit_turn": {**a_turn()},
    "commit_turn in its scope": {**a_turn(scope_context=_elsewhere(""))},
    "search_memory": {"domain_id": "team", "session_id": "s1", "query": "Postgres"},
    "search_memory in its scope": {"domain_id": "team", "scope_context": _elsewhere(""), "query": "Postgres"},
    "list_turns": {"domain_id": "team", "session_id": "s1"},
    "list_sessions": {"domain_id": "team"},
    "list_scopes": {"domain_id": "team"},
}


@pytest.mark.parametrize(("name", "tree"), FOREIGN.items(), ids=FOREIGN.keys())
def test_another_domain_is_not_found_and_tells_nothing(cast, agent, name, tree):
    agent.post("commit_turn", a_turn("The password is Postgres."))
    before = Message.objects.count()
    action = name.split(" ")[0]
    there = assert_problem(Http(cast.stranger.key).post(action, tree), 404, "not_found")
    nowhere = assert_problem(Http(cast.stranger.key).post(action, {**tree, "domain_id": "unheard"}), 404, "not_found")
    assert there["detail"].replace("team", "unheard") == nowhere["detail"]
    assert Message.objects.count() == before


def test_ids_of_another_domain_are_not_found_and_tell_nothing(cast, agent):
    turn = agent.post("commit_turn", a_turn("The password is Postgres.")).json()["turn_id"]
    session = agent.get("/v1/sessions?domain_id=team").json()["sessions"][0]["id"]
    for action, field, known in (("get_turn", "turn_id", turn), ("get_session", "id", session)):
        assert agent.post(action, {field: known}).status_code == 200
        other = str(uuid4())
        there = assert_problem(Http(cast.stranger.key).post(action, {field: known}), 404, "not_found")
        nowhere = assert_problem(Http(cast.stranger.key).post(action, {field: other}), 404, "not_found")
        assert there["detail"].replace(known, other) == nowhere["detail"]


def test_a_scope_of_another_domain_in_a_context_is_refused(agent):
    response = agent.post("commit_turn", a_turn(scope_context=_elsewhere("elsewhere")))
    assert_problem(response, 422, "invalid_input")
    assert not Turn.objects.exists()


def test_another_ones_proposal_is_not_found(cast, agent):
    rules = {"review": {"queue": [{"name": "look-first", "actions": ["commit_turn"]}]}}
    cast.operator.do("set_policy", domain_id="team", document=rules, reason="look first")
    proposal = agent.post("commit_turn", a_turn()).json()["proposal"]["id"]
    for action in ("get_proposal", "withdraw_proposal", "approve_proposal"):
        there = assert_problem(Http(cast.stranger.key).post(action, {"id": proposal}), 404, "not_found")
        other = str(uuid4())
        nowhere = assert_problem(Http(cast.stranger.key).post(action, {"id": other}), 404, "not_found")
        assert there["detail"].replace(proposal, other) == nowhere["detail"]


def test_reading_rights_do_not_write(cast):
    assert_problem(Http(cast.reader.key).post("commit_turn", a_turn()), 403, "forbidden")
    assert not Turn.objects.exists()


def test_no_key_decides_or_operates(agent):
    assert_problem(agent.post("create_principal", {"name": "mine"}), 403, "forbidden")
    assert_problem(agent.get("/v1/audit"), 403, "forbidden")


def test_a_database_that_is_away_is_unavailable(agent, no_database):
    with no_database:
        posted, listed = agent.post("commit_turn", a_turn()), agent.get("/v1/domains")
    for response in (posted, listed):
        assert "/secret/socket" not in json.dumps(assert_problem(response, 503, "unavailable"))


def test_a_bug_is_an_internal_error_that_tells_only_its_request_id(agent, a_bug, caplog):
    with a_bug:
        response = agent.post("commit_turn", a_turn())
    body = assert_problem(response, 500, "internal")
    assert "secret" not in response.content.decode()
    logged = [record for record in caplog.records if record.name == "smartbrain_site.http.problems"]
    assert body["request_id"] in logged[0].getMessage()
    assert "secret detail" in str(logged[0].exc_info)


def test_an_unknown_host_is_refused_in_the_same_form(agent):
    response = agent.post("whoami", host="evil.example")
    assert_problem(response, 422, "invalid_input")
