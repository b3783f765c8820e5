"""Why a proposal waits is told from the policy that held it, and what today's would say only where that differs."""

from __future__ import annotations

from typing import Any

import pytest

from governance.models import Proposal
from kernel import actions
from tests.conftest import TEAM, Cast, make_person
from tests.governance.desk import item, make_desk, propose, statements, text_of
from tests.governance.made import made
from tests.governance.queueing import queue_note, review, set_review
from tests.guards.write_guard import unguarded

HELD = "Rule 'wait': calls of note by agent wait for a person."


@pytest.fixture
def waiting(cast, monkeypatch) -> tuple[Cast, str]:
    monkeypatch.setitem(actions._registry, "note", made())
    set_review(cast)
    return cast, queue_note(cast.agent)


def why(cast: Cast, proposal: str) -> tuple[str, str]:
    told = cast.reviewer.do("review_proposal", id=proposal)
    return told["why"], told["why_today"]


def put(cast: Cast, **section: Any) -> None:
    cast.operator.do("set_policy", domain_id=TEAM, document={"review": section}, reason="r")


def test_it_works(waiting):
    cast, proposal = waiting
    assert why(cast, proposal) == (HELD, "")
    put(cast)
    told, today = why(cast, proposal)
    assert told == HELD
    assert today == (
        "Today it would be allowed, by policy team/v2. "
        "Allowed: the right is held, and no rule of review.queue matches."
    )


def test_a_rule_of_the_same_name_that_reads_otherwise_is_told_too(waiting):
    cast, proposal = waiting
    put(cast, queue=[{"name": "wait", "actions": ["note", "commit_*"]}])
    told, today = why(cast, proposal)
    assert told == HELD
    assert today.startswith("Today it would wait too, by policy team/v2.")
    assert "commit_*" in today


def test_another_rule_that_holds_it_today_is_named(waiting):
    cast, proposal = waiting
    put(cast, queue=[{"name": "all", "actions": ["*"]}])
    told, today = why(cast, proposal)
    assert told == HELD
    assert "'all'" in today


@pytest.mark.parametrize("other", [{"burst_per_hour": 7}, {"guidelines": {"*": "Be kind."}}])
def test_another_policy_that_says_the_same_of_it_is_not_told(waiting, other):
    cast, proposal = waiting
    put(cast, **review()["review"], **other)
    assert why(cast, proposal) == (HELD, "")


def test_a_version_that_is_not_stored_is_not_guessed(waiting):
    cast, proposal = waiting
    with unguarded():
        Proposal.objects.filter(pk=proposal).update(policy_version="file:0123abcd")
    told, _ = why(cast, proposal)
    assert told == "Held by review.queue:wait of policy file:0123abcd, which is not stored here any more."


def test_a_second_look_is_told_the_rule_of_then(waiting):
    cast, proposal = waiting
    set_review(cast, blind_sample=1.0)
    cast.reviewer.do("reject_proposal", id=proposal, reason="no")
    put(cast)
    assert why(cast, proposal)[0] == HELD
    cases = make_person("ann", TEAM).do("list_blind_reviews")["cases"]
    assert [case["why"] for case in cases] == [HELD]


def test_the_page_says_both(db):
    desk = make_desk()
    proposal = propose(desk.cast.agent, "The port is 5432")
    desk.cast.operator.do("set_policy", domain_id=TEAM, document={}, reason="nobody looks")
    page = text_of(desk.ann, item(proposal))
    assert "Rule &#x27;projects&#x27;" in page
    assert "Today it would be allowed, by policy team/v2." in page
    assert statements(desk.ann, item(proposal)) < 20
