"""Conflicts of what is demoted: they leave with it, and what contradicts is found again where the demotion is undone."""

from __future__ import annotations

from uuid import UUID

import pytest

from memory.models import Conflict, ConflictSignature, MemoryItem
from tests.memory.acting import SHOP, demote, retract
from tests.memory.conflicts.test_deciding import MYSQL, POSTGRES, decide, disputed
from tests.memory.conflicts.test_finding import listed, search_all, tell
from tests.memory.talk import compose, context
from tests.memory.test_undoing import revert


def side(statement: str) -> str:
    """The id of the memory in force that says it."""
    return str(MemoryItem.objects.get(statement=statement, current_until=None).pk)


def told(cast) -> tuple[list[str], list[str]]:
    """The ids of the conflicts that a search and a context tell."""
    package = compose(cast.agent, "Which default database?", scope_context=context(SHOP))
    return [each["id"] for each in search_all(cast)["conflicts"]], [each["id"] for each in package["conflicts"]]


class TestUndone:
    def test_it_works(self, cast):
        first = disputed(cast)
        demote(cast.reviewer, side(MYSQL))
        assert (listed(cast.agent, state="open"), told(cast)) == ([], ([], []))
        changed = revert(cast.reviewer, "demote")
        (found,) = listed(cast.agent, state="open")
        assert (found["id"] != first, {found["a"]["statement"], found["b"]["statement"]}) == (True, {MYSQL, POSTGRES})
        assert told(cast) == ([found["id"]], [found["id"]])
        assert changed == [f"memory_items {side(MYSQL)}", f"conflicts {found['id']}"]

    def test_what_was_told_meanwhile_is_held_against_it(self, cast):
        """Some of its signatures are forgotten by then."""
        tell(cast, MYSQL, "default-db")
        signed = ConflictSignature.objects.filter(item_id=UUID(side(MYSQL)))
        known = signed.count()
        demote(cast.reviewer, side(MYSQL))
        assert tell(cast, POSTGRES, "db")["memory_written"]["found"] == []
        assert signed.count() < known
        revert(cast.reviewer, "demote")
        assert len(listed(cast.agent, state="open")) == 1
        assert signed.count() == known

    def test_what_was_judged_stays_judged(self, cast):
        decide(cast.reviewer, disputed(cast), "both_valid", condition="MySQL in China only.")
        demote(cast.reviewer, side(MYSQL))
        revert(cast.reviewer, "demote")
        assert (listed(cast.agent, state="open"), Conflict.objects.count()) == ([], 1)
        assert len(told(cast)[0]) == len(told(cast)[1]) == 1


@pytest.mark.parametrize("status", ["demoted", "retired"])
@pytest.mark.parametrize("gone", [POSTGRES, MYSQL])
def test_of_a_pair_that_holds_both_nothing_tells_the_side_that_was_demoted(cast, gone, status):
    decide(cast.reviewer, disputed(cast), "both_valid", condition="MySQL in China only.")
    assert len(told(cast)[0]) == len(told(cast)[1]) == 1
    demote(cast.reviewer, side(gone), status=status)
    assert told(cast) == ([], [])


@pytest.mark.parametrize("how", ["demoted", "retracted"])
@pytest.mark.parametrize("outcome", ["keep_a", "both_valid"])
def test_reopened_after_a_side_left_it_is_over(cast, how, outcome):
    """None stays open with a side that is gone; what the decision had closed is in force again."""
    conflict = disputed(cast)
    decide(cast.reviewer, conflict, outcome, **({"condition": "In China."} if outcome == "both_valid" else {}))
    (demote if how == "demoted" else retract)(cast.reviewer, side(POSTGRES))
    answer = cast.reviewer.do("reopen_conflict", id=conflict, reason="too early")
    assert (answer["conflict"]["state"], answer["conflict"]["outcome"]) == ("resolved", None)
    assert MemoryItem.objects.filter(statement=MYSQL, current_until=None, status="active").count() == 1
    assert listed(cast.agent, state="open") == []
    steps = cast.agent.do("get_conflict", id=conflict)["history"]
    assert [step["verdict"] for step in steps] == [outcome, "reopened", "followed"]
