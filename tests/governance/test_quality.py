"""How reviewing goes: figures, second looks, rules drafted from decisions, proposals that expire."""

from __future__ import annotations

from datetime import timedelta

import pytest

from governance import jobs, selectors
from governance.models import AuditEntry, BlindReview, Proposal, ProposalStep
from kernel import actions, clock
from kernel.errors import ForbiddenError, InvalidInputError, NotFoundError, StaleError, TransitionError
from scopes.selectors import authenticate_key
from tests.conftest import TEAM, Player, a_turn, make_agent, make_person
from tests.governance.made import made
from tests.governance.queueing import later, queue_note, review, row_of, set_review
from tests.governance.test_bulk_and_undo import note_back


@pytest.fixture
def desk(cast, monkeypatch):
    """The cast, with `note` queued by policy and reversible, and a second reviewer `ann`."""
    monkeypatch.setitem(actions._registry, "note", made(reverse=note_back))
    set_review(cast)
    return cast, make_person("ann", TEAM)


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
        ann.do("undo_decision", proposal_id=proposal, reason="wrong")
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
        assert 8 <= len(ann.do("list_blind_reviews", limit=100)["cases"]) <= 32

    def test_what_was_taken_back_waits_no_more(self, desk):
        cast, ann = desk
        set_review(cast, blind_sample=1)
        proposal = queue_note(cast.agent)
        cast.reviewer.do("reject_proposal", id=proposal, reason="no")
        cast.reviewer.do("undo_decision", proposal_id=proposal)
        assert ann.do("list_blind_reviews")["cases"] == []


class TestDraftedRules:
    def test_it_works(self, desk):
        cast, _ = desk
        proposal = queue_note(cast.agent)
        answer = cast.reviewer.do("draft_rule", id=proposal, reason="always fine")
        assert answer["rule"] == {
            "name": "agent: note in *",
            "actions": ["note"],
            "scopes": ["*"],
            "actors": ["agent"],
        }
        assert (answer["proposal"]["action"], answer["proposal"]["rule"], answer["proposal"]["risk"]) == (
            "set_policy",
            "draft",
            "high",
        )
        assert cast.agent.call("note", note="second").status == 202
        cast.operator.do("approve_proposal", id=answer["proposal"]["id"], reason="agreed")
        assert cast.agent.call("note", note="third").status == 200
        assert AuditEntry.objects.latest("id").rule == "review.allow:agent: note in *"
        assert make_agent("other").call("note", note="fourth").status == 202
        policy = cast.operator.do("get_policy", domain_id=TEAM)["document"]["review"]
        assert (policy["queue"][0]["name"], len(policy["allow"])) == ("wait", 1)

    def test_a_draft_shows_its_fields_and_what_it_would_have_decided(self, desk):
        cast, ann = desk
        draft = cast.reviewer.do("draft_rule", id=queue_note(cast.agent), reason="always fine")["proposal"]
        assert (draft["subject"], draft["summary"]) == ("Policy of team", "sets review.queue, review.allow")
        shown = ann.do("review_proposal", id=draft["id"])["presentation"]
        assert [(row["id"], [field["name"] for field in row["fields"]]) for row in shown["rows"]] == [
            ("review", ["allow"])
        ]
        assert shown["rows"][0]["fields"][0]["after"][0]["actors"] == ["agent"]
        told = [text["text"] for text in shown["evidence"]]
        assert "it would decide 1 otherwise" in told[0]
        assert told[1] == "1 × note: queue (review.queue:wait) becomes allow (review.allow:agent: note in *)"

    def test_whoever_may_not_change_policy_does_not_approve_it(self, desk):
        cast, ann = desk
        draft = cast.reviewer.do("draft_rule", id=queue_note(cast.agent), reason="fine")["proposal"]["id"]
        with pytest.raises(ForbiddenError, match="'operate'"):
            ann.call("approve_proposal", id=draft)
        with pytest.raises(ForbiddenError, match="Nobody approves"):
            cast.reviewer.call("approve_proposal", id=draft)
        assert row_of(draft).state == "open"

    def test_nor_takes_it_back(self, desk):
        cast, ann = desk
        draft = cast.reviewer.do("draft_rule", id=queue_note(cast.agent), reason="fine")["proposal"]["id"]
        cast.operator.do("approve_proposal", id=draft)
        with pytest.raises(ForbiddenError, match="'operate'"):
            ann.call("undo_decision", proposal_id=draft, reason="I would rather not")
        assert cast.agent.call("note", note="second").status == 200
        cast.operator.do("undo_decision", proposal_id=draft, reason="too early")
        assert cast.agent.call("note", note="third").status == 202

    def test_a_draft_made_before_the_policy_changed_does_not_undo_the_change(self, desk):
        cast, _ = desk
        drafts = [
            cast.reviewer.do("draft_rule", id=queue_note(agent), reason="fine")["proposal"]["id"]
            for agent in (cast.agent, make_agent("other"))
        ]
        cast.operator.do("approve_proposal", id=drafts[0])
        with pytest.raises(StaleError, match="changed since"):
            cast.operator.call("approve_proposal", id=drafts[1])
        allowed = cast.operator.do("get_policy", domain_id=TEAM)["document"]["review"]["allow"]
        assert [rule["actors"] for rule in allowed] == [["agent"]]

    def test_who_reviews_a_part_reads_no_more_of_the_policy_through_a_draft(self, desk):
        cast, _ = desk
        secret = {"guidelines": {"project:secret": "Nobody may know of the merger."}}
        rule = {"name": "turns", "actions": ["commit_turn"]}
        cast.operator.do("set_policy", domain_id=TEAM, document={"review": {"queue": [rule], **secret}}, reason="r")
        proposal = cast.agent.do("commit_turn", a_turn())["proposal"]["id"]
        part = make_person("sessions", TEAM, "session:*")
        draft = part.do("draft_rule", id=proposal, reason="fine")["proposal"]["id"]
        cast.operator.do("comment_on_proposal", id=draft, text="I look at it.")
        own = part.do("get_proposal", id=draft)
        assert (own["input"], own["changes"], own["withheld"]) == ({}, [], True)
        assert "merger" not in str(own)
        assert part.do("list_proposals", text="merger")["proposals"] == []
        assert len(cast.reviewer.do("list_proposals", text="merger")["proposals"]) == 1
        whole = cast.reviewer.do("get_proposal", id=draft)
        assert (whole["withheld"], "merger" in str(whole["input"])) == (False, True)
        edited = {**whole["input"], "reason": "agreed"}
        cast.operator.do("edit_and_approve", id=draft, revision=1, input=edited, reason="agreed")
        assert "merger" not in str(part.do("get_proposal", id=draft))
        assert "merger" not in str(part.do("list_proposals", domain_id=TEAM))

    def test_the_same_draft_again_is_the_same_proposal(self, desk):
        cast, _ = desk
        proposal = queue_note(cast.agent)
        first = cast.reviewer.do("draft_rule", id=proposal, reason="fine")
        again = cast.reviewer.do("draft_rule", id=proposal, reason="fine")
        assert (again["proposal"]["id"], again["deduplicated"]) == (first["proposal"]["id"], True)

    def test_any_session_of_the_agent_is_meant(self, cast):
        cast.operator.do(
            "set_policy",
            domain_id=TEAM,
            document={"review": {"queue": [{"name": "turns", "actions": ["commit_turn"]}]}},
            reason="r",
        )
        proposal = cast.agent.do("commit_turn", a_turn())["proposal"]["id"]
        answer = cast.reviewer.do("draft_rule", id=proposal, reason="fine")
        assert answer["rule"]["scopes"] == ["session:*"]
        cast.operator.do("approve_proposal", id=answer["proposal"]["id"])
        assert cast.agent.call("commit_turn", a_turn(session_id="another")).status == 200

    def test_of_a_draft_or_what_a_person_proposed_there_is_none(self, desk):
        cast, _ = desk
        draft = cast.reviewer.do("draft_rule", id=queue_note(cast.agent), reason="fine")["proposal"]["id"]
        with pytest.raises(InvalidInputError, match="held back of an agent"):
            cast.operator.call("draft_rule", id=draft, reason="r")

    def test_what_is_allowed_already_is_said(self, desk):
        cast, _ = desk
        waiting = queue_note(cast.agent)
        draft = cast.reviewer.do("draft_rule", id=waiting, reason="fine")["proposal"]["id"]
        cast.operator.do("approve_proposal", id=draft)
        with pytest.raises(InvalidInputError, match="allowed by policy already"):
            cast.reviewer.call("draft_rule", id=waiting, reason="fine")

    @pytest.mark.parametrize(
        ("rule", "waits"),
        [
            ({"scopes": ["*"]}, False),
            ({"scopes": ["project:*"]}, True),
            ({"actions": ["no*"]}, False),
            ({"actions": ["commit_turn"]}, True),
            ({"actors": ["other"]}, True),
        ],
    )
    def test_every_field_of_an_exception_must_match(self, desk, rule, waits):
        cast, _ = desk
        allow = {"name": "fine", "actions": ["note"], "actors": ["agent"], **rule}
        set_review(cast, allow=[allow])
        assert (cast.agent.call("note", note="x").status == 202) is waits


