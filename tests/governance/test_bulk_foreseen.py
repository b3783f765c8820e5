"""The page that asks before several are decided says of each what the decision would: both go by one rule."""

from __future__ import annotations

from typing import Any
from uuid import UUID

import pytest
from django.contrib.auth import get_user_model
from django.urls import reverse

from governance.actions.proposals.foreseeing import refused_approvals
from governance.models import AuditEntry, Proposal
from kernel.ids import new_id
from memory.models import MemoryItem
from scopes.models import ApiKey, Grant, Principal
from scopes.selectors import identify_person
from tests.conftest import TEAM, Player, make_agent
from tests.governance.desk import Desk, make_desk, propose, statements
from tests.governance.test_bulk_screen import BULK, ask
from tests.guards.write_guard import unguarded
from tests.memory.promoting import WHY, known, promote, promoter
from tests.memory.talk import commit, context, decision, only


@pytest.fixture
def desk(db) -> Desk:
    return make_desk()


def held(desk: Desk, *refs: Any) -> str:
    """A promotion that waits, on this evidence."""
    agent = promoter(desk.cast)
    source = known(agent, key=f"decision:shop:n{MemoryItem.objects.count()}")
    return str(promote(agent, source, verification_refs=list(refs) or [WHY])["proposal"]["id"])


def proof(desk: Desk, scope: str = "task:t") -> str:
    said = decision("It was measured", key=f"decision:proof:n{MemoryItem.objects.count()}")
    return str(only(commit(desk.cast.agent, scopes=context(scope), decisions=[said]))["id"])


def foreseen(desk: Desk, *picks: str) -> dict[str, str]:
    """What the page says of each proposal that it leaves out; it offers the others."""
    asked = ask(desk.ann, list(picks))
    told = {str(view.id): out.why for out in asked.context["left_out"] for view in out.views}
    assert {pick.partition(":")[0] for pick in asked.context["picks"]} == set(picks) - told.keys()
    return told


def refused(*picks: str) -> dict[str, str]:
    """What each is told that is refused where all are approved at once by another door."""
    ann = Player("ann", identify_person(get_user_model().objects.get(username="ann")))
    chosen = [{"id": pick, "revision": 1} for pick in picks]
    done = ann.do("decide_proposals", verdict="approve", proposals=chosen, reason="all alike")
    return {each["id"]: each["message"] for each in done["outcomes"] if each["outcome"] not in ("done", "recorded")}


def test_it_works(desk):
    fallen, fine = proof(desk), held(desk)
    waiting = held(desk, fallen)
    assert foreseen(desk, waiting, fine) == {}
    desk.cast.agent.do("retract_item", memory_item_id=fallen, reason="it was not")
    told = foreseen(desk, waiting, fine)
    assert list(told) == [waiting]
    assert (
        told[waiting]
        == f"It cannot be carried out now. verification_refs: memory {fallen} is retracted and confirms nothing."
    )
    assert refused(waiting, fine) == {waiting: told[waiting].removeprefix("It cannot be carried out now. ")}


def test_a_successor_of_what_fell_is_named(desk):
    fallen = proof(desk)
    waiting = held(desk, fallen)
    url = {"kind": "url", "id": "https://example.org/why"}
    desk.cast.agent.do("correct_item", memory_item_id=fallen, text="It was not", reason="x", evidence_refs=[url])
    told = foreseen(desk, waiting)[waiting]
    assert f"look at {MemoryItem.objects.get(pk=fallen).successor_id} instead" in told
    assert told.endswith(refused(waiting)[waiting])


@pytest.mark.parametrize("kind", ["memory", "message"])
def test_evidence_that_its_proposer_sees_no_longer_is_named(desk, kind):
    hidden = proof(desk, "task:hidden")
    commit(
        make_agent("other"),
        "s9",
        messages=[{"role": "user", "content": "Yes.", "id": "m9"}],
        scopes=context("task:hidden"),
    )
    waiting = held(desk, {"kind": kind, "id": hidden if kind == "memory" else "m9"})
    fine = held(desk)
    row = Principal.objects.get(name="agent")
    with unguarded():
        row.grants.all().delete()
        for pattern in ("task:t", "project:*"):
            row.grants.create(domain_id=TEAM, pattern=pattern, rights=["read", "write", "promote"])
    told = foreseen(desk, waiting, fine)
    assert list(told) == [waiting]
    assert f"sees no {kind}" in told[waiting]
    assert list(refused(waiting, fine)) == [waiting]


def lose_rights(desk: Desk) -> None:
    desk.cast.operator.do("grant_access", name="agent", domain_id=TEAM, rights=["read"])


