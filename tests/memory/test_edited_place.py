"""After an edit that takes a proposal to another place, those who decide there decide on it, and nobody else."""

from __future__ import annotations

import pytest

from governance.models import Proposal
from kernel.errors import ConflictError, ForbiddenError, NotFoundError
from memory.models import MemoryItem
from tests.conftest import TEAM, Cast, Player, make_person
from tests.guards.write_guard import unguarded
from tests.memory.promoting import ALL, SHOP, known, promote, promoter
from tests.memory.talk import ref

TWO = {"review": {"two_person": [{"name": "both", "actions": ["promote_to_scope"]}]}}


@pytest.fixture
def part(cast) -> Player:
    """Who reviews the shop, and nothing else."""
    return make_person("shop-reviewer", TEAM, SHOP)


def moved(cast: Cast) -> str:
    """A promotion into the shop that a reviewer of everything edited to go to all."""
    queued: str = promote(promoter(cast), known(cast.agent))["proposal"]["id"]
    given = cast.reviewer.do("get_proposal", id=queued)["input"]
    wide = {**given, "target_scope": ref(ALL)}
    cast.reviewer.do("edit_and_approve", id=queued, revision=1, input=wide, reason="for all")
    return queued


def wide_rows() -> int:
    return MemoryItem.objects.filter(current_until=None, scope__scope_type="global").count()


def test_the_second_of_two_decides_where_it_goes_now(cast, part):
    cast.operator.do("set_policy", domain_id=TEAM, document=TWO, reason="two look")
    queued = moved(cast)
    row = Proposal.objects.get(pk=queued)
    assert (row.state, row.scope) == ("open", ALL)
    with pytest.raises(NotFoundError):
        part.call("approve_proposal", id=queued, revision=2)
    everyone = make_person("everyone", TEAM, ALL)
    assert queued in [each["id"] for each in everyone.do("list_proposals", domain_id=TEAM)["proposals"]]
    everyone.do("approve_proposal", id=queued, revision=2)
    assert wide_rows() == 1


def test_after_an_undone_edit_too(cast, part):
    queued = moved(cast)
    cast.reviewer.do("undo_decision", proposal_id=queued, reason="slip")
    with pytest.raises(NotFoundError):
        part.call("approve_proposal", id=queued, revision=2)
    assert wide_rows() == 0
    cast.reviewer.do("approve_proposal", id=queued, revision=2)
    assert wide_rows() == 1


def test_the_place_of_the_call_counts_whatever_the_proposal_says(cast, part):
    queued = moved(cast)
    cast.reviewer.do("undo_decision", proposal_id=queued, reason="slip")
    with unguarded():
        Proposal.objects.filter(pk=queued).update(scope=SHOP)
    with pytest.raises(ForbiddenError, match="in a scope on which you may not decide"):
        part.call("approve_proposal", id=queued, revision=2)
    assert wide_rows() == 0


def test_it_is_about_that_place_from_then_on(cast):
    cast.operator.do("set_policy", domain_id=TEAM, document=TWO, reason="two look")
    queued = moved(cast)
    row = Proposal.objects.get(pk=queued)
    agent, memory = promoter(cast), str(row.input["memory_item_id"])
    assert row.subject_key == f"promote_to_scope:{memory}:{ALL}"
    assert promote(agent, memory, ALL)["proposal"]["id"] == queued
    make_person("everyone", TEAM, ALL).do("reject_proposal", id=queued, revision=2, reason="not for everyone")
    assert promote(agent, memory)["status"] == "queued"
    with pytest.raises(ConflictError, match="not for everyone"):
        promote(agent, memory, ALL)


def test_an_edit_to_what_another_proposal_is_about_is_refused(cast):
    cast.operator.do("set_policy", domain_id=TEAM, document=TWO, reason="two look")
    agent, memory = promoter(cast), known(cast.agent)
    promote(agent, memory, ALL)
    queued = promote(agent, memory)["proposal"]["id"]
    given = cast.reviewer.do("get_proposal", id=queued)["input"]
    wide = {**given, "target_scope": ref(ALL)}
    with pytest.raises(ConflictError, match="Another proposal about that subject is open"):
        cast.reviewer.call("edit_and_approve", id=queued, revision=1, input=wide, reason="for all")
    assert Proposal.objects.get(pk=queued).scope == SHOP
