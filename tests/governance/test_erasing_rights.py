"""Who may erase, what the others are told, and who reads the receipts."""

from __future__ import annotations

from dataclasses import replace

import pytest

from kernel.errors import ForbiddenError, NotFoundError
from scopes.selectors import authenticate_key
from tests.conftest import TEAM, make_agent, make_person
from tests.governance.erasing import erase, eraser, learned, refused, session_of

__all__ = ["eraser"]

pytestmark = pytest.mark.django_db


def test_the_right_to_erase_is_needed_everywhere_it_reaches(cast):
    item = learned(cast)
    with pytest.raises(ForbiddenError):
        erase(cast.agent, "memory", item["id"])
    narrow = make_agent("narrow", TEAM, pattern="session:*", rights=["read", "write", "erase"])
    assert refused(narrow, "memory", item["id"]).code == "not_found"
    session = session_of(cast.agent)
    told = refused(narrow, "session", session, along=True)
    assert (told.code, item["id"] in told.message, "project" in told.message) == ("conflict", False, False)


def test_strangers_are_told_nothing(cast):
    item = learned(cast)
    assert refused(cast.stranger, "memory", item["id"]).code == "not_found"
    elsewhere = {"domain_id": "elsewhere", "objects": [{"kind": "memory", "id": item["id"]}], "reason": "x"}
    with pytest.raises(NotFoundError):
        cast.stranger.do("erase", elsewhere)


def test_who_may_not_erase_is_told_as_little_of_what_was_erased_as_of_what_never_was(cast, eraser):
    item = learned(cast)
    erase(cast.operator, "memory", item["id"], idempotency_key="k")
    narrow = make_agent("narrow", TEAM, pattern="session:*", rights=["read", "write", "erase"])
    ghost = "01890a5d-ac96-774b-bcce-b302099a8057"
    for player in (cast.agent, narrow, eraser, cast.reviewer):
        told = [refused(player, "memory", pk, idempotency_key="k") for pk in (item["id"], ghost)]
        assert [each.code for each in told] == ["not_found", "not_found"]
        assert told[0].message.replace(item["id"], ghost) == told[1].message


def test_a_first_answer_is_given_again_only_to_who_still_may_erase(cast, eraser):
    item = learned(cast)
    proposal = erase(eraser, "memory", item["id"], idempotency_key="k")["proposal"]["id"]
    cast.reviewer.do("approve_proposal", id=proposal, revision=1, reason="yes")
    assert erase(eraser, "memory", item["id"], idempotency_key="k")["deduplicated"] is True
    cast.operator.do("grant_access", name="eraser", domain_id=TEAM, pattern="*", rights=["read", "write"])
    narrowed = replace(eraser, identity=authenticate_key(eraser.key))
    assert refused(narrowed, "memory", item["id"], idempotency_key="k").code == "not_found"


def test_receipts_are_read_by_who_reviews_the_scope(cast):
    item = learned(cast)
    receipt = erase(cast.operator, "memory", item["id"])["receipt_id"]
    other = make_person("other", TEAM, "project:q")
    for player, count in ((cast.reviewer, 1), (cast.operator, 1), (other, 0)):
        found = player.do("list_tombstones", domain_id=TEAM, receipt_id=receipt)["tombstones"]
        assert len(found) == count
    with pytest.raises(ForbiddenError):
        cast.agent.do("list_tombstones", domain_id=TEAM)


def test_what_was_never_there_is_not_found(cast):
    ghost = "01890a5d-ac96-774b-bcce-b302099a8057"
    for kind in ("memory", "session", "document"):
        assert refused(cast.operator, kind, ghost).code == "not_found"
    with pytest.raises(NotFoundError):
        cast.operator.do("place_hold", domain_id=TEAM, object={"kind": "memory", "id": ghost}, reason="x")
    with pytest.raises(NotFoundError):
        cast.operator.do("lift_hold", id=ghost, reason="x")
