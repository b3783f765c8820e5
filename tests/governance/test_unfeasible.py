"""Proposals that cannot be carried out: the pages say so, and why, before anybody decides on them."""

from __future__ import annotations

from uuid import UUID, uuid4

import pytest
from django.urls import reverse

from governance.hooks import HeldCall, obstacles
from governance.models import Proposal
from kernel.errors import DomainError
from memory.models import MemoryItem
from tests.conftest import TEAM, a_turn
from tests.governance.desk import Desk, decide, item, make_desk, propose, queue, text_of

BULK = "admin:governance_bulk"
ALL_HELD = ["commit_turn", "correct_item", "retract_item", "write_memory_item"]


@pytest.fixture
def desk(db) -> Desk:
    return make_desk(queue=[{"name": "all", "actions": ALL_HELD, "scope_types": ["project"]}])


def learned(desk: Desk, text: str) -> MemoryItem:
    """A decision of the shop that was approved."""
    desk.cast.reviewer.do("approve_proposal", id=propose(desk.cast.agent, text))
    return MemoryItem.objects.get(statement=text)


def retracting(desk: Desk, row: MemoryItem) -> str:
    """A proposal to take it back."""
    queued = desk.cast.agent.do("retract_item", memory_item_id=str(row.pk), reason="it is not so")
    return str(queued["proposal"]["id"])


def test_a_dry_run_that_failed_after_an_undo_is_not_called_a_failure_to_carry_out(desk):
    said = {"key": "decision:shop:port", "decision": "The port is 5432"}
    given = {"domain_id": TEAM, "scope": {"type": "project", "id": "shop"}, "type": "decisions", "item": said}
    proposal = str(desk.cast.agent.do("write_memory_item", given)["proposal"]["id"])
    desk.cast.reviewer.do("approve_proposal", id=proposal)
    desk.cast.operator.do("grant_access", name="agent", domain_id=TEAM, rights=["read"])
    desk.cast.reviewer.do("undo_decision", proposal_id=proposal, reason="too soon")
    assert "may no longer" in Proposal.objects.get(pk=proposal).last_error
    page = text_of(desk.ann, item(proposal))
    assert "When it was last tried, it could not be carried out: Its proposer" in page
    listed = text_of(desk.ann, queue("?queue=open"))
    assert "could not be carried out" in listed
    assert "failed before" not in page + listed


def correcting(desk: Desk, row: MemoryItem, text: str) -> str:
    """A proposal to correct it."""
    url = {"kind": "url", "id": "https://example.org/why"}
    given = {"memory_item_id": str(row.pk), "text": text, "reason": "it is not so", "evidence_refs": [url]}
    return str(desk.cast.agent.do("correct_item", given)["proposal"]["id"])


def outdated(desk: Desk) -> tuple[str, str, str]:
    """Two proposals that correct a memory that was replaced meanwhile, and one that stands: to take the old one back."""
    row = learned(desk, "The port is 5432")
    fine = retracting(desk, row)
    gone = correcting(desk, row, "The port is 5434"), correcting(desk, row, "The port is 5435")
    desk.cast.reviewer.do("approve_proposal", id=correcting_by_hand(desk, row))
    return *gone, fine


def correcting_by_hand(desk: Desk, row: MemoryItem) -> str:
    """A turn that says something else under the same key."""
    place = {"type": "project", "id": "shop"}
    said = {"decisions": [{"key": row.key, "decision": "The port is 5433"}]}
    turn = a_turn(session_id="s2", turn_events=said, scope_context={"read": [place], "default_write": place})
    answer = desk.cast.agent.do("commit_turn", turn)
    return str((answer.get("proposal") or answer["queued"][0])["id"])


