"""Decisions on proposals: reasons, two persons, changes asked for, edits, revisions, and what was rejected before."""

from __future__ import annotations

import pytest

from governance import gate
from governance.models import AuditEntry, Decision, Proposal, ProposalStep
from kernel import actions, clock
from kernel.context import Door
from kernel.errors import (
    ConflictError,
    ForbiddenError,
    InvalidInputError,
    NotFoundError,
    StaleError,
    TransitionError,
)
from tests.conftest import TEAM, make_agent, make_person
from tests.governance.made import failing, made, note_of, note_on_domain
from tests.governance.queueing import queue_note, row_of, set_review

pytestmark = pytest.mark.usefixtures("midday")

BLANK = ["", " \n\t", "\u200b\u2060", None]


@pytest.fixture
def desk(cast, monkeypatch):
    """The cast, with `note` queued by policy and a second reviewer `ann`."""
    monkeypatch.setitem(actions._registry, "note", made())
    set_review(cast)
    return cast, make_person("ann", TEAM)


def test_it_works(desk):
    cast, ann = desk
    proposal = queue_note(cast.agent)
    sent_back = cast.reviewer.do("request_changes", id=proposal, revision=1, reason="say it in English")
    assert sent_back["proposal"]["state"] == "changes_requested"
    told = cast.agent.do("get_proposal", id=proposal)
    assert [(d["verdict"], d["by"], d["reason"]) for d in told["decisions"]] == [
        ("changes_requested", "reviewer", "say it in English")
    ]
    revised = cast.agent.do("revise_proposal", id=proposal, revision=1, input={"note": "in English"})["proposal"]
    assert (revised["state"], revised["revision"]) == ("open", 2)
    with pytest.raises(StaleError, match="revision 2"):
        ann.call("approve_proposal", id=proposal, revision=1)
    ann.do("approve_proposal", id=proposal, revision=2)
    assert note_of() == "in English"
    assert [d.verdict for d in Decision.objects.all()] == ["changes_requested", "approved"]
    assert ProposalStep.objects.get(kind="revised").data["input"]["note"] == "first"


@pytest.mark.parametrize("action", ["reject_proposal", "request_changes", "edit_and_approve"])
@pytest.mark.parametrize("reason", BLANK)
def test_a_reason_that_nobody_can_read_is_refused(desk, action, reason):
    cast, _ = desk
    proposal = queue_note(cast.agent)
    fields = {"input": {"note": "other"}} if action == "edit_and_approve" else {}
    with pytest.raises(InvalidInputError):
        cast.reviewer.call(action, id=proposal, reason=reason, **fields)
    assert row_of(proposal).state == "open"
    assert not Decision.objects.exists()


def test_what_is_sent_back_cannot_be_approved_until_its_proposer_answers(desk):
    cast, ann = desk
    proposal = queue_note(cast.agent)
    cast.reviewer.do("request_changes", id=proposal, reason="which one?")
    for action in ("approve_proposal", "request_changes"):
        with pytest.raises(TransitionError, match=r"changes requested by reviewer at .* UTC"):
            ann.call(action, id=proposal, reason="r")
    ann.do("reject_proposal", id=proposal, reason="no answer")
    assert row_of(proposal).state == "rejected"


def test_the_refusal_names_who_decided_and_when_as_data(desk):
    cast, ann = desk
    proposal = queue_note(cast.agent)
    cast.reviewer.do("reject_proposal", id=proposal, reason="not ours")
    with pytest.raises(TransitionError) as refused:
        ann.call("approve_proposal", id=proposal, revision=1)
    told = refused.value.problem("r")["proposal"]
    assert (told["state"], told["by"], told["reason"], told["verdict"]) == (
        "rejected",
        "reviewer",
        "not ours",
        "rejected",
    )
    assert told["at"].startswith(f"{clock.now():%Y-%m-%d}")


