"""Who did what, policy explain and agents' activity: what each page shows, to whom, and at what cost."""

from __future__ import annotations

import csv
import json
from io import StringIO

import pytest
from django.contrib.auth import get_user_model
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext

from governance.models import AuditEntry, PolicyVersion
from kernel.errors import ForbiddenError, InvalidInputError, NotFoundError
from kernel.ids import new_id
from tests.asked import texts
from tests.conftest import ELSEWHERE, TEAM, a_turn, make_agent, make_person
from tests.guards.write_guard import unguarded

HISTORY = "/admin/governance/auditentry/history/"
EXPLAIN = "/admin/governance/auditentry/explain/"
AGENTS = "/admin/governance/auditentry/activity/"
RULE = {"review": {"queue": [{"name": "all", "actions": ["commit_turn"]}]}}


@pytest.fixture
def house(cast):
    """A team with a reviewer and an auditor, and another domain whose rows they must not see."""
    make_person("ann", TEAM, is_staff=True)
    make_person("lee", is_staff=True)
    make_person("newcomer", is_staff=True)
    cast.operator.do("assign_reviewer", user="lee", domain_id=TEAM, role="auditor")
    cast.agent.do("commit_turn", a_turn("apple"))
    cast.stranger.do("commit_turn", a_turn("banana", domain_id=ELSEWHERE, session_id="banana-session"))
    with pytest.raises(ForbiddenError):
        cast.reader.do("commit_turn", a_turn())
    return cast


def browser(name: str) -> Client:
    client = Client()
    client.force_login(get_user_model().objects.get(username=name))
    return client


def text(answer) -> str:
    body: str = answer.content.decode()
    return body


def main(answer) -> str:
    """The page without the navigation and the form's own words."""
    return text(answer).partition('class="sb-detail')[2]


def test_it_works(house):
    page = main(browser("ann").get(HISTORY))
    assert "commit_turn" in page
    assert "agent" in page
    assert "banana" not in page
    assert "stranger" not in page


@pytest.mark.parametrize("address", [HISTORY, EXPLAIN, AGENTS])
def test_every_page_is_in_the_navigation_and_teaches_who_has_nothing(house, address):
    client = browser("newcomer")
    page = text(client.get(address))
    assert "Nothing is assigned to you yet" in page
    assert f'href="{address}"' in text(client.get("/admin/"))


@pytest.mark.parametrize("address", [HISTORY, EXPLAIN, AGENTS])
def test_nobody_else_opens_them(house, address):
    assert Client().get(address).status_code == 302
    make_person("no-staff", TEAM)
    assert browser("no-staff").get(address).status_code == 302


@pytest.mark.parametrize("name", ["ann", "lee"])
@pytest.mark.parametrize(
    "query",
    ["", "actor=agent", "action=commit_turn", "outcome=denied", "door=python", "scope=session:s1", "actor_kind=agent",
     "since=2001-01-01&until=2100-01-01", "domain_id=team"],
)  # fmt: skip
def test_the_address_is_the_filter(house, name, query):
    answer = browser(name).get(f"{HISTORY}?{query}")
    assert answer.status_code == 200
    page = main(answer)
    assert "commit_turn" in page
    assert "banana" not in page
    if query == "outcome=denied":
        assert "reader" in page
        assert ">allowed</span>" not in page


def test_what_does_not_fit_shows_nothing_and_says_so(house):
    page = main(browser("ann").get(f"{HISTORY}?actor=stranger"))
    assert "No entry fits the filter" in page


@pytest.mark.parametrize(
    ("query", "status"),
    [
        ("domain_id=elsewhere", 404),
        ("since=yesterday", 422),
        ("outcome=none", 422),
        ("cursor=x", 422),
        ("request_id=x", 422),
        ("table=turns", 422),
        ("actor=%00", 422),
        ("action=" + "x" * 500, 422),
    ],
)
def test_a_filter_that_is_none_says_why(house, query, status):
    answer = browser("ann").get(f"{HISTORY}?{query}")
    assert answer.status_code == status
    assert "banana" not in text(answer)


def test_pages_go_on_with_the_filter(house, monkeypatch):
    monkeypatch.setattr("governance.admin.history.PAGE", 1)
    for number in range(3):
        house.agent.do("commit_turn", a_turn(f"more {number}"))
    client, address, seen = browser("ann"), f"{HISTORY}?action=commit_turn&outcome=allowed", []
    while address:
        page = main(client.get(address))
        seen.append(page.count("<code>commit_turn</code></td>"))
        _, found, rest = page.partition('rel="next" href="')
        address = HISTORY + rest.partition('"')[0].replace("&amp;", "&") if found else ""
    assert seen == [1, 1, 1, 1]


