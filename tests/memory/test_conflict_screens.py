"""The page of a conflict and the inspector of shadows: what a reviewer sees, decides and takes back, with plain forms."""

from __future__ import annotations

import re

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.urls import reverse

from governance.models import AuditEntry, Proposal
from memory.admin.listed import pages_of
from memory.contracts.conflicts import SideDetail
from memory.models import Conflict, MemoryItem, Message
from tests.clients import new_reviewer
from tests.conftest import TEAM, make_agent
from tests.memory.acting import narrow
from tests.memory.conflict_pages import LIST, NASTY, address, client, send
from tests.memory.conflicts.test_deciding import MYSQL, POSTGRES, disputed, in_force
from tests.memory.conflicts.test_finding import tell
from tests.memory.talk import commit, compose, context, decision, only
from tests.memory.test_shadows import SCOPES, fill

__all__ = ["client"]


def test_it_works(cast, client):
    conflict = disputed(cast)
    text = client.get(address(conflict)).content.decode()
    for part in (
        "What holds?",
        "Postgres",
        "MySQL",
        "another object where there is one",
        "high severity",
        "[removed: ",
        "[added: ",
    ):
        assert part in text
    answer = send(client, conflict, "keep_a")
    assert (answer.status_code, answer["Location"]) == (302, reverse(LIST))
    assert in_force(cast) == [POSTGRES]
    assert "Decided: Keep A." in client.get(reverse(LIST)).content.decode()
    after = client.get(address(conflict)).content.decode()
    assert "Decided by" in after
    assert "Open it again" in after
    entries = AuditEntry.objects.filter(actor_name="ann").values_list("action", "door")
    assert {("get_conflict", "admin"), ("resolve_conflict", "admin")} <= set(entries)


def test_the_page_offers_ready_reasons_a_text_to_merge_and_links_to_where_both_sides_come_from(cast, client):
    conflict = disputed(cast)
    reasons = {"review": {"canned_reasons": {"project:*": ["said on Monday"]}}}
    cast.operator.do("set_policy", domain_id=TEAM, document=reasons, reason="to choose from")
    answer = client.get(address(conflict))
    outcomes = {each["value"]: each for each in answer.context["outcomes"]}
    assert outcomes["keep_a"]["reasons"][0] == "said on Monday"
    assert all(1 < len(each["reasons"]) <= 9 for each in outcomes.values())
    assert len({each["key"] for each in outcomes.values()}) == 5
    text = answer.content.decode()
    assert text.count(f">\n{MYSQL}</textarea>") == 1, "the newer text is where the merge begins"
    for row in MemoryItem.objects.all():
        assert reverse("admin:memory_turn_change", args=[row.source_turn_id]) in text


def test_a_message_that_is_kept_apart_has_no_page_as_evidence(cast):
    said = [{"role": "user", "content": "Salaries go over NATS"}]
    given = {"scopes": context("project:shop"), "messages": said, "decisions": [decision("Salaries go over NATS")]}
    item = only(commit(cast.agent, **given))["id"]
    message = Message.objects.get()
    side = SideDetail(item=None, provenance=None, evidence=[{"kind": "message", "id": str(message.pk)}])
    reader = make_agent("outside", pattern="session:*")
    assert list(pages_of([side], reader.ctx())) == [str(message.pk)]
    narrow(cast.agent, item)
    assert pages_of([side], reader.ctx()) == {}


def test_a_decision_is_taken_back(cast, client):
    conflict = disputed(cast)
    send(client, conflict, "keep_a")
    assert send(client, conflict, "reopen", revision="2").status_code == 302
    assert sorted(in_force(cast)) == [MYSQL, POSTGRES]
    assert Conflict.objects.get().state == "open"


def test_taken_back_after_the_other_side_left_it_says_that_the_conflict_is_over(cast, client):
    conflict = disputed(cast)
    send(client, conflict, "keep_a")
    kept = str(Conflict.objects.get().item_a_id)
    cast.agent.do("retract_item", memory_item_id=kept, reason="neither")
    answer = send(client, conflict, "reopen", revision="2")
    assert "the conflict is over" in client.get(answer["Location"]).content.decode()
    assert in_force(cast) == [MYSQL]