class TestTwoPersons:
    @pytest.fixture
    def two(self, desk):
        cast, ann = desk
        set_review(cast, two_person=[{"name": "both", "actions": ["note"]}])
        return cast, ann, queue_note(cast.agent)

    def test_it_works(self, two):
        cast, ann, proposal = two
        first = cast.reviewer.do("approve_proposal", id=proposal, revision=1, reason="fine")
        assert first["result"] is None
        assert (first["proposal"]["state"], first["proposal"]["approvals"], first["proposal"]["approvals_needed"]) == (
            "open",
            1,
            2,
        )
        assert note_of() is None
        second = ann.do("approve_proposal", id=proposal, revision=1)
        assert (second["proposal"]["state"], second["proposal"]["approvals"]) == ("approved", 2)
        assert note_of() == "first"
        assert [d["by"] for d in second["proposal"]["decisions"]] == ["reviewer", "ann"]

    def test_one_person_does_not_approve_twice(self, two):
        cast, _, proposal = two
        cast.reviewer.do("approve_proposal", id=proposal)
        with pytest.raises(ForbiddenError, match="another person"):
            cast.reviewer.call("approve_proposal", id=proposal)
        assert note_of() is None

    def test_what_one_edited_another_approves(self, two):
        cast, ann, proposal = two
        edited = cast.reviewer.do("edit_and_approve", id=proposal, input={"note": "edited"}, reason="clearer")
        assert (edited["proposal"]["state"], edited["proposal"]["revision"]) == ("open", 2)
        with pytest.raises(ForbiddenError, match="another person"):
            cast.reviewer.call("approve_proposal", id=proposal)
        with pytest.raises(StaleError):
            ann.call("approve_proposal", id=proposal, revision=1)
        ann.do("approve_proposal", id=proposal, revision=2)
        assert note_of() == "edited"

    def test_an_edit_takes_back_what_others_approved(self, two):
        cast, ann, proposal = two
        cast.reviewer.do("approve_proposal", id=proposal)
        ann.do("edit_and_approve", id=proposal, input={"note": "edited"}, reason="clearer")
        assert row_of(proposal).approvals == 1
        cast.reviewer.do("approve_proposal", id=proposal, revision=2)
        assert note_of() == "edited"

    def test_a_request_for_changes_takes_it_back_too(self, two):
        cast, ann, proposal = two
        cast.reviewer.do("approve_proposal", id=proposal)
        ann.do("request_changes", id=proposal, reason="which?")
        cast.agent.do("revise_proposal", id=proposal, input={"note": "second"})
        assert row_of(proposal).approvals == 0
        ann.do("approve_proposal", id=proposal)
        assert note_of() is None

    def test_an_unchanged_save_keeps_it(self, two):
        cast, ann, proposal = two
        cast.reviewer.do("approve_proposal", id=proposal)
        same = cast.agent.do("get_proposal", id=proposal)["input"]
        kept = cast.agent.do("revise_proposal", id=proposal, input=same)["proposal"]
        assert (kept["revision"], kept["approvals"]) == (1, 1)
        ann.do("approve_proposal", id=proposal, revision=1)
        assert note_of() == "first"

    def test_a_policy_that_was_tightened_since_holds(self, desk):
        cast, ann = desk
        proposal = queue_note(cast.agent)
        set_review(cast, two_person=[{"name": "both", "actions": ["no*"]}])
        assert cast.reviewer.do("approve_proposal", id=proposal)["proposal"]["state"] == "open"
        ann.do("approve_proposal", id=proposal)
        assert note_of() == "first"

    def test_the_first_approval_too_is_of_what_was_looked_at(self, two):
        cast, _, proposal = two
        gate.call("note", {"note": "meanwhile"}, ctx=gate.system_ctx("tests", Door.CLI))
        with pytest.raises(StaleError, match="changed since"):
            cast.reviewer.call("approve_proposal", id=proposal)
        assert row_of(proposal).approvals == 0


class TestTwoPersonsOfWhomOneCalls:
    @pytest.fixture
    def waits(self, desk):
        cast, ann = desk
        both = {"two_person": [{"name": "both", "actions": ["note", "set_policy"]}]}
        cast.operator.do("set_policy", domain_id=TEAM, document={"review": both}, reason="two look")
        return cast, ann, cast.operator.do("note", note="first")["proposal"]

    def test_it_works(self, waits):
        cast, ann, proposal = waits
        assert (proposal["rule"], proposal["approvals_needed"]) == ("review.two_person:both", 1)
        assert note_of() is None
        with pytest.raises(ForbiddenError, match="Nobody approves what they"):
            cast.operator.call("approve_proposal", id=proposal["id"])
        ann.do("approve_proposal", id=proposal["id"], revision=1)
        assert note_of() == "first"

    def test_an_edit_does_not_count_on_the_proposer(self, waits):
        cast, ann, proposal = waits
        edited = ann.do("edit_and_approve", id=proposal["id"], input={"note": "other"}, reason="clearer")["proposal"]
        assert (edited["state"], edited["approvals"], edited["approvals_needed"]) == ("open", 1, 2)
        cast.reviewer.do("approve_proposal", id=proposal["id"], revision=2)
        assert note_of() == "other"

    def test_the_proposers_own_revision_still_counts(self, waits):
        cast, ann, proposal = waits
        cast.operator.do("revise_proposal", id=proposal["id"], input={"note": "second"})
        ann.do("approve_proposal", id=proposal["id"], revision=2)
        assert note_of() == "second"

    def test_the_policy_is_not_loosened_by_one_alone_but_by_the_system(self, waits):
        cast, _, _ = waits
        loose = {"domain_id": TEAM, "document": {}, "reason": "alone"}
        queued = cast.operator.do("set_policy", loose)["proposal"]
        assert (queued["rule"], queued["approvals_needed"]) == ("review.two_person:both", 1)
        gate.call("set_policy", loose, ctx=gate.system_ctx("operator", Door.CLI))
        cast.operator.do("note", note="alone")
        assert note_of() == "alone"


