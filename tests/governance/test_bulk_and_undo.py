"""Many decisions at once, and taking decisions and changes back."""

from __future__ import annotations

from dataclasses import replace
from functools import partial

import pytest
from django.contrib.auth import get_user_model

from governance.models import AuditEntry, Decision, PolicyVersion, Proposal, Reversal
from kernel import actions
from kernel.context import Right
from kernel.errors import (
    ConflictError,
    DomainError,
    ForbiddenError,
    InvalidInputError,
    NotFoundError,
    StaleError,
    TransitionError,
)
from scopes.selectors import identify_person
from tests.conftest import TEAM, make_agent, make_cast, make_person
from tests.governance.made import made, note_back, note_of
from tests.governance.queueing import desk, later, queue_note, review, row_of, set_review
from tests.threads import at_once

__all__ = ["desk"]


def choices(*ids: str, revision: int = 1) -> list[dict]:
    return [{"id": proposal, "revision": revision} for proposal in ids]


class TestBulk:
    def test_it_works(self, desk):
        cast, _ = desk
        ids = [queue_note(cast.agent, f"note {number}") for number in range(3)]
        answer = cast.reviewer.do("decide_proposals", verdict="reject", proposals=choices(*ids), reason="spam")
        assert [outcome["outcome"] for outcome in answer["outcomes"]] == ["done"] * 3
        assert (answer["summary"], answer["counts"]) == ("3 rejected", {"done": 3})
        assert {str(decision.request_id) for decision in Decision.objects.all()} == {answer["request_id"]}
        entries = AuditEntry.objects.filter(request_id=answer["request_id"])
        assert sorted(entry.action for entry in entries) == ["decide_proposals", *["reject_proposal"] * 3]
        assert {decision.reason for decision in Decision.objects.all()} == {"spam"}

    def test_each_outcome_is_told(self, desk):
        cast, ann = desk
        owned = make_agent("owned", owner="reviewer")
        stale, decided, own = queue_note(cast.agent, "a"), queue_note(cast.agent, "b"), queue_note(owned, "c")
        good, gone = queue_note(cast.agent, "d"), "01890a5d-ac96-774b-bcce-b302099a8057"
        cast.agent.do("revise_proposal", id=stale, input={"note": "aa"})
        ann.do("reject_proposal", id=decided, reason="no")
        listed = choices(stale, decided, own, good, gone)
        answer = cast.reviewer.do("decide_proposals", verdict="approve", proposals=listed, reason="ok")
        assert [outcome["outcome"] for outcome in answer["outcomes"]] == [
            "stale",
            "decided",
            "not_permitted",
            "done",
            "not_found",
        ]
        assert "rejected by ann" in answer["outcomes"][1]["message"]
        assert answer["summary"] == "1 approved, 1 changed meanwhile, 1 decided before, 1 not permitted, 1 not found"
        assert note_of() == "d"

    def test_high_risk_is_left_out_and_so_is_what_is_over_the_cap(self, desk):
        cast, _ = desk
        risky = queue_note(cast.agent, "risky")
        set_review(cast, high_risk=[{"name": "grave", "actions": ["note"]}])
        high = queue_note(cast.agent, "high")
        set_review(cast)
        cast.operator.do("set_policy", document={"review": {"bulk_cap": 1}}, reason="small steps")
        answer = cast.reviewer.do(
            "decide_proposals",
            verdict="reject",
            proposals=choices(high, risky, queue_note(cast.agent, "x")),
            reason="r",
        )
        assert [outcome["outcome"] for outcome in answer["outcomes"]] == ["high_risk", "done", "over_cap"]
        assert answer["summary"] == "1 rejected, 1 left out for their risk, 1 over the cap"
        assert row_of(high).state == "open"

    def test_the_smallest_cap_of_the_domains_touched_counts(self, desk):
        cast, _ = desk
        far = make_agent("far", "elsewhere")
        cast.operator.do("assign_reviewer", user="reviewer", domain_id="elsewhere")
        both = replace(cast.reviewer, identity=identify_person(get_user_model().objects.get(username="reviewer")))
        cast.operator.do("set_policy", document={"review": {"bulk_cap": 4}}, reason="small steps")
        set_review(cast, bulk_cap=3)
        cast.operator.do("set_policy", domain_id="elsewhere", document=review(bulk_cap=1), reason="smaller ones")
        here = [queue_note(cast.agent, f"h{number}") for number in range(4)]
        there = far.do("note", note="x", domain_id="elsewhere")["proposal"]["id"]
        given = {"verdict": "reject", "reason": "r"}
        mixed = both.do("decide_proposals", given, proposals=choices(*here[:2], there))
        assert mixed["counts"] == {"done": 1, "over_cap": 2}
        assert "Policy allows 1 in one call" in mixed["outcomes"][1]["message"]
        assert both.do("decide_proposals", given, proposals=choices(*here[1:], here[0]))["counts"] == {
            "done": 3,
            "over_cap": 1,
        }

    def test_the_first_of_two_approvals_is_told_as_such(self, desk):
        cast, _ = desk
        set_review(cast, two_person=[{"name": "both", "actions": ["note"]}])
        proposal = queue_note(cast.agent)
        answer = cast.reviewer.do("decide_proposals", verdict="approve", proposals=choices(proposal), reason="r")
        assert (answer["summary"], note_of()) == ("1 approved by one of two", None)

    def test_one_named_twice_is_decided_once(self, desk):
        cast, _ = desk
        proposal = queue_note(cast.agent)
        answer = cast.reviewer.do(
            "decide_proposals", verdict="request_changes", proposals=choices(proposal, proposal), reason="r"
        )
        assert answer["summary"] == "1 sent back"

    def test_the_same_key_gives_the_first_answer(self, desk):
        cast, _ = desk
        given = {
            "verdict": "reject",
            "proposals": choices(queue_note(cast.agent)),
            "reason": "r",
            "idempotency_key": "k",
        }
        first, second = cast.reviewer.do("decide_proposals", given), cast.reviewer.do("decide_proposals", given)
        assert second == {**first, "deduplicated": True}

    @pytest.mark.parametrize(
        "fields",
        [
            {"proposals": []},
            {"reason": " "},
            {"reason": "\u200b"},
            {"verdict": "withdraw"},
            {"proposals": [{"id": "x"}]},
        ],
    )
    def test_nonsense_is_refused_before_anything_is_decided(self, desk, fields):
        cast, _ = desk
        given = {"verdict": "reject", "proposals": choices(queue_note(cast.agent)), "reason": "r", **fields}
        with pytest.raises(InvalidInputError):
            cast.reviewer.call("decide_proposals", given)
        assert not Decision.objects.exists()

    def test_a_key_decides_nothing(self, desk):
        cast, _ = desk
        with pytest.raises(ForbiddenError, match="signed-in person"):
            cast.agent.call(
                "decide_proposals", verdict="reject", proposals=choices(queue_note(cast.agent)), reason="mine"
            )


