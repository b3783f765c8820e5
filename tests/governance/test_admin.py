"""The admin's pages: who sees what, nothing leaks, nothing is executed, nothing is counted."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any
from uuid import uuid4

import pytest
from django.contrib.auth import get_user_model
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.urls import reverse

from governance.models import AuditEntry, Proposal
from kernel.ids import new_id
from media.models import MediaJob
from memory.models import Conflict, Turn
from scopes.models import ApiKey, Grant, MemoryScope, Principal, ReviewerAssignment
from tests.asked import texts
from tests.clients import sign_in
from tests.conftest import ELSEWHERE, TEAM, Cast, make_person
from tests.governance.desk import statements
from tests.governance.house import LISTS, READ_ONLY, address, listed, make_house, rows_of, shown
from tests.guards.write_guard import unguarded
from tests.shared import shared

pytestmark = pytest.mark.django_db


@pytest.fixture(scope="module")
def house(django_db_setup: None, django_db_blocker: Any) -> Iterator[Cast]:
    with shared(make_house, django_db_blocker) as built:
        yield built


def test_it_works(house):
    client = sign_in("team-reviewer")
    page = client.get(reverse("admin:index"))
    assert page.status_code == 200
    assert [card["label"] for card in page.context["cards"]] == [
        "Sessions", "Turns", "Memories", "Documents", "Principals",
    ]  # fmt: skip
    assert [card["count"] for card in page.context["cards"]] == ["1", "1", "2", "1", "2"]
    assert sum(row.all for row in page.context["waiting"]) == 1
    entry = AuditEntry.objects.filter(action="commit_turn", domain_id=TEAM, outcome="allowed").get()
    shown = client.get(address(entry)).content.decode()
    assert str(entry.request_id) in shown
    assert "sha256" in shown


@pytest.mark.parametrize("model", READ_ONLY)
@pytest.mark.parametrize(
    ("who", "here", "there"), [("team-reviewer", TEAM, ELSEWHERE), ("other-reviewer", ELSEWHERE, TEAM)]
)
def test_a_reviewer_sees_their_domain_and_nothing_of_another(house, model, who, here, there):
    client = sign_in(who)
    name = f"admin:{model._meta.app_label}_{model._meta.model_name}_changelist"
    mine, foreign = rows_of(model, here), rows_of(model, there)
    assert mine
    assert foreign
    assert {row.pk for row in mine} <= listed(client, name)
    assert not listed(client, name) & {row.pk for row in foreign}
    assert client.get(address(mine[0])).status_code == 200
    for row in foreign:
        gone = client.get(address(row), follow=True)
        absent = client.get(address(row).replace(str(row.pk), "no-such-row"), follow=True)
        assert gone.redirect_chain == absent.redirect_chain == [(reverse("admin:index"), 302)]
        told = [str(message).replace(str(row.pk), "no-such-row") for message in gone.context["messages"]]
        assert told == [str(message) for message in absent.context["messages"]]
        assert not listed(client, name, f"?q={row.pk}")


@pytest.mark.parametrize("word", ["banana", "stranger", "elsewhere"])
def test_another_domain_is_absent_from_search_and_text(house, word):
    client = sign_in("team-reviewer")
    for name in LISTS:
        assert not listed(client, name, f"?q={word}")
        assert word not in client.get(reverse(name)).content.decode()
    assert word not in client.get(reverse("admin:index")).content.decode()


def test_a_filter_by_another_domain_finds_nothing(house):
    client = sign_in("team-reviewer")
    for model in (AuditEntry, Proposal, Grant, ReviewerAssignment, MemoryScope):
        name = f"admin:{model._meta.app_label}_{model._meta.model_name}_changelist"
        assert not listed(client, name, f"?domain={ELSEWHERE}")
        assert listed(client, name, f"?domain={TEAM}")


def test_autocompletion_is_limited_too(house):
    asked = {"app_label": "scopes", "model_name": "apikey", "field_name": "principal", "term": ""}
    answer = sign_in("team-reviewer").get(reverse("admin:autocomplete"), asked)
    assert {row["text"] for row in answer.json()["results"]} == {"agent", "reader"}
    assert sign_in("newcomer").get(reverse("admin:autocomplete"), asked).json()["results"] == []
    assert sign_in("newcomer").get(reverse("admin:autocomplete"), {**asked, "term": "\0"}).status_code == 200


@pytest.mark.parametrize("who", ["team-reviewer", "operator"])
def test_the_front_page_takes_fewer_than_twenty_statements(house, who):
    assert statements(sign_in(who), reverse("admin:index")) < 20


def test_an_operator_sees_every_domain_and_every_proposal(house):
    client = sign_in("operator")
    for model in READ_ONLY:
        name = f"admin:{model._meta.app_label}_{model._meta.model_name}_changelist"
        assert listed(client, name) == {row.pk for row in shown(model)}


def test_staff_without_an_assignment_sees_nothing_and_is_told_why(house):
    client = sign_in("newcomer")
    for name in ("admin:index", *LISTS):
        text = client.get(reverse(name)).content.decode()
        assert "Nothing is assigned to you yet" in text, name
        assert not any(word in text for word in ("apple", "banana", "stranger")), name


def test_only_staff_get_in(house):
    for client in (Client(), sign_in("reviewer")):
        for name in ("admin:index", *LISTS):
            answer = client.get(reverse(name))
            assert (answer.status_code, answer["Location"].split("?")[0]) == (302, reverse("admin:login"))


@pytest.mark.parametrize("model", READ_ONLY)
def test_nothing_can_be_changed(house, model):
    client = sign_in("operator")
    row = model._default_manager.first()
    base = f"admin:{model._meta.app_label}_{model._meta.model_name}"
    assert client.get(reverse(f"{base}_add")).status_code == 403
    assert client.post(reverse(f"{base}_add"), {}).status_code == 403
    # The page of a conflict takes decisions and that of a job steps, through the gate: what is none is refused there.
    steered = model in (Conflict, MediaJob)
    assert client.post(address(row), {"name": "changed"}).status_code == (422 if steered else 403)
    assert client.post(reverse(f"{base}_delete", args=[row.pk]), {"post": "yes"}).status_code == 403
    client.post(reverse(f"{base}_changelist"), {"action": "delete_selected", "_selected_action": [row.pk]})
    assert model._default_manager.filter(pk=row.pk).exists()


def test_the_hash_of_a_key_is_neither_shown_nor_guessed(house):
    key = ApiKey.objects.get(principal__name="agent")
    client = sign_in("team-reviewer")
    assert key.hash not in client.get(address(key)).content.decode()
    assert key.prefix in client.get(address(key)).content.decode()
    assert (
        client.get(reverse("admin:scopes_apikey_changelist") + f"?hash__startswith={key.hash[0]}").status_code == 400
    )


def test_a_grant_elsewhere_is_not_on_the_principals_page(house):
    house.operator.do("grant_access", name="agent", domain_id=ELSEWHERE, pattern="project:hush", rights=["read"])
    page = sign_in("team-reviewer").get(address(Principal.objects.get(name="agent"))).content.decode()
    assert "hush" not in page
    assert "Grants" in page


def test_a_reviewer_of_some_scopes_sees_only_their_entries(house):
    make_person("narrow", TEAM, "project:apollo", is_staff=True)
    client = sign_in("narrow")
    for name in LISTS:
        seen = listed(client, name)
        if name == "admin:scopes_domain_changelist":
            assert seen == {TEAM}
        elif name == "admin:scopes_reviewerassignment_changelist":
            assert seen == {ReviewerAssignment.objects.get(user__username="narrow").pk}
        else:
            assert not seen, name


@pytest.mark.parametrize("name", LISTS)
def test_a_list_asks_few_questions_and_counts_nothing(house, name):
    client = sign_in("team-reviewer")
    client.get(reverse(name))
    with CaptureQueriesContext(
        connection,
    ) as few:
        client.get(reverse(name))
    with unguarded():
        _sixty_more()
    with CaptureQueriesContext(connection) as many:
        page = client.get(reverse(name))
    assert len(many) == len(few) <= 12
    assert not [sql for sql in texts(many) if "COUNT(" in sql.upper()]
    if page.context["cl"].has_next:
        assert "at least 51" in page.content.decode()
        rest = client.get(reverse(name) + "?p=2").context["cl"].result_list
        assert rest
        assert not {row.pk for row in rest} & {row.pk for row in page.context["cl"].result_list}


def _sixty_more() -> None:
    """Sixty more rows of some tables, in the team's domain."""
    principals = [Principal(id=new_id(), name=f"agent-{n:03}") for n in range(60)]
    call = {
        "action": "x",
        "actor_kind": "agent",
        "actor_id": "a",
        "actor_name": "a",
        "door": "http",
        "outcome": "allowed",
    }
    Principal.objects.bulk_create(principals)
    Grant.objects.bulk_create(Grant(principal=row, domain_id=TEAM, rights=["read"]) for row in principals)
    AuditEntry.objects.bulk_create(AuditEntry(request_id=new_id(), domain_id=TEAM, **call) for _ in principals)
    MemoryScope.objects.bulk_create(
        MemoryScope(domain_id=TEAM, scope_type="project", external_id=f"p{n}") for n in range(60)
    )


