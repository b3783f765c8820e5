"""An act on a memory is not taken back alone where two persons stand for it, or for its opposite."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from governance.models import AuditEntry
from kernel.actions import all_actions
from kernel.errors import ForbiddenError
from tests.conftest import TEAM, Cast
from tests.memory.acting import SHOP, correct, demote, known, narrow, retract
from tests.memory.promoting import ALL, promote
from tests.memory.talk import ref

Act = Callable[[Cast, str], Any]
ACTS: dict[str, Act] = {
    "promote_to_scope": lambda cast, row: promote(cast.reviewer, row, ALL),
    "retract_item": lambda cast, row: retract(cast.reviewer, row),
    "correct_item": lambda cast, row: correct(cast.reviewer, row, text="Use Postgres 16"),
    "narrow_item": lambda cast, row: narrow(cast.reviewer, row),
    "demote": lambda cast, row: demote(cast.reviewer, row),
    "write_relation": lambda cast, row: relate(cast),
}
NO_OPPOSITE = {
    "retract_item": "nothing but an undo brings back what was retracted",
    "set_policy": "a version is taken back by another one, which is judged as set_policy",
}


def relate(cast: Cast) -> dict:
    return cast.agent.do(
        "write_relation", domain_id=TEAM, scope=ref(SHOP), subject="shop", predicate="uses", object="Postgres"
    )


def by_two(cast: Cast, *actions: str, **fields: list[str]) -> None:
    rule = {"name": "both", "actions": list(actions), **fields}
    cast.operator.do("set_policy", domain_id=TEAM, document={"review": {"two_person": [rule]}}, reason="two look")


def newest(action: str) -> str:
    return str(AuditEntry.objects.filter(action=action, outcome="allowed").latest("id").pk)


@pytest.mark.parametrize(
    ("action", "rule"),
    [
        *((action, action) for action in ACTS),
        *((action, "retract_item") for action in ("promote_to_scope", "correct_item", "narrow_item")),
        *((action, "write_memory_item") for action in ACTS),
        ("promote_to_scope", "demote_from_scope"),
        ("write_relation", "retract_item"),
        ("demote", "promote_to_scope"),
        ("demote", "raise_tier"),
    ],
)
def test_it_works(cast, action, rule):
    ACTS[action](cast, known(cast.agent))
    by_two(cast, rule)
    with pytest.raises(ForbiddenError, match=f"Two persons stand for {rule}"):
        cast.reviewer.call("revert_change", audit_entry_id=newest(action), reason="alone")


def test_what_an_agent_wrote_stays_where_two_retract(cast):
    cast.agent.do(
        "write_memory_item",
        domain_id=TEAM,
        scope={"type": "project", "id": "shop"},
        type="decisions",
        item={"key": "decision:shop:cache", "decision": "Use Redis"},
    )
    by_two(cast, "retract_item")
    with pytest.raises(ForbiddenError, match="Two persons stand for retract_item"):
        cast.reviewer.call("revert_change", audit_entry_id=newest("write_memory_item"), reason="alone")


def test_a_rule_for_other_scopes_does_not_count(cast):
    retract(cast.reviewer, known(cast.agent, scope=SHOP))
    by_two(cast, "retract_item", scope_types=["global"])
    cast.reviewer.do("revert_change", audit_entry_id=newest("retract_item"), reason="wrong")


def test_every_action_that_has_a_way_back_names_its_opposite():
    silent = {action.name for action in all_actions() if action.reverse is not None and not action.undone_as}
    assert silent == set(NO_OPPOSITE)