class TestUndo:
    def test_it_works(self, desk):
        cast, _ = desk
        proposal = queue_note(cast.agent)
        cast.reviewer.do("approve_proposal", id=proposal)
        assert note_of() == "first"
        undone = cast.reviewer.do("undo_decision", proposal_id=proposal)
        assert (undone["proposal"]["state"], undone["summary"], note_of()) == ("open", "1 undone", None)
        assert [d["verdict"] for d in undone["proposal"]["decisions"]] == ["approved", "reopened"]
        entry = AuditEntry.objects.get(action="undo_decision")
        assert [(change["table"], change["before"]) for change in entry.changes] == [
            ("proposals", {"state": "approved", "revision": 1}),
            ("domains", {"note": "first"}),
        ]
        cast.reviewer.do("approve_proposal", id=proposal, revision=1)
        assert note_of() == "first"

    @pytest.mark.parametrize("action", ["reject_proposal", "request_changes"])
    def test_a_refusal_is_taken_back(self, desk, action):
        cast, _ = desk
        proposal = queue_note(cast.agent)
        cast.reviewer.do(action, id=proposal, reason="no")
        assert cast.reviewer.do("undo_decision", proposal_id=proposal)["proposal"]["state"] == "open"
        with pytest.raises(TransitionError, match="took back"):
            cast.reviewer.call("undo_decision", proposal_id=proposal)
        cast.reviewer.do("approve_proposal", id=proposal)

    def test_the_first_of_two_approvals_is_taken_back(self, desk):
        cast, ann = desk
        set_review(cast, two_person=[{"name": "both", "actions": ["note"]}])
        proposal = queue_note(cast.agent)
        cast.reviewer.do("approve_proposal", id=proposal)
        assert cast.reviewer.do("undo_decision", proposal_id=proposal)["proposal"]["approvals"] == 0
        ann.do("approve_proposal", id=proposal)
        assert note_of() is None
        cast.reviewer.do("approve_proposal", id=proposal)
        assert note_of() == "first"

    def test_a_decision_of_someone_else_and_an_old_one_need_a_reason(self, desk):
        cast, ann = desk
        proposal = queue_note(cast.agent)
        cast.reviewer.do("reject_proposal", id=proposal, reason="no")
        for reason in ("", "  ", "\u2060"):
            with pytest.raises(InvalidInputError, match="Say why: reviewer decided that"):
                ann.call("undo_decision", proposal_id=proposal, reason=reason)
        with later(minutes=11):
            with pytest.raises(InvalidInputError, match="more than 10 minutes ago"):
                cast.reviewer.call("undo_decision", proposal_id=proposal)
            ann.do("undo_decision", proposal_id=proposal, reason="it was right")
        assert row_of(proposal).state == "open"

    def test_after_the_days_of_the_policy_it_is_too_late(self, desk):
        cast, _ = desk
        proposal = queue_note(cast.agent)
        cast.reviewer.do("reject_proposal", id=proposal, reason="no")
        with later(days=31), pytest.raises(TransitionError, match="more than 30 days ago"):
            cast.reviewer.call("undo_decision", proposal_id=proposal, reason="r")

    def test_what_was_changed_since_is_stale_and_nothing_moves(self, desk):
        cast, _ = desk
        proposal = queue_note(cast.agent)
        cast.reviewer.do("approve_proposal", id=proposal)
        cast.operator.do("note", note="newer")
        with pytest.raises(StaleError, match="changed since"):
            cast.reviewer.call("undo_decision", proposal_id=proposal)
        assert (row_of(proposal).state, note_of(), Reversal.objects.count()) == ("approved", "newer", 0)

    def test_an_action_without_reverse_says_what_to_do_instead(self, desk, monkeypatch):
        cast, _ = desk
        monkeypatch.setitem(actions._registry, "note", made())
        proposal = queue_note(cast.agent)
        cast.reviewer.do("approve_proposal", id=proposal)
        with pytest.raises(TransitionError, match="opposite change"):
            cast.reviewer.call("undo_decision", proposal_id=proposal)
        assert note_of() == "first"

    def test_a_rejection_with_a_new_proposal_about_the_same_stays(self, desk, monkeypatch):
        cast, _ = desk
        monkeypatch.setitem(actions._registry, "note", made(subject="s"))
        set_review(cast, queue=[{"name": "wait", "actions": ["note"], "actor_kinds": ["person", "agent"]}])
        proposal = queue_note(cast.agent)
        cast.reviewer.do("reject_proposal", id=proposal, reason="no")
        queue_note(cast.operator)
        with pytest.raises(ConflictError, match="Another proposal"):
            cast.reviewer.call("undo_decision", proposal_id=proposal)

    def test_an_answered_request_stays(self, desk):
        cast, _ = desk
        proposal = queue_note(cast.agent)
        cast.reviewer.do("request_changes", id=proposal, reason="which?")
        cast.agent.do("revise_proposal", id=proposal, input={"note": "that"})
        with pytest.raises(TransitionError, match="moved on"):
            cast.reviewer.call("undo_decision", proposal_id=proposal)

    def test_nothing_decided_and_nothing_named(self, desk):
        cast, _ = desk
        with pytest.raises(TransitionError, match="Nothing was decided"):
            cast.reviewer.call("undo_decision", proposal_id=queue_note(cast.agent))
        with pytest.raises(InvalidInputError, match="Name what"):
            cast.reviewer.call("undo_decision", reason="r")

    def test_a_bulk_is_taken_back_whole_and_each_is_told(self, desk):
        cast, ann = desk
        ids = [queue_note(cast.agent, f"note {number}") for number in range(3)]
        bulk = cast.reviewer.do("decide_proposals", verdict="reject", proposals=choices(*ids), reason="r")
        ann.do("undo_decision", proposal_id=ids[0], reason="that one is fine")
        answer = cast.reviewer.do("undo_decision", request_id=bulk["request_id"])
        assert answer["summary"] == "2 undone, 1 decided before"
        assert {row.state for row in Proposal.objects.all()} == {"open"}
        with pytest.raises(NotFoundError):
            make_person("other", "elsewhere").call("undo_decision", request_id=bulk["request_id"], reason="r")

    def test_a_decision_made_since_the_bulk_stays(self, desk):
        cast, _ = desk
        proposal = queue_note(cast.agent)
        bulk = cast.reviewer.do("decide_proposals", verdict="reject", proposals=choices(proposal), reason="r")
        cast.reviewer.do("undo_decision", proposal_id=proposal)
        cast.reviewer.do("approve_proposal", id=proposal)
        answer = cast.reviewer.do("undo_decision", request_id=bulk["request_id"])
        assert (answer["summary"], note_of()) == ("1 decided before", "first")

    def test_a_bulk_without_a_way_back_says_what_to_do_and_nothing_moves(self, desk, monkeypatch):
        cast, _ = desk
        monkeypatch.setitem(actions._registry, "note", made())
        proposal = queue_note(cast.agent)
        bulk = cast.reviewer.do("decide_proposals", verdict="approve", proposals=choices(proposal), reason="r")
        answer = cast.reviewer.do("undo_decision", request_id=bulk["request_id"])
        assert answer["summary"] == "1 cannot be taken back"
        assert "opposite change" in answer["outcomes"][0]["message"]
        assert (row_of(proposal).state, note_of()) == ("approved", "first")

    @pytest.mark.django_db(transaction=True)
    def test_of_two_who_take_it_back_at_once_one_does(self, monkeypatch):
        cast = make_cast()
        ann = make_person("ann", TEAM)
        monkeypatch.setitem(actions._registry, "note", made(reverse=note_back))
        set_review(cast)
        proposal = queue_note(cast.agent)
        cast.reviewer.do("approve_proposal", id=proposal)
        outcomes = at_once(
            [partial(player.do, "undo_decision", proposal_id=proposal, reason="r") for player in (cast.reviewer, ann)]
        )
        assert sorted(isinstance(outcome, DomainError) for outcome in outcomes) == [False, True]
        assert (note_of(), Reversal.objects.count(), row_of(proposal).state) == (None, 1, "open")


