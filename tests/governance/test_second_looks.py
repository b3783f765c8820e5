"""Second looks: a decision is given again by someone who is not told it, and counts as agreed or not."""

from __future__ import annotations

import pytest

from governance.models import AuditEntry, BlindReview, Proposal
from kernel.errors import ForbiddenError, NotFoundError, TransitionError
from scopes.selectors import authenticate_key
from tests.conftest import TEAM, Player, make_agent
from tests.governance.queueing import desk, queue_note, set_review

__all__ = ["desk"]

pytestmark = pytest.mark.usefixtures("midday")


class TestBlind:
    def test_no_answer_tells_the_verdict_before_the_look_is_given(self, desk):
        cast, ann = desk
        set_review(cast, blind_sample=1)
        proposal = queue_note(cast.agent, "one")
        cast.reviewer.do("reject_proposal", id=proposal, reason="telling")
        beside = queue_note(cast.agent, "one more")
        reads = ("get_proposal", "review_proposal", "preview_proposal")
        writes = ("approve_proposal", "claim_proposal", "undo_decision")
        for action in (*reads, *writes):
            given = {"proposal_id": proposal} if action == "undo_decision" else {"id": proposal}
            with pytest.raises(NotFoundError, match="waits for a second look of yours: give it with review_blindly"):
                ann.call(action, given)
        assert [each["id"] for each in ann.do("list_proposals")["proposals"]] == [beside]
        assert ann.do("list_proposals", queue="rejected")["proposals"] == []
        assert {each["queue"]: each["count"] for each in ann.do("proposal_counts")["queues"]}["rejected"] == 0
        source = ann.do("review_proposal", id=beside)["source"]
        assert (source["recent"], source["rejected"]) == ([], 0)
        told = [each["action"] for each in ann.do("list_audit", domain_id=TEAM)["entries"] if each["proposal_id"]]
        assert "reject_proposal" not in told
        entry = AuditEntry.objects.get(action="reject_proposal", outcome="allowed")
        with pytest.raises(NotFoundError):
            ann.call("get_audit_entry", id=str(entry.pk))
        for player in (cast.reviewer, cast.agent):
            assert player.do("get_proposal", id=proposal)["state"] == "rejected", "who decided or proposed sees it"
        assert cast.operator.do("get_audit_entry", id=str(entry.pk))["action"] == "reject_proposal"
        ann.do("review_blindly", id=proposal, verdict="approve", reason="fine")
        assert ann.do("get_proposal", id=proposal)["decisions"][0]["reason"] == "telling"
        assert ann.do("get_audit_entry", id=str(entry.pk))["action"] == "reject_proposal"

    def test_a_bulk_that_is_undone_names_what_waits_for_a_look(self, desk):
        cast, ann = desk
        first, second = queue_note(cast.agent, "one"), queue_note(cast.agent, "two")
        set_review(cast, blind_sample=1)
        given = [{"id": each, "revision": 1} for each in (first, second)]
        bulk = cast.reviewer.do("decide_proposals", verdict="reject", proposals=given, reason="r")
        ann.do("review_blindly", id=first, verdict="reject", reason="r")
        undone = ann.do("undo_decision", request_id=bulk["request_id"], reason="wrong")
        assert {each["id"]: each["outcome"] for each in undone["outcomes"]} == {first: "done", second: "not_found"}
        assert "second look of yours" in undone["outcomes"][1]["message"]

    def test_nobody_is_asked_about_what_their_own_key_proposed(self, desk):
        cast, ann = desk
        set_review(cast, blind_sample=1)
        key = cast.operator.do("create_principal", name="anns", domain_id=TEAM, owner="ann")["api_key"]
        proposal = Player("anns", authenticate_key(key), key).do("note", note="x")["proposal"]["id"]
        cast.reviewer.do("reject_proposal", id=proposal, reason="r")
        assert ann.do("list_blind_reviews")["cases"] == []
        assert ann.do("get_proposal", id=proposal)["state"] == "rejected", "and so it is not hidden for ever"

    def test_it_works(self, desk):
        cast, ann = desk
        set_review(cast, blind_sample=1)
        approved, rejected = queue_note(cast.agent, "good"), queue_note(cast.agent, "bad")
        cast.reviewer.do("approve_proposal", id=approved)
        cast.reviewer.do("reject_proposal", id=rejected, reason="not ours")
        cases = ann.do("list_blind_reviews")["cases"]
        assert [(case["id"], case["input"]["note"]) for case in cases] == [(rejected, "bad"), (approved, "good")]
        assert not {"state", "decisions", "decided_at"} & set(cases[0])
        first = ann.do("review_blindly", id=approved, verdict="approve", reason="fine")
        second = ann.do("review_blindly", id=rejected, verdict="approve", reason="fine too")
        assert (first["agrees"], second["agrees"], second["decided"], second["reason"]) == (
            True,
            False,
            "rejected",
            "not ours",
        )
        stats = ann.do("review_stats")
        assert (stats["looked_at_twice"], stats["agreed"]) == (2, 1)
        assert {row.state for row in Proposal.objects.all()} == {"approved", "rejected"}
        assert ann.do("list_blind_reviews")["cases"] == []

    def test_who_decided_or_proposed_does_not_look_again(self, desk):
        cast, _ = desk
        set_review(cast, blind_sample=1)
        owned = make_agent("owned", owner="ann")
        proposal = queue_note(owned)
        cast.reviewer.do("reject_proposal", id=proposal, reason="no")
        assert cast.reviewer.do("list_blind_reviews")["cases"] == []
        with pytest.raises(TransitionError, match="does not wait"):
            cast.reviewer.call("review_blindly", id=proposal, verdict="reject", reason="r")
        with pytest.raises(ForbiddenError, match="own key"):
            desk[1].call("review_blindly", id=proposal, verdict="reject", reason="r")
        assert not BlindReview.objects.exists()

    def test_without_a_sample_nothing_waits(self, desk):
        cast, ann = desk
        cast.reviewer.do("reject_proposal", id=queue_note(cast.agent), reason="no")
        assert ann.do("list_blind_reviews")["cases"] == []

    def test_about_that_share_is_looked_at(self, desk):
        cast, ann = desk
        set_review(cast, blind_sample=0.5)
        for number in range(40):
            cast.reviewer.do("reject_proposal", id=queue_note(cast.agent, "x" * (number + 1)), reason="no")
        assert 3 <= len(ann.do("list_blind_reviews", limit=100)["cases"]) <= 37

    def test_what_was_taken_back_waits_no_more(self, desk):
        cast, ann = desk
        set_review(cast, blind_sample=1)
        proposal = queue_note(cast.agent)
        cast.reviewer.do("reject_proposal", id=proposal, reason="no")
        cast.reviewer.do("undo_decision", proposal_id=proposal)
        assert ann.do("list_blind_reviews")["cases"] == []