class TestExpiry:
    def test_it_works(self, desk):
        cast, _ = desk
        set_review(cast, expire_days=10)
        old = queue_note(cast.agent, "old")
        with later(days=6):
            touched, fresh = queue_note(cast.agent, "touched"), queue_note(cast.agent, "fresh")
            cast.reviewer.do("request_changes", id=touched, reason="which?")
        with later(days=12):
            jobs.expire_proposals()
            assert [row_of(pk).state for pk in (old, touched, fresh)] == ["expired", "changes_requested", "open"]
            assert ProposalStep.objects.get(kind="expired").text == "nobody touched it for 10 days"
            with pytest.raises(TransitionError, match="already expired"):
                cast.reviewer.call("approve_proposal", id=old)
            assert cast.agent.call("note", note="old").status == 202
        entry = AuditEntry.objects.get(action="expire_proposals")
        assert (entry.actor_name, [change["id"] for change in entry.changes]) == ("worker", [old])

    def test_what_sleeps_does_not_expire_and_zero_means_never(self, desk):
        cast, _ = desk
        set_review(cast, expire_days=10)
        asleep = queue_note(cast.agent)
        until = clock.now() + timedelta(days=30)
        cast.reviewer.do("snooze_proposal", id=asleep, until=until.isoformat())
        with later(days=20):
            jobs.expire_proposals()
        set_review(cast, expire_days=0)
        with later(days=400):
            jobs.expire_proposals()
        assert row_of(asleep).state == "open"

    def test_each_domain_by_its_own_policy(self, desk):
        cast, _ = desk
        stranger = make_agent("far", "elsewhere")
        cast.operator.do("set_policy", domain_id="elsewhere", document=review(expire_days=1), reason="r")
        here, there = queue_note(cast.agent), stranger.do("note", note="x", domain_id="elsewhere")["proposal"]["id"]
        with later(days=5):
            assert cast.operator.do("expire_proposals")["expired"] == 1
        assert [row_of(pk).state for pk in (here, there)] == ["open", "expired"]