def test_the_front_page_counts_no_further_than_a_thousand(house):
    with unguarded():
        Principal.objects.bulk_create(Principal(id=new_id(), name=f"p{n}") for n in range(1100))
    client = sign_in("operator")
    with CaptureQueriesContext(connection) as asked:
        cards = client.get(reverse("admin:index")).context["cards"]
    assert {card["label"]: card["count"] for card in cards}["Principals"] == "at least 1000"
    assert len(asked) <= 20
    tables = [sql for sql in texts(asked) if sql.upper().startswith("SELECT COUNT(")]
    assert tables
    assert all("LIMIT" in sql for sql in tables if "django_q" not in sql)


MANGLED = [
    "?p=0",
    "?p=-3",
    "?p=99999999999999999999",
    "?p=x",
    "?o=1.-2.zz",
    "?q=%00",
    "?q=%25_'%22;--",
    "?all=",
    "?e=1",
]
NO_FILTERS = ["?nonsense=1", "?domain__metadata__x=1", "?principal__keys__hash__startswith=a"]


@pytest.mark.parametrize("name", LISTS)
def test_a_mangled_address_is_no_error(house, name):
    client = sign_in("team-reviewer")
    assert {client.get(reverse(name) + query).status_code for query in MANGLED} <= {200, 302, 400}
    assert {client.get(reverse(name) + query).status_code for query in NO_FILTERS} <= {302, 400}


