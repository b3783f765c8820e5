"""What two persons must stand for, one alone does not take back either."""

from __future__ import annotations

import pytest

from governance.models import AuditEntry
from kernel.errors import ForbiddenError
from tests.conftest import TEAM, Cast
from tests.governance.made import note_of
from tests.governance.queueing import desk, later, queue_note, set_review

__all__ = ["desk"]

pytestmark = pytest.mark.usefixtures("midday")

BOTH = [{"name": "both", "actions": ["set_policy"]}]


def newest(action: str) -> str:
    return str(AuditEntry.objects.filter(action=action, outcome="allowed").latest("id").pk)


def own_document(cast: Cast) -> dict:
    document: dict = cast.operator.do("get_policy", domain_id=TEAM)["document"]["review"]
    return document


def test_not_the_rule_itself(desk):
    cast, _ = desk
    set_review(cast, two_person=BOTH)
    assert cast.operator.call("set_policy", domain_id=TEAM, document={}, reason="alone").status == 202
    entry = newest("set_policy")
    told = cast.operator.do("get_audit_entry", id=entry)
    assert (told["revertible"], "Two persons stand for set_policy" in told["why_not"]) == (False, True)
    with pytest.raises(ForbiddenError, match="Two persons stand for set_policy"):
        cast.operator.call("revert_change", audit_entry_id=entry, reason="alone")
    assert own_document(cast)["two_person"]


def test_not_what_another_person_approved_too(desk):
    cast, ann = desk
    set_review(cast, two_person=BOTH)
    document = {"review": {"two_person": BOTH, "bulk_cap": 1}}
    tight = cast.operator.do("set_policy", domain_id=TEAM, document=document, reason="tight")["proposal"]["id"]
    ann.do("approve_proposal", id=tight)
    for action, given in (
        ("revert_change", {"audit_entry_id": newest("set_policy")}),
        ("undo_decision", {"proposal_id": tight}),
    ):
        with pytest.raises(ForbiddenError, match="Two persons stand for set_policy"):
            cast.operator.call(action, **given, reason="alone")
    assert own_document(cast)["bulk_cap"] == 1


def test_who_approved_last_takes_the_own_word_back_for_a_moment(desk):
    cast, ann = desk
    set_review(cast, two_person=[{"name": "both", "actions": ["note"]}])
    proposal = queue_note(cast.agent)
    cast.reviewer.do("approve_proposal", id=proposal)
    ann.do("approve_proposal", id=proposal)
    with pytest.raises(ForbiddenError, match="Two persons stand for note"):
        cast.reviewer.call("undo_decision", proposal_id=proposal, reason="not mine")
    with later(minutes=11), pytest.raises(ForbiddenError, match="Two persons stand for note"):
        ann.call("undo_decision", proposal_id=proposal, reason="late")
    assert note_of() == "first"
    ann.do("undo_decision", proposal_id=proposal)
    assert note_of() is None


def test_another_action_is_taken_back_as_before(desk):
    cast, _ = desk
    set_review(cast, two_person=BOTH)
    cast.reviewer.do("approve_proposal", id=queue_note(cast.agent))
    cast.reviewer.do("revert_change", audit_entry_id=newest("note"), reason="wrong")
    assert note_of() is None
