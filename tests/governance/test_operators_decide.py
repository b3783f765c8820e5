"""What only operators may do is decided on by who operates the domain too: a drafted rule, another's change of policy."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from django.contrib.auth import get_user_model

from governance.models import Proposal
from kernel.errors import ForbiddenError, InvalidInputError, NotFoundError
from scopes.selectors import identify_person
from tests.clients import sign_in
from tests.conftest import ELSEWHERE, TEAM, Cast, Player, make_person
from tests.governance.desk import Desk, decide, item, make_desk, propose, queue, text_of


def operating(cast: Cast, name: str, domain_id: str = TEAM, pattern: str = "*") -> Player:
    """Someone who operates there, and reviews nothing."""
    player = make_person(name, is_staff=True)
    cast.operator.do("assign_reviewer", user=name, domain_id=domain_id, pattern=pattern, role="operator")
    return replace(player, identity=identify_person(get_user_model().objects.get(username=name)))


@pytest.fixture
def desk(db) -> Desk:
    return make_desk()


@pytest.fixture
def waiting(desk: Desk) -> str:
    """A proposal of the agent that a rule holds."""
    return propose(desk.cast.agent, "The port is 5432")


@pytest.fixture
def draft(desk: Desk, waiting: str) -> str:
    """A rule that the reviewer drafted from it."""
    made = desk.cast.reviewer.do("draft_rule", id=waiting, reason="it knows the shop")
    return str(made["proposal"]["id"])


def listed(player: Player, **filters: Any) -> set[str]:
    return {row["id"] for row in player.do("list_proposals", **filters)["proposals"]}


def test_it_works(desk, waiting, draft):
    ops = operating(desk.cast, "ops")
    assert listed(ops, queue="open") == {draft}, "what others decide on stays theirs"
    assert ops.do("proposal_counts")["remaining"] == 1
    shown = ops.do("review_proposal", id=draft)
    assert {step["step"] for step in shown["may"] if step["allowed"]} >= {"approve", "reject", "edit_and_approve"}
    assert [row["id"] for row in shown["presentation"]["rows"]] == ["review"]
    assert ops.do("preview_proposal", id=draft)["possible"]
    done = ops.do("approve_proposal", id=draft, revision=1, reason="agreed")
    assert done["proposal"]["state"] == "approved"
    again = propose_again(desk)
    assert again == 200, "the rule is in force"
    ops.do("undo_decision", proposal_id=draft, reason="too early")
    assert propose_again(desk) == 202


def propose_again(desk: Desk) -> int:
    place = {"type": "project", "id": "shop"}
    turn = {"domain_id": TEAM, "session_id": f"s{Proposal.objects.count()}", "turn_events": {}}
    turn |= {"scope_context": {"read": [place], "default_write": place}}
    turn["turn_events"] = {"messages": [{"role": "user", "content": f"Hello {Proposal.objects.count()}"}]}
    return desk.cast.agent.call("commit_turn", turn).status


@pytest.mark.parametrize("act", ["reject_proposal", "request_changes"])
def test_it_can_be_refused_and_talked_about(desk, draft, act):
    ops = operating(desk.cast, "ops")
    ops.do("claim_proposal", id=draft)
    told = desk.cast.reviewer.do("comment_on_proposal", id=draft, text="What do you think, @ops?")
    assert told["mentioned"] == ["ops"]
    assert ops.do(act, id=draft, revision=1, reason="not yet")["proposal"]["state"] in (
        "rejected",
        "changes_requested",
    )


def test_an_edit_stays_in_the_domain(desk, draft):
    ops = operating(desk.cast, "ops")
    given = ops.do("get_proposal", id=draft)["input"]
    assert given["document"], "who operates reads the policy"
    with pytest.raises((InvalidInputError, NotFoundError, ForbiddenError)):
        ops.do("edit_and_approve", id=draft, revision=1, input={**given, "domain_id": ELSEWHERE}, reason="r")
    edited = {**given, "reason": "agreed, for a while"}
    assert (
        ops.do("edit_and_approve", id=draft, revision=1, input=edited, reason="r")["proposal"]["state"] == "approved"
    )


@pytest.mark.parametrize(("domain_id", "pattern"), [(ELSEWHERE, "*"), (TEAM, "project:*")])
def test_who_operates_elsewhere_or_a_part_sees_nothing_of_it(desk, draft, domain_id, pattern):
    ops = operating(desk.cast, "ops", domain_id, pattern)
    assert listed(ops) == set()
    for call in ("get_proposal", "review_proposal", "approve_proposal", "claim_proposal", "undo_decision"):
        with pytest.raises(NotFoundError):
            ops.call(call, {"proposal_id": draft} if call == "undo_decision" else {"id": draft})


def test_what_reviewers_decide_on_stays_theirs(desk, waiting):
    ops = operating(desk.cast, "ops")
    for call in ("get_proposal", "review_proposal", "approve_proposal", "reject_proposal"):
        with pytest.raises(NotFoundError):
            ops.call(call, {"id": waiting, "reason": "r"} if call == "reject_proposal" else {"id": waiting})
    with pytest.raises(NotFoundError):
        ops.call("draft_rule", id=waiting, reason="r")


def test_nobody_approves_their_own_draft(desk, waiting):
    both = operating(desk.cast, "both")
    desk.cast.operator.do("assign_reviewer", user="both", domain_id=TEAM)
    both = replace(both, identity=identify_person(get_user_model().objects.get(username="both")))
    draft = both.do("draft_rule", id=waiting, reason="fine")["proposal"]["id"]
    with pytest.raises(ForbiddenError, match="Nobody approves"):
        both.call("approve_proposal", id=draft)
    assert operating(desk.cast, "ops").do("approve_proposal", id=draft)["proposal"]["state"] == "approved"


def test_who_may_not_change_policy_still_does_not_approve_it(desk, draft):
    other = make_person("other", TEAM)
    with pytest.raises(ForbiddenError, match="'operate'"):
        other.call("approve_proposal", id=draft)
    assert other.do("reject_proposal", id=draft, reason="no")["proposal"]["state"] == "rejected"


def test_two_operators_stand_for_a_change_of_policy_without_a_reviewer(db):
    desk = make_desk(two_person=[{"name": "both", "actions": ["set_policy"]}])
    first, second = operating(desk.cast, "first"), operating(desk.cast, "second")
    document = first.do("get_policy", domain_id=TEAM)["document"]
    document = {"review": {**document["review"], "burst_per_hour": 9}}
    queued = first.do("set_policy", domain_id=TEAM, document=document, reason="fewer")
    assert queued["status"] == "queued"
    proposal = queued["proposal"]["id"]
    with pytest.raises(ForbiddenError, match="Nobody approves"):
        first.call("approve_proposal", id=proposal)
    assert second.do("approve_proposal", id=proposal)["proposal"]["state"] == "approved"
    assert first.do("get_policy", domain_id=TEAM)["document"]["review"]["burst_per_hour"] == 9


def test_on_the_screens(desk, waiting, draft):
    operating(desk.cast, "ops")
    browser = sign_in("ops")
    page = text_of(browser, queue("?queue=open"))
    assert item(draft) in page
    assert item(waiting) not in page
    assert browser.get(item(waiting)).status_code == 302, "as of one that is not there"
    decide(browser, draft, "approve_proposal", reason="agreed")
    assert Proposal.objects.get(pk=draft).state == "approved"
    assert 'name="undo"' in text_of(browser, item(draft)) or "Undo" in text_of(browser, item(draft))


def test_a_second_look_at_a_draft_is_theirs_to_give(db):
    desk = make_desk(blind_sample=1)
    waiting = propose(desk.cast.agent, "The port is 5432")
    draft = str(desk.cast.reviewer.do("draft_rule", id=waiting, reason="fine")["proposal"]["id"])
    make_person("other", TEAM).do("reject_proposal", id=draft, reason="no")
    ops = operating(desk.cast, "ops")
    with pytest.raises(NotFoundError):
        ops.do("get_proposal", id=draft)
    assert [case["id"] for case in ops.do("list_blind_reviews")["cases"]] == [draft]
    ops.do("review_blindly", id=draft, verdict="reject", reason="nor I")
    assert ops.do("get_proposal", id=draft)["state"] == "rejected"