def test_the_download_holds_what_fits_the_filter_and_nothing_else(house):
    client = browser("ann")
    answer = client.post(HISTORY, {"format": "csv", "action": "commit_turn"})
    assert answer["Content-Type"] == "text/csv; charset=utf-8"
    assert answer["Content-Disposition"] == 'attachment; filename="audit.csv"'
    rows = list(csv.DictReader(StringIO(text(answer))))
    assert {row["actor"] for row in rows} == {"agent", "reader"}
    as_json = json.loads(text(client.post(HISTORY, {"format": "json", "action": "commit_turn"})))
    assert [row["id"] for row in as_json] == [row["id"] for row in rows]
    assert json.loads(text(client.post(HISTORY, {"format": "json", "actor": "nobody"}))) == []
    assert client.post(HISTORY, {"format": "xml"}).status_code == 422
    assert client.post(HISTORY, {"format": "csv", "domain_id": ELSEWHERE}).status_code == 404


def test_a_download_that_is_cut_says_so_in_its_name(house, monkeypatch):
    monkeypatch.setattr("governance.admin.history.EXPORT_MOST", 2)
    monkeypatch.setattr("governance.admin.history.EXPORT_PAGE", 1)
    answer = browser("ann").post(HISTORY, {"format": "csv"})
    assert answer["Content-Disposition"] == 'attachment; filename="audit-newest-2.csv"'
    assert len(list(csv.DictReader(StringIO(text(answer))))) == 2


def test_an_entry_leads_to_the_changes_before_and_after_of_its_objects(house):
    for rights in (["read", "write"], ["read"], ["write"]):
        house.operator.do("grant_access", name="reader", domain_id=TEAM, rights=rights)
    first, second, third = AuditEntry.objects.filter(action="grant_access").order_by("id")[:3]
    page = main(browser("ann").get(f"/admin/governance/auditentry/{second.pk}/change/"))
    assert f'href="/admin/governance/auditentry/{first.pk}/change/" rel="prev"' in page
    assert f'href="/admin/governance/auditentry/{third.pk}/change/" rel="next"' in page
    assert f"{EXPLAIN}?audit_entry_id={second.pk}" in page
    assert "Not sealed into the chain yet" in page
    change = second.changes[0]
    listed = main(browser("ann").get(f"{HISTORY}?table={change['table']}&object_id={change['id']}"))
    assert listed.count("<code>grant_access</code></td>") == 3


def test_text_of_agents_is_text(house):
    evil = make_agent('<img src=x onerror="alert(1)">\u202e')
    evil.do("list_sessions", domain_id=TEAM)
    for address in (HISTORY, AGENTS):
        page = main(browser("ann").get(address))
        assert "<img" not in page
        assert "\u202e" not in page
        assert "&lt;img" in page


def test_why_was_it_decided_so(house):
    entry = AuditEntry.objects.filter(action="commit_turn", outcome="denied").get()
    page = main(browser("lee").get(f"{EXPLAIN}?audit_entry_id={entry.pk}"))
    assert "It was <span" in page
    assert "Denied: the right write is missing." in page
    assert "missing_right:write" in page
    foreign = AuditEntry.objects.filter(domain_id=ELSEWHERE, action="commit_turn").get()
    assert browser("ann").get(f"{EXPLAIN}?audit_entry_id={foreign.pk}").status_code == 404


def test_what_if(house):
    asked = {"name": "agent", "kind": "agent", "action": "commit_turn", "domain_id": TEAM, "scope": "project:x"}
    page = main(browser("ann").get(EXPLAIN, asked))
    assert "It would be <span" in page
    assert "Allowed: the right is held, and no rule of review.queue matches." in page
    assert browser("ann").get(EXPLAIN, {**asked, "name": "stranger"}).status_code == 404
    assert browser("ann").get(EXPLAIN, {**asked, "scope": "!"}).status_code == 422


def test_a_draft_is_tried_on_the_page_and_nothing_is_stored(house):
    client = browser("lee")
    answer = client.post(EXPLAIN, {"document": json.dumps(RULE), "domain_id": TEAM, "days": "30"})
    assert answer.status_code == 200
    page = main(answer)
    assert "<strong>1</strong> of" in page
    assert "review.queue:all" in page
    assert "Nothing was stored" in page
    assert not PolicyVersion.objects.exists()
    for document in ("{", "[]", '{"none": {}}'):
        refused = client.post(EXPLAIN, {"document": document, "domain_id": TEAM, "days": "30"})
        assert refused.status_code == 422
        assert "Nothing was changed" in text(refused)
    nowhere = client.post(EXPLAIN, {"document": "{}", "days": "30"})
    assert nowhere.status_code == 403
    assert f"Name a domain in `domain_id`: you hold it in {TEAM}" in text(nowhere)
    assert client.post(EXPLAIN, {"document": "{}", "domain_id": ELSEWHERE, "days": "30"}).status_code == 404


