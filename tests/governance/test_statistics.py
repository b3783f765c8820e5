"""The figures of reviewing: what was decided, undone and how fast, of the scopes that one reviews."""

from __future__ import annotations

import pytest

from governance import selectors
from governance.models import AuditEntry
from kernel.errors import InvalidInputError
from tests.conftest import TEAM, make_agent, make_person
from tests.governance.queueing import desk, later, queue_note, row_of, set_review

__all__ = ["desk"]

pytestmark = pytest.mark.usefixtures("midday")


class TestStats:
    def test_it_works(self, desk):
        cast, ann = desk
        other = make_agent("other")
        ids = [queue_note(cast.agent, word) for word in ("one", "two")] + [queue_note(other, "three")]
        with later(minutes=10):
            cast.reviewer.do("approve_proposal", id=ids[0])
            cast.reviewer.do("reject_proposal", id=ids[1], reason="no")
            ann.do("request_changes", id=ids[2], reason="which?")
            ann.do("undo_decision", proposal_id=ids[0], reason="wrong")
            stats = cast.reviewer.do("review_stats", days=2)
        kinds = ("approved", "rejected", "changes_requested", "undone")
        assert tuple(stats["days"][-1][kind] for kind in kinds) == (0, 1, 1, 1)
        by = {tally["name"]: tally for tally in stats["reviewers"]}
        assert (by["reviewer"]["approve_rate"], by["reviewer"]["reverted_rate"]) == (0.0, 1.0)
        assert (by["ann"]["changes_requested"], by["ann"]["approve_rate"], by["ann"]["median_seconds"]) == (
            1,
            None,
            None,
        )
        assert 599 < by["reviewer"]["median_seconds"] < 700
        agents = {tally["name"]: (tally["approved"], tally["rejected"]) for tally in stats["agents"]}
        assert agents == {"agent": (0, 1), "other": (0, 0)}
        assert stats["mine"]["name"] == "reviewer"
        assert stats["mine"]["rejected"] == 1
        assert (stats["counted"], stats["at_least"], len(stats["days"])) == (4, False, 2)

    @pytest.mark.parametrize("verdict", ["approve_proposal", "reject_proposal", "request_changes"])
    def test_what_was_undone_counts_as_undone_only(self, desk, verdict):
        cast, ann = desk
        proposal = queue_note(cast.agent)
        ann.do(verdict, id=proposal, reason="so")
        cast.reviewer.do("undo_decision", proposal_id=proposal, reason="wrong")
        stats = ann.do("review_stats")
        tally = stats["mine"]
        assert (tally["approved"], tally["rejected"], tally["changes_requested"], tally["undone"]) == (0, 0, 0, 1)
        assert (tally["approve_rate"], tally["median_seconds"]) == (None, None)
        assert tally["reverted"] == (verdict == "approve_proposal")
        assert [day.undone for day in selectors.decided_by_day(ann.ctx())][-1] == 1
        assert selectors.own_day(ann.ctx()).counts == [("undone", 1)]
        ann.do("reject_proposal", id=proposal, reason="after all")
        again = ann.do("review_stats")["mine"]
        assert (again["rejected"], again["undone"]) == (1, 1), "the decision that stands counts beside it"

    def test_approvals_that_stood_together_are_undone_together(self, desk):
        cast, ann = desk
        set_review(cast, two_person=[{"name": "both", "actions": ["note"]}])
        proposal = queue_note(cast.agent)
        ann.do("approve_proposal", id=proposal)
        cast.reviewer.do("approve_proposal", id=proposal)
        assert (ann.do("review_stats")["overall"]["approved"], row_of(proposal).state) == (2, "approved")
        cast.reviewer.do("undo_decision", proposal_id=proposal, reason="wrong")
        overall = ann.do("review_stats")["overall"]
        assert (overall["approved"], overall["undone"], overall["reverted_rate"]) == (0, 2, 1.0)

    def test_a_reverted_change_undoes_its_approval(self, desk):
        cast, ann = desk
        proposal = queue_note(cast.agent)
        ann.do("approve_proposal", id=proposal)
        entry = AuditEntry.objects.get(action="note", outcome="allowed")
        ann.do("revert_change", audit_entry_id=str(entry.pk), reason="wrong")
        overall = ann.do("review_stats")["overall"]
        assert (overall["approved"], overall["undone"]) == (0, 1)

    def test_only_of_scopes_that_one_reviews(self, desk):
        cast, _ = desk
        cast.reviewer.do("reject_proposal", id=queue_note(cast.agent), reason="no")
        for player in (make_person("narrow", TEAM, "project:p"), make_person("far", "elsewhere"), cast.agent):
            stats = player.do("review_stats")
            assert (stats["counted"], stats["reviewers"], stats["agents"]) == (0, [], [])

    def test_only_of_the_span(self, desk):
        cast, _ = desk
        cast.reviewer.do("reject_proposal", id=queue_note(cast.agent), reason="no")
        with later(days=8):
            assert cast.reviewer.do("review_stats", days=7)["counted"] == 0
            assert cast.reviewer.do("review_stats", days=30)["counted"] == 1

    @pytest.mark.parametrize("days", [0, 367, "7", None])
    def test_nonsense_is_refused(self, desk, days):
        with pytest.raises(InvalidInputError):
            desk[0].reviewer.call("review_stats", days=days)
