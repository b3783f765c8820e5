"""Rules drafted from decisions: what they would decide, who approves them and what they let pass."""

from __future__ import annotations

import pytest

from governance.models import AuditEntry, PolicyVersion
from kernel.errors import ForbiddenError, InvalidInputError, StaleError
from tests.conftest import TEAM, a_turn, make_agent, make_person
from tests.governance.queueing import desk, queue_note, row_of, set_review
from tests.guards.write_guard import unguarded

__all__ = ["desk"]

pytestmark = pytest.mark.usefixtures("midday")


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

    def test_an_old_rule_on_an_action_that_is_gone_does_not_stand_in_its_way(self, desk):
        cast, ann = desk
        queue = [{"name": "wait", "actions": ["gone", "note"]}, {"name": "old", "actions": ["gone"]}]
        with unguarded():
            PolicyVersion.objects.create(
                domain_id=TEAM, number=99, source="action", document={"review": {"queue": queue}}, reason="r"
            )
        draft = cast.reviewer.do("draft_rule", id=queue_note(cast.agent), reason="fine")["proposal"]["id"]
        assert ann.do("review_proposal", id=draft)["presentation"]["evidence"]
        cast.operator.do("approve_proposal", id=draft, reason="agreed")
        assert cast.agent.call("note", note="second").status == 200

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