def lose_keys(desk: Desk) -> None:
    desk.cast.operator.do("revoke_key", key_prefix=desk.cast.agent.key.split("_")[1])


def be_switched_off(desk: Desk) -> None:
    with unguarded():
        Principal.objects.filter(name="agent").update(active=False)


@pytest.mark.parametrize("lose", [lose_rights, lose_keys, be_switched_off])
def test_a_proposer_who_may_no_longer_do_it_is_named(desk, lose):
    waiting = [held(desk), propose(desk.cast.agent, "The port is 5432")]
    assert foreseen(desk, *waiting) == {}
    lose(desk)
    told = foreseen(desk, *waiting)
    assert set(told) == set(waiting)
    for why in told.values():
        assert why.startswith("It cannot be carried out now. Its proposer 'agent' may no longer do this: ")
    stopped = refused(*waiting)
    assert set(stopped) == set(waiting)
    for why in stopped.values():
        assert why.startswith("Its proposer 'agent' may no longer do this: ")


def test_what_ones_own_key_proposed_is_not_offered(desk):
    waiting = propose(desk.cast.agent, "The port is 5432")
    ann = get_user_model().objects.get(username="ann")
    with unguarded():
        Proposal.objects.filter(pk=waiting).update(proposer_owner=f"user:{ann.pk}")
    told = foreseen(desk, waiting)
    assert told == refused(waiting)
    assert "their own key" in told[waiting]
    rejecting = ask(desk.ann, [waiting], verdict="reject")
    assert rejecting.context["picks"] == [f"{waiting}:1"], "it can be rejected"


def test_what_one_approved_already_waits_for_another(db):
    desk = make_desk(two_person=[{"name": "two", "actions": ["commit_turn"]}])
    waiting = propose(desk.cast.agent, "The port is 5432")
    assert foreseen(desk, waiting) == {}
    assert refused(waiting) == {}
    told = foreseen(desk, waiting)
    assert told == refused(waiting)
    assert told[waiting].startswith("You approved this already")


def test_what_was_revised_is_judged_when_it_is_decided(desk):
    """Its scopes may be others than those that were recorded."""
    waiting = propose(desk.cast.agent, "The port is 5432")
    lose_rights(desk)
    with unguarded():
        Proposal.objects.filter(pk=waiting).update(revision=2)
    ctx = desk.cast.reviewer.ctx()
    assert refused_approvals(list(Proposal.objects.filter(pk=waiting)), ctx) == {}


def test_a_call_without_a_record_of_its_decision_has_nothing_against_it(desk):
    waiting = propose(desk.cast.agent, "The port is 5432")
    lose_rights(desk)
    with unguarded():
        AuditEntry.objects.filter(proposal=UUID(waiting)).update(facts={})
    assert refused_approvals(list(Proposal.objects.filter(pk=waiting)), desk.cast.reviewer.ctx()) == {}


def test_a_full_queue_of_many_proposers_is_foreseen_in_few_statements(desk):
    """Each names a memory and a message; of 40 proposers all is looked at but what not even the most named show."""
    commit(desk.cast.agent, "s9", messages=[{"role": "user", "content": "Yes.", "id": "m9"}])
    first = Proposal.objects.get(pk=held(desk, proof(desk), {"kind": "message", "id": "m9"}))
    entry = AuditEntry.objects.filter(proposal=first, outcome="queued").values().get()
    principals = [Principal(name=f"agent {n}") for n in range(40)]
    fields = {field.attname: getattr(first, field.attname) for field in Proposal._meta.concrete_fields}
    more = [
        Proposal(
            **{**fields, "id": new_id(), "subject_key": f"copy:{n}", "proposer_id": str(principals[n % 40].pk)},
        )
        for n in range(1_000)
    ]
    for place, row in enumerate(more):
        row.risk = 2 if place % 5 == 0 else 1
    with unguarded():
        Principal.objects.bulk_create(principals)
        ApiKey.objects.bulk_create(
            [ApiKey(principal=each, prefix=f"p{n}", hash=f"{n}") for n, each in enumerate(principals)]
        )
        Grant.objects.bulk_create(
            [Grant(principal=each, domain_id=TEAM, pattern="*", rights=["read", "promote"]) for each in principals]
        )
        Proposal.objects.bulk_create(more, batch_size=200)
        AuditEntry.objects.bulk_create(
            [AuditEntry(**{**entry, "id": new_id(), "proposal_id": row.pk}) for row in more[:200]]
        )
    address = reverse(BULK) + "?queue=open"
    assert len(desk.ann.get(address).context["picks"]) == 50
    assert statements(desk.ann, address) < 20