class TestEdits:
    def test_it_works(self, desk):
        cast, _ = desk
        proposal = queue_note(cast.agent)
        answer = cast.reviewer.do("edit_and_approve", id=proposal, revision=1, input={"note": "better"}, reason="typo")
        assert answer["result"]["note"] == note_of() == "better"
        shown = cast.agent.do("get_proposal", id=proposal)
        assert (shown["proposed_by"], shown["edited_by"], shown["revision"]) == ("agent", "reviewer", 2)
        assert (shown["proposed_input"]["note"], shown["input"]["note"]) == ("first", "better")
        assert shown["decisions"][0]["input"]["note"] == "better"
        carried = AuditEntry.objects.get(action="note", outcome="allowed")
        decided = AuditEntry.objects.get(action="edit_and_approve")
        assert (carried.actor_name, carried.on_behalf_of, carried.changes[0]["after"]["note"]) == (
            "reviewer",
            "agent",
            "better",
        )
        assert decided.changes[0]["before"]["input"]["note"] == "first"
        assert (decided.changes[0]["after"]["input"]["note"], decided.changes[0]["after"]["editor"]) == (
            "better",
            "reviewer",
        )

    def test_an_edit_that_changes_nothing_is_refused(self, desk):
        cast, _ = desk
        proposal = queue_note(cast.agent)
        with pytest.raises(InvalidInputError, match="same as before"):
            cast.reviewer.call("edit_and_approve", id=proposal, input={"note": "first"}, reason="r")

    @pytest.mark.parametrize("given", [{}, {"note": 7}, {"surprise": 1}, {"note": "x", "domain_id": "elsewhere"}])
    def test_an_edit_that_is_no_input_or_elsewhere_is_refused(self, desk, given):
        cast, _ = desk
        proposal = queue_note(cast.agent, "a note")
        with pytest.raises((InvalidInputError, ConflictError)):
            cast.reviewer.call("edit_and_approve", id=proposal, input=given, reason="r")
        row = row_of(proposal)
        assert (row.state, row.last_error, note_of()) == ("open", "", None)

    def test_an_edit_of_what_changed_meanwhile_is_stale(self, desk):
        cast, _ = desk
        proposal = queue_note(cast.agent)
        cast.operator.do("note", note="meanwhile")
        with pytest.raises(StaleError):
            cast.reviewer.call("edit_and_approve", id=proposal, input={"note": "edited"}, reason="r")
        assert note_of() == "meanwhile"

    def test_nobody_edits_what_they_proposed(self, desk):
        cast, _ = desk
        owned = make_agent("owned", owner="reviewer")
        proposal = queue_note(owned)
        with pytest.raises(ForbiddenError, match="own key"):
            cast.reviewer.call("edit_and_approve", id=proposal, input={"note": "edited"}, reason="r")

    def test_what_cannot_be_carried_out_as_proposed_can_be_mended(self, desk, monkeypatch):
        cast, _ = desk
        proposal = queue_note(cast.agent)

        def only_short(given, prepared, ctx):
            apply = failing(ConflictError("too long")) if given.note == "first" else note_on_domain
            return apply(given, prepared, ctx)

        monkeypatch.setitem(actions._registry, "note", made(only_short))
        with pytest.raises(ConflictError, match="too long"):
            cast.reviewer.call("approve_proposal", id=proposal)
        cast.reviewer.do("edit_and_approve", id=proposal, input={"note": "x"}, reason="shorter")
        assert (note_of(), row_of(proposal).last_error) == ("x", "")