def test_a_decision_whose_taking_back_waits_is_not_said_to_be_taken_back(cast, client):
    conflict = disputed(cast)
    send(client, conflict, "keep_a")
    held = {"review": {"queue": [{"name": "all", "actions": ["reopen_conflict"], "actor_kinds": ["person"]}]}}
    cast.operator.do("set_policy", domain_id=TEAM, document=held, reason="two people")
    assert send(client, conflict, "reopen", revision="2").status_code == 302
    text = client.get(address(conflict)).content.decode()
    assert "It waits for someone else who may decide in both scopes." in text
    assert "open again." not in text
    assert (Proposal.objects.get().action, Conflict.objects.get().state) == ("reopen_conflict", "resolved")


def test_what_was_typed_stays_where_a_decision_is_refused(cast, client):
    conflict = disputed(cast)
    answer = send(client, conflict, "merge", reason="my long reason")
    assert answer.status_code == 422
    text = answer.content.decode()
    assert "text is missing" in text
    assert "my long reason" in text
    assert Conflict.objects.get().state == "open"


@pytest.mark.parametrize("revision", ["²", "x", "-1", "9" * 5000])
def test_a_mangled_revision_decides_nothing(cast, client, revision):
    assert send(client, disputed(cast), "keep_a", revision=revision).status_code == 422
    assert Conflict.objects.get().state == "open"


def test_a_stale_form_says_who_decided(cast, client):
    conflict = disputed(cast)
    other = new_reviewer("bob", TEAM)
    send(other, conflict, "keep_b")
    answer = send(client, conflict, "keep_a")
    assert answer.status_code == 409
    assert "resolved by bob" in answer.content.decode()
    assert not re.search(r"\((keep_a|keep_b|merge|both_valid|not_a_conflict)\)", answer.content.decode())
    assert in_force(cast) == [MYSQL]


def test_neighbours_are_decided_with_it(cast, client):
    tell(cast, MYSQL, "copy")
    tell(cast, "the default database is: mysql", "copy-two")
    tell(cast, POSTGRES, "db")
    conflict = Conflict.objects.filter(rule="other_object", item_a__key__endswith="copy").get()
    copy = MemoryItem.objects.get(key__endswith="copy-two")
    assert f'value="{copy.pk}"' in client.get(address(str(conflict.pk))).content.decode()
    send(client, str(conflict.pk), "keep_b", apply_to=[str(copy.pk)])
    assert in_force(cast) == [POSTGRES]


def test_text_is_content_and_never_interface(cast, client):
    tell(cast, f"The owner of {NASTY} is Ann.", "one")
    (found,) = tell(cast, f"The owner of {NASTY} is Bea.", "two")["memory_written"]["found"]
    fill(cast, "task:t", "project:p")
    pages = [
        reverse(LIST),
        address(found["id"]),
        reverse("admin:memory_shadows") + "?domain_id=team&scopes=project:shop%20task:t",
    ]
    for page in pages:
        text = client.get(page).content.decode()
        assert "<script>alert(1)" not in text
        assert "\u200b" not in text


def test_a_stranger_sees_none_of_it(cast):
    conflict = disputed(cast)
    client = new_reviewer("eve", "elsewhere")
    assert not client.get(reverse(LIST)).context["cl"].result_list
    assert client.get(address(conflict)).status_code == 302
    assert send(client, conflict, "keep_a").status_code in (302, 404)
    assert Conflict.objects.get().state == "open"