def test_the_page_of_a_proposal_says_at_the_top_that_its_memory_was_replaced(desk):
    first, second, fine = outdated(desk)
    for proposal in (first, second):
        page = text_of(desk.ann, item(proposal))
        top = page[: page.index('id="change"')]
        assert "It cannot be carried out now. Its memory is no longer in force: another took its place" in top
        assert 'class="sb-button" data-key="a"' in page, "it is not what the page suggests"
        answer = decide(desk.ann, proposal, "approve_proposal")
        assert answer.status_code == 409, "what the page says is so"
        assert Proposal.objects.get(pk=proposal).state == "open"
    assert desk.cast.reviewer.do("review_proposal", id=fine)["obstacle"] == ""
    page = text_of(desk.ann, item(fine))
    assert "cannot be carried out" not in page
    assert 'class="sb-button sb-primary" data-key="a"' in page
    decide(desk.ann, fine, "approve_proposal")
    assert Proposal.objects.get(pk=fine).state == "approved", "what is history can still be taken back"


def test_the_queue_marks_them_and_an_approval_of_several_leaves_them_out(desk):
    first, second, fine = outdated(desk)
    lines = {str(line.view.id): line.obstacle for line in desk.ann.get(queue("?queue=open")).context["lines"]}
    assert {name for name, why in lines.items() if why} == {first, second}
    sent = {"step": "look", "query": "queue=open", "pick": [f"{each}:1" for each in (first, second, fine)]}
    asked = desk.ann.post(reverse(BULK), {**sent, "verdict": "approve"})
    assert asked.context["picks"] == [f"{fine}:1"]
    (out,) = asked.context["left_out"]
    assert {str(view.id) for view in out.views} == {first, second}
    page = asked.content.decode()
    for told in (
        "Approve 1 proposal?",
        "2 will not be decided",
        "It cannot be carried out now. Its memory is no longer",
    ):
        assert told in page, told
    rejecting = desk.ann.post(reverse(BULK), {**sent, "verdict": "reject"})
    assert len(rejecting.context["picks"]) == 3, "they can be rejected"
    assert rejecting.content.decode().count("cannot be carried out</span>") == 2


def test_what_is_taken_back_stands_in_the_way_too_and_the_replacing_turn_by_its_rows(desk):
    row = learned(desk, "The port is 5432")
    correction, turn = correcting(desk, row, "The port is 5434"), correcting_by_hand(desk, row)
    desk.cast.reviewer.do("retract_item", memory_item_id=str(row.pk), reason="never")
    for proposal in (correction, turn):
        told = desk.cast.reviewer.do("review_proposal", id=proposal)["obstacle"]
        assert told == "Its memory is no longer in force: it was taken back since this was proposed."
        with pytest.raises(DomainError):
            desk.cast.reviewer.call("approve_proposal", id=proposal)


@pytest.mark.parametrize(
    "given", [{}, {"memory_item_id": None}, {"memory_item_id": "x"}, {"memory_item_id": str(uuid4())}]
)
def test_a_call_that_names_nothing_known_has_no_obstacle(desk, given):
    change = {"table": "memory_items", "id": "x", "before": {"status": "active/promoted"}, "after": {}}
    new = {"table": "memory_items", "id": str(uuid4()), "before": None, "after": {"key": "k"}}
    assert obstacles({uuid4(): HeldCall("correct_item", given, [change, new])}, desk.cast.reviewer.ctx()) == {}


def test_they_are_found_in_few_statements(desk, django_assert_num_queries):
    calls: dict[UUID, HeldCall] = {}
    for proposal in outdated(desk):
        row = Proposal.objects.get(pk=proposal)
        calls |= {uuid4(): HeldCall(row.action, row.input, row.changes) for _ in range(20)}
    with django_assert_num_queries(1):
        assert len(obstacles(calls, desk.cast.reviewer.ctx())) == 40


@pytest.mark.parametrize(
    ("action", "refused"),
    [("promote_to_scope", True), ("narrow_item", True), ("raise_tier", True), ("demote", False)],
)
def test_what_is_demoted_is_neither_promoted_narrowed_nor_raised(desk, action, refused):
    row = learned(desk, "The port is 5432")
    refs = [{"kind": "url", "id": "https://example.org/why"}]
    why = {"reason": "it failed", "reason_type": "obsolete", "evidence_refs": refs}
    desk.cast.operator.do("demote", memory_item_id=str(row.pk), status="demoted", **why)
    call = HeldCall(action, {"memory_item_id": str(row.pk)}, [])
    assert list(obstacles({row.pk: call}, desk.cast.reviewer.ctx()).values()) == (
        ["Its memory is demoted by now."] if refused else []
    )