def test_the_only_domain_that_one_reviews_is_filled_in(house):
    fields = '<input id="draft-domain" type="text" name="domain_id" value="{}"'
    assert fields.format(TEAM) in text(browser("ann").get(EXPLAIN))
    assert text(browser("ann").get(EXPLAIN)).count(f'name="domain_id" value="{TEAM}"') == 2
    house.operator.do("assign_reviewer", user="ann", domain_id=ELSEWHERE)
    assert fields.format("") in text(browser("ann").get(EXPLAIN)), "of two, none is guessed"


def test_activity_counts_what_each_agent_did(house):
    house.operator.do("set_policy", domain_id=TEAM, document=RULE, reason="reviewed")
    first, second = (
        house.agent.do("commit_turn", a_turn(word, session_id=word))["proposal"]["id"] for word in ("one", "two")
    )
    house.reviewer.do("approve_proposal", id=first, revision=1)
    house.reviewer.do("reject_proposal", id=second, revision=1, reason="not yet")
    house.agent.do("list_sessions", domain_id=TEAM)
    found = {row["name"]: row for row in house.reviewer.do("agent_activity", domain_id=TEAM)["actors"]}
    agent, reader = found["agent"], found["reader"]
    assert (agent["writes"], agent["proposed"], agent["waiting"]) == (3, 2, 0)
    assert (agent["approved"], agent["rejected"], agent["approve_rate"]) == (1, 1, 0.5)
    assert agent["calls"] == 4
    assert (reader["denied"], reader["approve_rate"]) == (1, None)
    assert "stranger" not in found
    people = {row["name"] for row in house.reviewer.do("agent_activity", kind="person")["actors"]}
    assert "reviewer" in people
    page = main(browser("lee").get(f"{AGENTS}?days=30&kind=agent&domain_id={TEAM}"))
    assert "50%" in page
    assert "stranger" not in page


def test_a_burst_is_marked(house):
    with unguarded():
        row = AuditEntry.objects.filter(action="commit_turn", outcome="allowed", domain_id=TEAM).latest("id")
        for _ in range(25):
            row.pk, row._state.adding = new_id(), True
            row.save(force_insert=True)
    (agent,) = [row for row in house.reviewer.do("agent_activity")["actors"] if row["name"] == "agent"]
    assert (agent["burst"], agent["recent_writes"]) == (True, 26)
    assert "burst: 26 writes in 10 minutes" in main(browser("ann").get(AGENTS))


@pytest.mark.parametrize("query", ["days=x", "days=31", "days=一", "kind=robot", "domain_id=!"])
def test_a_question_that_is_none_says_why_on_the_page(house, query):
    assert browser("ann").get(f"{AGENTS}?{query}").status_code == 422


@pytest.mark.parametrize("fields", [{"days": 0}, {"days": 31}, {"limit": 0}, {"kind": "robot"}])
def test_activity_has_bounds(house, fields):
    with pytest.raises(InvalidInputError):
        house.reviewer.do("agent_activity", fields)


def test_activity_is_for_those_who_read_the_record(house):
    with pytest.raises(ForbiddenError, match="Only reviewers"):
        house.agent.do("agent_activity")
    with pytest.raises(NotFoundError):
        house.reviewer.do("agent_activity", domain_id=ELSEWHERE)


def test_only_the_newest_calls_are_summed_up(house):
    found = house.reviewer.do("agent_activity", limit=1)
    assert found["complete"] is False
    assert sum(row["calls"] for row in found["actors"]) <= 1


@pytest.mark.parametrize("address", [HISTORY, EXPLAIN, AGENTS])
def test_a_page_takes_few_statements(house, address):
    entry = AuditEntry.objects.filter(action="commit_turn", domain_id=TEAM).first()
    assert entry is not None
    client = browser("ann")
    addresses = [address, f"/admin/governance/auditentry/{entry.pk}/change/"]
    if address == EXPLAIN:
        addresses.append(f"{EXPLAIN}?audit_entry_id={entry.pk}")
    for each in addresses:
        with CaptureQueriesContext(connection) as seen:
            assert client.get(each).status_code == 200
        assert len(seen) <= 20, (each, [sql[:90] for sql in texts(seen)])
