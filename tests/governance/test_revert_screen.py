"""Taking a recorded call back on the page of its audit entry, and what stands there where that cannot be."""

from __future__ import annotations

import re
from uuid import uuid4

import pytest
from django.test import Client
from django.urls import reverse

from governance.models import AuditEntry, Proposal, Reversal
from memory.models import MemoryItem
from tests.clients import sign_in
from tests.conftest import ELSEWHERE, TEAM, make_person
from tests.governance.desk import decide, item, make_desk, propose, text_of
from tests.governance.queueing import later


@pytest.fixture
def desk(db):
    return make_desk()


def learn(desk, decision: str = "The port is 5432") -> AuditEntry:
    """The entry of a call that wrote a memory."""
    desk.cast.agent.do(
        "write_memory_item",
        domain_id=TEAM,
        scope={"type": "project", "id": "shop"},
        type="decisions",
        item={"key": "decision:shop:port", "decision": decision},
    )
    return AuditEntry.objects.filter(action="write_memory_item", outcome="allowed").latest("id")


def entry_page(entry: AuditEntry) -> str:
    return reverse("admin:governance_auditentry_change", args=[entry.pk])


def revert(client: Client, entry: AuditEntry, reason: str = "", key: str = ""):
    address = reverse("admin:governance_revert", args=[entry.pk])
    return client.post(address, {"reason": reason, "key": key}, follow=True)


def test_it_works(desk):
    entry = learn(desk)
    page = text_of(desk.ann, entry_page(entry))
    key = re.search(r'name="key" value="([^"]+)"', page)
    assert key is not None
    assert 'textarea name="reason" maxlength="2000" required' in page
    for _double_click in range(2):
        answer = revert(desk.ann, entry, "wrong shop", key[1])
        assert answer.redirect_chain[-1][0] == entry_page(entry)
        assert "Taken back: 1 row restored. Nothing was erased." in answer.content.decode()
    assert MemoryItem.objects.get().status == "retracted"
    assert (Reversal.objects.get().by_name, Reversal.objects.get().reason) == ("ann", "wrong shop")
    after = text_of(desk.ben, entry_page(entry))
    assert "ann took that back at" in after
    assert ">Revert</button>" not in after


@pytest.mark.parametrize("reason", ["", "   ", "\u200b", "x" * 5000])
def test_a_reason_is_needed_and_what_was_typed_stays(desk, reason):
    entry = learn(desk)
    answer = revert(desk.ann, entry, reason)
    assert answer.status_code == 422
    assert ">Revert</button>" in answer.content.decode()
    assert not Reversal.objects.exists()


def test_two_at_once_and_what_changed_since_are_told(desk):
    first = learn(desk)
    second = learn(desk, "The port is 5433")
    stale = revert(desk.ann, first, "wrong shop")
    assert stale.status_code == 409
    assert "changed again since" in stale.content.decode()
    assert not Reversal.objects.exists()
    assert revert(desk.ann, second, "wrong shop").status_code == 200
    late = revert(desk.ben, second, "me too")
    assert late.status_code == 409
    assert "ann took that back at" in late.content.decode()
    restored = MemoryItem.objects.get(current_until=None)
    assert restored.value["decision"] == "The port is 5432"


def test_what_has_no_way_back_says_what_to_do_instead(desk):
    proposal = propose(desk.cast.agent, "The port is 5432")
    page = decide(desk.ann, proposal, "approve_proposal").content.decode()
    assert "Undo</button>" not in page
    assert "with retract_item" in text_of(desk.ann, item(proposal))
    assert 'data-key="u"' not in text_of(desk.ann, item(proposal))
    entry = AuditEntry.objects.get(action="commit_turn", outcome="allowed")
    page = text_of(desk.ann, entry_page(entry))
    assert "A call of commit_turn cannot be taken back by itself" in page
    assert "with retract_item" in page
    assert ">Revert</button>" not in page
    assert revert(desk.ann, entry, "wrong").status_code == 409
    undone = desk.ann.post(reverse("admin:governance_undo"), {"proposal_id": proposal, "reason": "wrong"})
    assert undone.status_code == 409
    assert "with retract_item" in undone.content.decode()
    decided = AuditEntry.objects.get(action="approve_proposal").request_id
    undone = desk.ann.post(
        reverse("admin:governance_undo"), {"request_id": str(decided), "reason": "wrong"}, follow=True
    )
    assert "1 cannot be taken back. A call of commit_turn" in undone.content.decode()
    assert "decided before" not in undone.content.decode()
    assert MemoryItem.objects.get().status == "active"


def test_only_who_may_and_while_policy_says_so(desk):
    make_person("lee", is_staff=True)
    desk.cast.operator.do("assign_reviewer", user="lee", domain_id=TEAM, role="auditor")
    entry = learn(desk)
    policy = AuditEntry.objects.get(action="set_policy")
    for client, grave, status in ((sign_in("lee"), entry, 404), (desk.ann, policy, 403)):
        page = text_of(client, entry_page(grave))
        assert ">Revert</button>" not in page
        assert "needs the right" in page
        assert revert(client, grave, "r").status_code == status
    with later(days=31):
        page = text_of(sign_in("ann"), entry_page(entry))
        assert "more than 30 days ago" in page
        assert ">Revert</button>" not in page
    assert not Reversal.objects.exists()


def test_a_stranger_and_a_ghost_look_alike(desk):
    make_person("cid", ELSEWHERE, is_staff=True)
    entry, stranger = learn(desk), sign_in("cid")
    known, ghost = (reverse("admin:governance_revert", args=[each]) for each in (entry.pk, uuid4()))
    assert stranger.get(known)["Location"] == stranger.get(ghost)["Location"] == reverse("admin:index")
    assert (
        stranger.post(known, {"reason": "r"}).status_code == stranger.post(ghost, {"reason": "r"}).status_code == 404
    )
    assert not Reversal.objects.exists()


def test_it_needs_its_token(desk):
    entry = learn(desk)
    client = Client(enforce_csrf_checks=True)
    client.cookies = desk.ann.cookies
    assert client.post(reverse("admin:governance_revert", args=[entry.pk]), {"reason": "r"}).status_code == 403
    assert not Reversal.objects.exists()


NO_IDS = ("abc", "\x00", "0" * 31, "0" * 4000)


@pytest.mark.parametrize("wanted", NO_IDS)
@pytest.mark.parametrize("name", ["proposal_id", "request_id"])
def test_what_is_no_id_is_answered_as_what_is_not_there(desk, name, wanted):
    undo = reverse("admin:governance_undo")
    for answer in (desk.ann.get(undo, {name: wanted}), desk.ann.post(undo, {name: wanted, "reason": "wrong"})):
        assert answer.status_code in (404, 422)
        assert "UUID" in answer.content.decode()


@pytest.mark.parametrize("spelled", [str.upper, lambda name: name.replace("-", "")])
def test_an_id_that_is_spelled_otherwise_is_taken_back_and_leads_to_its_page(desk, spelled):
    proposal = propose(desk.cast.agent, "The port is 5432")
    decide(desk.ann, proposal, "reject_proposal", reason="no")
    undo, wanted = reverse("admin:governance_undo"), {"proposal_id": spelled(proposal)}
    assert item(proposal) in desk.ann.get(undo, wanted).content.decode()
    answer = desk.ann.post(undo, wanted)
    assert answer.status_code == 302
    assert answer["Location"].startswith(item(proposal))
    assert Proposal.objects.get(pk=proposal).state == "open"
