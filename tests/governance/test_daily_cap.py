"""The daily cap is enforced wherever a person decides, in bulk too, and two decisions at once do not both take the last
place."""

from __future__ import annotations

import pytest

from governance.models import Decision
from kernel import actions
from kernel.errors import QuotaExceededError
from tests.conftest import TEAM
from tests.governance.made import made, note_back
from tests.governance.queueing import later, queue_note, review, row_of, set_review
from tests.governance.test_bulk_and_undo import choices

pytestmark = pytest.mark.usefixtures("midday")


@pytest.fixture
def team(cast, monkeypatch):
    """The cast with `note` queued, and two decisions a day for each person."""
    monkeypatch.setitem(actions._registry, "note", made(reverse=note_back))
    set_review(cast, daily_cap=2)
    return cast


def used_up(cast) -> None:
    for word in ("one", "two"):
        cast.reviewer.do("reject_proposal", id=queue_note(cast.agent, word), reason="r")


def test_it_works(team):
    used_up(team)
    waiting = queue_note(team.agent, "three")
    with pytest.raises(QuotaExceededError, match=r"go on after midnight UTC.*or leave it to another reviewer") as over:
        team.reviewer.do("approve_proposal", id=waiting)
    assert 0 < (over.value.retry_after or 0) <= 86_400
    assert (over.value.extra["quota"], over.value.extra["limit"]) == ("daily_cap", 2)
    assert (row_of(waiting).state, row_of(waiting).last_error) == ("open", "")
    with later(days=1):
        team.reviewer.do("approve_proposal", id=waiting)
    assert row_of(waiting).state == "approved"


@pytest.mark.parametrize(
    ("action", "fields"),
    [
        ("approve_proposal", {}),
        ("reject_proposal", {"reason": "r"}),
        ("request_changes", {"reason": "r"}),
        ("edit_and_approve", {"reason": "r", "revision": 1, "input": {"domain_id": TEAM, "note": "edited"}}),
    ],
)
def test_every_verdict_is_refused(team, action, fields):
    used_up(team)
    waiting = queue_note(team.agent, "three")
    with pytest.raises(QuotaExceededError):
        team.reviewer.do(action, id=waiting, **fields)
    assert row_of(waiting).state == "open"


def test_a_bulk_stops_where_the_day_is_full(team):
    waiting = [queue_note(team.agent, f"note {number}") for number in range(4)]
    answer = team.reviewer.do("decide_proposals", verdict="reject", proposals=choices(*waiting), reason="r")
    assert [each["outcome"] for each in answer["outcomes"]] == ["done", "done", "over_daily_cap", "over_daily_cap"]
    assert answer["summary"] == "2 rejected, 2 over the daily cap"
    assert "after midnight UTC" in answer["outcomes"][2]["message"]


def test_taking_back_is_no_decision_and_gives_nothing_back(team):
    used_up(team)
    rejected = Decision.objects.latest("id").proposal_id
    team.reviewer.do("undo_decision", proposal_id=str(rejected))
    with pytest.raises(QuotaExceededError):
        team.reviewer.do("approve_proposal", id=str(rejected))


def test_it_is_each_persons_own_and_only_in_the_domain_that_says_so(team):
    used_up(team)
    team.operator.do("reject_proposal", id=queue_note(team.agent, "three"), reason="another person")
    set_review(team, daily_cap=0)
    team.reviewer.do("reject_proposal", id=queue_note(team.agent, "four"), reason="no limit any more")


def test_the_installation_sets_it_for_domains_that_do_not(team):
    team.operator.do("set_policy", document={"review": {"daily_cap": 1}}, reason="rest")
    team.operator.do("set_policy", domain_id=TEAM, document=review(), reason="no word of its own")
    team.reviewer.do("reject_proposal", id=queue_note(team.agent, "one"), reason="r")
    with pytest.raises(QuotaExceededError, match="decide 1 times a day in domain team"):
        team.reviewer.do("reject_proposal", id=queue_note(team.agent, "two"), reason="r")
