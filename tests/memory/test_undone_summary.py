"""What the summary of a session tells after an act on one of its memories was undone."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from memory.models import Summary
from tests.conftest import Player
from tests.memory.acting import correct, demote, known, retract
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
