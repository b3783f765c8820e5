"""Pages with nothing to show: "nothing there" is said to who would see it, "nothing for you" to everyone else."""

from __future__ import annotations

import pytest
from django.contrib import admin
from django.contrib.auth import get_user_model
from django.urls import reverse

from governance import gate
from governance.adminbase import ReadOnlyAdmin, sight_of
from kernel.context import Door, Reach, Right
from memory.models import MemoryItem, Session
from tests.clients import sign_in
from tests.conftest import ELSEWHERE, TEAM, a_turn, make_person
from tests.governance.desk import queue, text_of

NONE_TOLD = "Whether there are any elsewhere is not told here"


def auditor(name: str) -> None:
    """Someone who reads the record of the other domain and no memory."""
    get_user_model().objects.create_user(name, None, "correct horse battery", is_staff=True)
    given = {"user": name, "domain_id": ELSEWHERE, "role": "auditor"}
    gate.call("assign_reviewer", given, ctx=gate.system_ctx("tests", Door.PYTHON))


@pytest.fixture
def house(cast):
    """A domain with a memory, a session and a policy; people who see nothing of it: of a scope without anything, and an
    auditor of another domain."""
    cast.agent.do(
        "commit_turn", a_turn(turn_events={"decisions": [{"key": "decision:shop:port", "decision": "5432"}]})
    )
    cast.operator.do("set_policy", domain_id=TEAM, document={}, reason="a version")
    make_person("part", TEAM, "project:nowhere", is_staff=True)
    auditor("audrey")
    return cast


def lists() -> dict[str, str]:
    """The addresses of every list, by the rows' name."""
    found = {}
    for model in admin.site._registry:
        page = admin.site.get_model_admin(model)
        if isinstance(page, ReadOnlyAdmin):
            name = f"admin:{model._meta.app_label}_{model._meta.model_name}_changelist"
            found[str(model._meta.verbose_name_plural)] = reverse(name)
    return found


def test_it_works(house):
    client = sign_in("part")
    for model in (MemoryItem, Session):
        assert model.objects.exists()
    memories = text_of(client, lists()["memory items"])
    assert "No memory items that you may see" in memories
    assert "team / project:nowhere" in memories
    assert NONE_TOLD in memories
    assert "An agent stores them with commit_turn" in memories, "it still teaches"
    sessions = text_of(client, lists()["sessions"])
    assert "shown to whoever reviews a whole domain, or its sessions" in sessions
    versions = text_of(client, lists()["policy versions"])
    assert "defaults are in force" not in versions
    assert "shown to whoever reviews or audits a whole domain" in versions


def test_no_list_says_there_are_none_to_who_would_not_see_them(house):
    for who in ("part", "audrey"):
        client = sign_in(who)
        for name, address in lists().items():
            answer = client.get(address)
            if not answer.context["cl"].result_list:
                page = answer.context["cl"].model_admin
                assert f"No {name} that you may see" in answer.content.decode(), (who, name)
                assert page.none_there not in answer.content.decode(), (who, name)


def test_who_sees_everything_is_told_that_there_are_none(house):
    get_user_model().objects.filter(username="operator").update(is_staff=True)
    page = text_of(sign_in("operator"), lists()["entities"])
    assert "No entities yet." in page
    assert "that you may see" not in page


def test_an_auditor_is_not_told_whether_there_are_memories(house):
    page = text_of(sign_in("audrey"), lists()["memory items"])
    assert "Your roles show none of them" in page
    assert "commit_turn" not in page


@pytest.mark.parametrize("name", ["governance_history", "governance_agents", "media_board", "governance_queue"])
def test_screens_name_what_one_sees(house, name):
    make_person("bare", ELSEWHERE, "project:nowhere", is_staff=True)
    address = queue() if name == "governance_queue" else reverse(f"admin:{name}")
    page = text_of(sign_in("bare"), address)
    assert f"{ELSEWHERE} / project:nowhere" in page
    assert "yet</h2>" not in page


def test_the_front_page_does_not_call_a_full_house_new(house):
    page = text_of(sign_in("part"), reverse("admin:index"))
    assert "Ready for the first agent" not in page


def test_many_places_are_named_up_to_a_bound():
    ctx = gate.system_ctx("tests", Door.PYTHON)
    reach = tuple(Reach(f"d{number:02}", "project:<b>", frozenset({Right.READ})) for number in range(40))
    found = sight_of(type(ctx)(ctx.actor, ctx.door, reach), Right.READ)
    assert (len(found.places), found.further, found.whole) == (12, 28, False)