class TestRevisions:
    def test_only_its_proposer_revises(self, desk):
        cast, _ = desk
        proposal = queue_note(cast.agent)
        with pytest.raises(ForbiddenError, match="Only its proposer"):
            cast.reviewer.call("revise_proposal", id=proposal, input={"note": "mine"})
        with pytest.raises(NotFoundError):
            cast.reader.call("revise_proposal", id=proposal, input={"note": "mine"})

    def test_a_revision_is_found_by_its_new_words(self, desk):
        cast, _ = desk
        proposal = queue_note(cast.agent)
        cast.agent.do("revise_proposal", id=proposal, input={"note": "Straße"})
        listed = cast.reviewer.do("list_proposals", text="STRASSE")["proposals"]
        assert [row["id"] for row in listed] == [proposal]
        assert cast.reviewer.do("list_proposals", text="first")["proposals"] == []

    def test_a_revision_to_what_another_proposal_says_is_refused(self, desk):
        cast, _ = desk
        first, second = queue_note(cast.agent, "first"), queue_note(cast.agent, "second")
        with pytest.raises(ConflictError, match="Another proposal"):
            cast.agent.call("revise_proposal", id=second, input={"note": "first"})
        assert (row_of(first).revision, row_of(second).input["note"]) == (1, "second")

    def test_a_revision_to_what_was_rejected_is_refused(self, desk):
        cast, _ = desk
        cast.reviewer.do("reject_proposal", id=queue_note(cast.agent, "first"), reason="no")
        second = queue_note(cast.agent, "second")
        with pytest.raises(ConflictError, match="reviewer rejected this: no"):
            cast.agent.call("revise_proposal", id=second, input={"note": "first"})
        assert row_of(second).input["note"] == "second"

    def test_the_same_call_again_tells_what_was_asked_for(self, desk):
        cast, _ = desk
        proposal = queue_note(cast.agent)
        cast.reviewer.do("request_changes", id=proposal, reason="which one?")
        again = cast.agent.do("note", note="first")
        assert (again["proposal"]["state"], again["proposal"]["seen"]) == ("changes_requested", 2)
        assert again["proposal"]["decisions"][0]["reason"] == "which one?"


class TestRejected:
    def test_it_works(self, desk):
        cast, _ = desk
        proposal = queue_note(cast.agent)
        cast.reviewer.do("reject_proposal", id=proposal, reason="not ours")
        with pytest.raises(ConflictError, match=r"reviewer rejected this: not ours\. Propose it again") as refused:
            cast.agent.call("note", note="first")
        told = refused.value.problem("r")["rejected"]
        assert (told["proposal_id"], told["reason"], told["by"]) == (proposal, "not ours", "reviewer")
        assert Proposal.objects.count() == 1
        assert (AuditEntry.objects.latest("id").code, note_of()) == ("conflict", None)
        mine = cast.agent.do("list_proposals", queue="rejected")["proposals"]
        assert mine[0]["decisions"][0]["reason"] == "not ours"

    def test_it_may_come_back_with_other_evidence(self, desk, monkeypatch):
        cast, _ = desk
        evidence = ["one"]
        monkeypatch.setitem(actions._registry, "note", made(subject="s", evidence=lambda: evidence[0]))
        cast.reviewer.do("reject_proposal", id=queue_note(cast.agent), reason="no")
        with pytest.raises(ConflictError):
            queue_note(cast.agent, "in other words")
        evidence[0] = "two"
        again = queue_note(cast.agent)
        assert row_of(again).evidence == "two"

    def test_a_person_may_propose_it_again(self, desk):
        cast, _ = desk
        set_review(cast, queue=[{"name": "wait", "actions": ["note"], "actor_kinds": ["person", "agent"]}])
        first = queue_note(cast.operator)
        cast.reviewer.do("reject_proposal", id=first, reason="no")
        assert queue_note(cast.operator) != first

    def test_what_was_approved_since_may_come_again(self, desk, monkeypatch):
        cast, _ = desk
        monkeypatch.setitem(actions._registry, "note", made(subject="s"))
        set_review(cast, queue=[{"name": "wait", "actions": ["note"], "actor_kinds": ["person", "agent"]}])
        cast.reviewer.do("reject_proposal", id=queue_note(cast.agent), reason="no")
        cast.reviewer.do("approve_proposal", id=queue_note(cast.operator, "by a person"))
        assert row_of(queue_note(cast.agent, "again")).state == "open"
