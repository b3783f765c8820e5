"""What the summary of a session tells after a decision on one of its memories, and after that was undone."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from memory.models import Summary
from tests.conftest import Player
from tests.memory.acting import correct, demote, known, retract
from tests.memory.conflicts.test_deciding import MYSQL, POSTGRES, decide, disputed
from tests.memory.test_undoing import revert

ACTS: dict[str, Callable[[Player, str], dict]] = {
    "retract_item": retract,
    "demote": demote,
    "correct_item": lambda player, row: correct(player, row, text="Use SQLite"),
}


@pytest.mark.parametrize("action", ACTS)
def test_it_tells_what_holds_again(cast, action):
    row = known(cast.agent)
    ACTS[action](cast.reviewer, row)
    assert "Use Postgres" not in Summary.objects.latest("id").text
    revert(cast.reviewer, action)
    told = Summary.objects.latest("id").text
    assert "Use Postgres" in told
    assert "Use SQLite" not in told


@pytest.mark.parametrize(("outcome", "kept", "lost"), [("keep_a", POSTGRES, MYSQL), ("keep_b", MYSQL, POSTGRES)])
def test_of_a_conflict_it_tells_the_side_that_holds_and_both_when_it_is_open_again(cast, outcome, kept, lost):
    conflict = disputed(cast)
    decide(cast.reviewer, conflict, outcome)
    assert told() & {kept, lost} == {kept}
    cast.reviewer.do("reopen_conflict", id=conflict, reason="not so sure")
    assert told() >= {kept, lost}


def test_of_a_merged_conflict_it_tells_neither_side(cast):
    conflict = disputed(cast)
    decide(cast.reviewer, conflict, "merge", text="Postgres by default, MySQL for reports.")
    assert not told() & {POSTGRES, MYSQL}
    revert(cast.reviewer, "resolve_conflict")
    assert told() >= {POSTGRES, MYSQL}


def told() -> set[str]:
    """The lines of the newest summary."""
    return {line.removeprefix("- ") for line in Summary.objects.latest("id").text.splitlines()}