class TestRevert:
    def entry(self, action: str = "note") -> AuditEntry:
        return AuditEntry.objects.filter(action=action, outcome="allowed").latest("id")

    def test_it_works(self, desk):
        cast, _ = desk
        cast.operator.do("note", note="by hand")
        entry = self.entry()
        answer = cast.reviewer.do("revert_change", audit_entry_id=str(entry.id), reason="wrong domain")
        assert (answer["action"], answer["changed"], note_of()) == ("note", [f"domains {TEAM}"], None)
        with pytest.raises(TransitionError, match="reviewer took that back at"):
            cast.operator.call("revert_change", audit_entry_id=str(entry.id), reason="again")
        assert Reversal.objects.get().reason == "wrong domain"

    def test_an_approved_call_is_reverted_and_stays_approved(self, desk):
        cast, _ = desk
        proposal = queue_note(cast.agent)
        cast.reviewer.do("approve_proposal", id=proposal)
        cast.reviewer.do("revert_change", audit_entry_id=str(self.entry().id), reason="it was wrong")
        shown = cast.agent.do("get_proposal", id=proposal)
        assert (shown["state"], [d["verdict"] for d in shown["decisions"]]) == ("approved", ["approved", "reverted"])
        with pytest.raises(TransitionError, match="took back"):
            cast.reviewer.call("undo_decision", proposal_id=proposal)

    def test_a_policy_goes_back_to_the_version_before(self, desk):
        cast, _ = desk
        cast.operator.do("set_policy", domain_id=TEAM, document={"retention": {"context_days": 3}}, reason="tidy")
        cast.operator.do("revert_change", audit_entry_id=str(self.entry("set_policy").id), reason="too tidy")
        policy = cast.operator.do("get_policy", domain_id=TEAM)["document"]
        assert policy["review"]["queue"][0]["name"] == "wait"
        assert policy["retention"]["context_days"] == 30
        numbers = PolicyVersion.objects.filter(domain_id=TEAM).order_by("number").values_list("number", flat=True)
        assert list(numbers) == [1, 2, 3]

    def test_a_policy_that_was_replaced_since_stays(self, desk):
        cast, _ = desk
        first = self.entry("set_policy")
        set_review(cast, bulk_cap=3)
        with pytest.raises(StaleError, match="replaced since"):
            cast.operator.call("revert_change", audit_entry_id=str(first.id), reason="r")

    def test_who_may_not_do_it_may_not_take_it_back(self, desk):
        cast, _ = desk
        with pytest.raises(ForbiddenError, match="'operate'"):
            cast.reviewer.call("revert_change", audit_entry_id=str(self.entry("set_policy").id), reason="r")

    @pytest.mark.parametrize("reason", ["", " ", "\u200b"])
    def test_a_reason_is_needed(self, desk, reason):
        cast, _ = desk
        with pytest.raises(InvalidInputError):
            cast.operator.call("revert_change", audit_entry_id=str(self.entry("set_policy").id), reason=reason)

    def test_the_entry_says_beforehand_whether_it_can_be_taken_back(self, desk):
        cast, ann = desk
        cast.operator.do("note", note="by hand")
        entry = str(self.entry().id)
        told = ann.do("get_audit_entry", id=entry)
        assert (told["revertible"], told["why_not"]) == (True, "")
        ann.do("revert_change", audit_entry_id=entry, reason="wrong domain")
        told = ann.do("get_audit_entry", id=entry)
        assert (told["revertible"], told["why_not"].startswith("ann took that back at")) == (False, True)

    def test_what_changed_nothing_or_is_too_old_stays(self, desk):
        cast, _ = desk
        cast.operator.do("list_proposals", domain_id=TEAM)
        with pytest.raises(TransitionError, match="changed nothing"):
            cast.operator.call("revert_change", audit_entry_id=str(self.entry("list_proposals").id), reason="r")
        cast.operator.do("note", note="old")
        with later(days=31), pytest.raises(TransitionError, match="more than 30 days"):
            cast.operator.call("revert_change", audit_entry_id=str(self.entry().id), reason="r")

    def test_the_right_of_the_reverse_is_checked_too(self, desk, monkeypatch):
        cast, _ = desk
        cast.operator.do("note", note="grave")
        monkeypatch.setitem(actions._registry, "note", made(reverse=note_back, right=Right.OPERATE))
        with pytest.raises(ForbiddenError):
            cast.reviewer.call("revert_change", audit_entry_id=str(self.entry().id), reason="r")
