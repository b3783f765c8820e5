"""A call about memories of several scopes: whoever approves it, or takes it back, decides on each of them."""

from __future__ import annotations

import pytest

from kernel.errors import ForbiddenError
from tests.conftest import TEAM, Cast, Player, make_person
from tests.memory.acting import SHOP, known
from tests.memory.talk import item
from tests.memory.test_queued_items import hold
from tests.memory.test_undoing import revert

OTHER = "project:other"


@pytest.fixture
def part(cast) -> Player:
    """Who reviews the shop, and nothing else."""
    return make_person("shop-reviewer", TEAM, SHOP)


@pytest.fixture
def queued(cast) -> tuple[str, str]:
    """A retraction that waits, of a memory of the shop and along with it one of another project: its id, and the latter's."""
    one, two = known(cast.agent), known(cast.agent, scope=OTHER)
    hold(cast, "project", actions=("retract_item",))
    answer = cast.agent.do("retract_item", memory_item_id=one, reason="wrong", also=[two])
    return answer["proposal"]["id"], two


def approve(player: Player, proposal: str) -> None:
    player.do("approve_proposal", id=proposal, revision=1)


def test_one_who_decides_on_all_of_them_approves_and_takes_back(cast: Cast, queued):
    proposal, there = queued
    approve(cast.reviewer, proposal)
    assert item(there).status == "retracted"
    cast.reviewer.do("undo_decision", proposal_id=proposal, reason="slip")
    assert item(there).successor is not None


def test_one_who_decides_on_the_first_alone_does_not_approve(part, queued):
    with pytest.raises(ForbiddenError, match="in a scope on which you may not decide"):
        approve(part, queued[0])
    assert item(queued[1]).status == "active"


def test_nor_by_an_edit(cast, part, queued):
    given = cast.reviewer.do("get_proposal", id=queued[0])["input"]
    with pytest.raises(ForbiddenError, match="reaches a scope on which you may not decide"):
        part.call("edit_and_approve", id=queued[0], revision=1, input={**given, "reason": "very"}, reason="so")
    assert item(queued[1]).status == "active"
    alone = {**given, "also": []}
    part.do("edit_and_approve", id=queued[0], revision=1, input=alone, reason="the shop alone")
    assert item(queued[1]).status == "active"
    assert item(given["memory_item_id"]).status == "retracted"


def test_nor_do_they_take_it_back(cast, part, queued):
    approve(cast.reviewer, queued[0])
    with pytest.raises(ForbiddenError, match="on whose scope you may not decide"):
        revert(part, "retract_item")
    with pytest.raises(ForbiddenError, match="on whose scope you may not decide"):
        part.call("undo_decision", proposal_id=queued[0], reason="slip")
    assert item(queued[1]).status == "retracted"