def test_the_page_asks_as_many_questions_however_much_there_is(cast, client):
    def asked(conflict: str) -> tuple[int, int]:
        with CaptureQueriesContext(connection) as page:
            client.get(address(conflict))
        with CaptureQueriesContext(connection) as rows:
            client.get(reverse(LIST))
        return len(page), len(rows)

    conflict = disputed(cast)
    asked(conflict)
    few = asked(conflict)
    for number in range(6):
        tell(cast, f"The owner of part{number} gear is Ann.", f"a{number}")
        tell(cast, f"The owner of part{number} gear is Bea.", f"b{number}")
    assert Conflict.objects.count() > 6
    many = asked(conflict)
    assert many[0] <= few[0] + 1, "the next one is looked up now that there is one"
    assert many[1] == few[1]
    assert max(*many) <= 20


def test_shadows_are_drawn_as_a_ladder(cast, client):
    ids = fill(cast, "global:g", "task:t", "project:p")
    page = reverse("admin:memory_shadows")
    assert "Inspect" in client.get(page).content.decode()
    asked = {"domain_id": TEAM, "scopes": " ".join(SCOPES)}
    text = client.get(page, asked).content.decode()
    places = [text.index(f"as in {name}") for name in ("task:t", "project:p", "global:g")]
    assert places == sorted(places)
    assert text.count('class="sb-wins"') == 1
    assert "promote to expert:e" in text
    thought = client.get(page, {**asked, "act": "retract", "item": ids["task:t"]}).content.decode()
    assert "another row would count" in thought
    assert "Nothing was written" in thought
    record = compose(cast.agent, "Which tone?", scope_context=context(*SCOPES))["context_id"]
    assert "As it was at" in client.get(page, {"context_id": record}).content.decode()


def test_the_navigation_marks_one_page(cast, client):
    for name in ("admin:memory_shadows", "admin:memory_conflict_changelist", "admin:index"):
        answer = client.get(reverse(name))
        items = [item for group in answer.context["sidebar_navigation"] for item in group["items"]]
        assert [item["link"] for item in items if item["active"]] == [reverse(name)]


@pytest.mark.parametrize(
    ("asked", "status", "told"),
    [
        ({"domain_id": TEAM, "scopes": "nonsense"}, 422, "is no scope"),
        ({"domain_id": "nowhere", "scopes": "project:p"}, 404, "nowhere"),
        ({"domain_id": TEAM, "scopes": "project:p", "cursor": "x"}, 422, "cursor"),
        ({"scopes": "project:p"}, 200, "Name the domain too"),
        ({"context_id": "x"}, 422, "context_id"),
    ],
)
def test_an_address_that_makes_no_sense_says_so(cast, client, asked, status, told):
    answer = client.get(reverse("admin:memory_shadows"), asked)
    assert answer.status_code == status
    assert told in answer.content.decode()


def test_the_inspector_asks_as_many_questions_however_much_there_is(cast, client):
    asked = {"domain_id": TEAM, "scopes": " ".join(SCOPES)}

    def count() -> int:
        with CaptureQueriesContext(connection) as queries:
            client.get(reverse("admin:memory_shadows"), asked)
        return len(queries)

    fill(cast, "global:g", "task:t")
    count()
    few = count()
    for number in range(5):
        fill(cast, "global:g", "project:p", key=f"pref:other:n{number}")
    assert count() == few <= 20


def test_a_proposed_decision_is_shown_with_both_sides(cast, client):
    conflict = disputed(cast)
    curator = make_agent("curator", rights=["read", "write", "promote"])
    curator.call("resolve_conflict", id=conflict, outcome="keep_b", reason="it is newer")
    proposal = cast.reviewer.do("list_proposals", domain_id=TEAM)["proposals"][0]["id"]
    shown = cast.reviewer.do("review_proposal", id=proposal)
    presentation = shown["presentation"]
    assert presentation["subject"].startswith("Keep the newer side: ")
    assert [row["table"] for row in presentation["rows"]] == ["conflicts", "memory_items"]
    assert presentation["rows"][1]["title"] == POSTGRES
    assert presentation["conflicts"][0]["id"] == conflict
    assert cast.reviewer.do("list_proposals", domain_id=TEAM, has_conflict=True)["proposals"][0]["id"] == proposal
