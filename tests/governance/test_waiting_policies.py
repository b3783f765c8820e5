"""A change of the policy that waits, shown to those who decide on it, also where it fits no more."""

from __future__ import annotations

from django.contrib.auth import get_user_model
from django.test import Client
from django.urls import reverse

from governance import gate
from governance.gate import system_ctx
from governance.models import Proposal
from kernel import actions
from kernel.context import Door
from tests.conftest import TEAM, make_person
from tests.guards.write_guard import unguarded

HELD = {"name": "policy", "actions": ["set_policy"], "actor_kinds": ["person"]}
NARROW = ["session", "task", "project", "global"]


def waiting(cast, **rule: object) -> str:
    """A policy that waits and has a further rule; the id of its proposal."""
    cast.operator.do("set_policy", domain_id=TEAM, document={"review": {"queue": [HELD]}}, reason="four eyes")
    document = {"review": {"queue": [HELD, {"name": "more", "actions": ["commit_turn"], **rule}]}}
    answer: dict = cast.operator.do("set_policy", domain_id=TEAM, document=document, reason="r")
    return str(answer["proposal"]["id"])


def without_experts() -> None:
    """The installation drops the scope type `expert`."""
    document = {"scopes": {"allowed_types": NARROW, "conflict_priority": NARROW}}
    gate.call("set_policy", {"document": document, "reason": "none left"}, ctx=system_ctx("op", Door.CLI))


def told(player, proposal: str) -> dict:
    shown: dict = player.do("review_proposal", id=proposal)["presentation"]
    return shown


def test_it_works(cast):
    shown = told(cast.reviewer, waiting(cast, scope_types=["expert"]))
    assert [row["id"] for row in shown["rows"]] == ["review"]
    assert "it would decide" in shown["evidence"][0]["text"]


def test_what_names_a_scope_type_that_is_gone_is_shown_with_the_fault(cast):
    proposal = waiting(cast, scope_types=["expert"])
    without_experts()
    (row,), (evidence,) = (told(cast.reviewer, proposal)[name] for name in ("rows", "evidence"))
    assert (row["id"], row["fields"][0]["name"]) == ("review", "queue")
    assert evidence["text"].startswith("It cannot be set any more: ")
    assert "there is no scope type 'expert'" in evidence["text"]


def test_what_names_an_action_that_is_gone_is_shown_with_the_fault(cast, monkeypatch):
    proposal = waiting(cast, actions=["retract_item"])
    monkeypatch.delitem(actions._registry, "retract_item")
    assert "there is no action 'retract_item'" in told(cast.reviewer, proposal)["evidence"][0]["text"]


def test_what_has_a_field_that_is_gone_is_shown_with_the_fault(cast):
    proposal = waiting(cast)
    row = Proposal.objects.get(pk=proposal)
    gone = {**row.input["document"], "review": {**row.input["document"]["review"], "colour": "red"}, "old": 7}
    with unguarded():
        Proposal.objects.filter(pk=proposal).update(input={**row.input, "document": gone})
    shown = told(cast.reviewer, proposal)
    assert "It cannot be set any more: " in shown["evidence"][0]["text"]
    assert [field["name"] for field in shown["rows"][0]["fields"]] == ["queue", "colour"]


def test_its_page_opens_and_it_can_be_rejected(cast):
    proposal = waiting(cast, scope_types=["expert"])
    without_experts()
    make_person("ann", TEAM, is_staff=True)
    client = Client()
    client.force_login(get_user_model().objects.get(username="ann"))
    page = client.get(reverse("admin:governance_proposal_change", args=[proposal]))
    assert page.status_code == 200
    assert "It cannot be set any more" in page.content.decode()
    cast.reviewer.do("reject_proposal", id=proposal, reason="no longer")
    assert Proposal.objects.get(pk=proposal).state == "rejected"