@pytest.mark.parametrize("name", LISTS)
def test_a_mangled_id_is_no_error(house, name):
    client = sign_in("team-reviewer")
    for bad in ("%00", "x" * 3000, "..%2F..", "0", "-1", "9" * 40):
        assert client.get(f"{reverse(name)}{bad}/change/").status_code in (302, 404)


def test_the_facet_counts_stay_off(house):
    with CaptureQueriesContext(connection) as asked:
        sign_in("operator").get(reverse("admin:governance_auditentry_changelist") + "?_facets=True")
    assert not [sql for sql in texts(asked) if "COUNT(" in sql.upper()]


def test_the_changes_of_an_entry_stand_before_and_after(house):
    for rights in (["read", "write"], ["read"]):
        house.operator.do("grant_access", name="agent", domain_id=TEAM, pattern="project:x", rights=rights)
    entry = AuditEntry.objects.filter(action="grant_access").latest("id")
    shown = sign_in("team-reviewer").get(address(entry)).context["changes"]
    fields = {field["name"]: (field["before"], field["after"]) for field in shown[0]["fields"]}
    assert (shown[0]["kind"], fields["rights"]) == ("changed", (["read", "write"], ["read"]))


def test_a_request_links_to_all_its_entries(house):
    entry = AuditEntry.objects.filter(domain_id=TEAM, action="commit_turn").earliest("id")
    client = sign_in("team-reviewer")
    link = f"{reverse('admin:governance_auditentry_changelist')}?request_id={entry.request_id}"
    assert link in client.get(address(entry)).content.decode()
    same = AuditEntry.objects.filter(request_id=entry.request_id)
    assert {row.pk for row in client.get(link).context["cl"].result_list} == {row.pk for row in same}
    assert not client.get(link.replace(str(entry.request_id), str(uuid4()))).context["cl"].result_list


def test_looking_at_a_proposal_is_on_record(house):
    proposal = Proposal.objects.get(domain_id=TEAM)
    page = sign_in("team-reviewer").get(address(proposal)).content.decode()
    assert "apple" in page
    entry = AuditEntry.objects.get(action="review_proposal", actor_name="team-reviewer")
    assert (entry.door, entry.domain_id) == ("admin", TEAM)


def test_stored_text_is_never_markup(house):
    nasty = "<script>alert(1)</script>"
    house.operator.do("set_policy", domain_id=TEAM, document={}, reason=f"{nasty} a\u200bb")
    client = sign_in("team-reviewer")
    for answer in (
        client.get(reverse("admin:governance_policyversion_changelist")),
        client.get(reverse("admin:governance_policyversion_changelist"), {"q": nasty}),
        client.get(reverse("admin:governance_auditentry_changelist"), {"action": nasty}),
    ):
        assert nasty not in answer.content.decode()
    assert "a⟦U+200B⟧b" in client.get(reverse("admin:governance_policyversion_changelist")).content.decode()


def test_one_entry_of_the_navigation_is_current_on_each_of_its_pages(house):
    client = sign_in("operator")
    entry = re.compile(r'<li><a href="([^"]+)" (aria-current="page")?><span class="material')
    links = [link for link, _ in entry.findall(client.get("/admin/").content.decode())]
    shadows = reverse("admin:memory_shadows")
    assert {"/admin/", shadows, reverse("admin:memory_conflict_changelist")} <= set(links)
    turn = Turn.objects.first()
    opened = [(link, link) for link in links]
    opened += [(f"{shadows}?domain_id=team", shadows), (address(turn), reverse("admin:memory_turn_changelist"))]
    for at, expected in opened:
        assert [link for link, current in entry.findall(client.get(at).content.decode()) if current] == [expected], at


def test_accounts_are_for_operators_and_never_deleted(house):
    person = get_user_model().objects.get(username="newcomer")
    changes, lists = reverse("admin:auth_user_change", args=[person.pk]), reverse("admin:auth_user_changelist")
    delete = reverse("admin:auth_user_delete", args=[person.pk])
    for address_ in (changes, lists, reverse("admin:auth_group_changelist")):
        assert sign_in("team-reviewer").get(address_).status_code == 403
        assert sign_in("operator").get(address_).status_code == 200
    assert sign_in("operator").post(delete, {"post": "yes"}).status_code == 403
    assert get_user_model().objects.filter(pk=person.pk).exists()


def test_the_queues_own_pages_are_gone(house):
    assert sign_in("operator").get("/admin/django_q/schedule/").status_code == 404
    assert b"django_q" not in sign_in("operator").get(reverse("admin:index")).content.lower()
