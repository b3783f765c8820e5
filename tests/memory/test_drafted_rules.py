"""Rules drafted from a held act on a memory: they let pass what they name, where they name it, and nothing more."""

from __future__ import annotations

import pytest

from governance.models import AuditEntry
from kernel.errors import InvalidInputError
from tests.conftest import TEAM, Cast
from tests.memory.acting import SHOP, known
from tests.memory.talk import ref

OTHER = "project:other"


def hold(cast: Cast, *actions: str) -> None:
    rule = {"name": "shared", "actions": list(actions), "scope_types": ["project"]}
    cast.operator.do("set_policy", domain_id=TEAM, document={"review": {"queue": [rule]}}, reason="people look first")


def write(cast: Cast, text: str, scope: str = SHOP) -> str:
    """The id of the proposal by which the agent's memory waits."""
    row = {"key": f"decision:shop:{text.lower()}", "decision": f"Use {text}"}
    given = {"domain_id": TEAM, "scope": ref(scope), "type": "decisions", "item": row}
    return str(cast.agent.do("write_memory_item", given)["proposal"]["id"])


def drafted(cast: Cast, proposal: str) -> dict:
    """The rule drafted from it, and approved."""
    answer = cast.reviewer.do("draft_rule", id=proposal, reason="fine")
    cast.operator.do("approve_proposal", id=answer["proposal"]["id"])
    rule: dict = answer["rule"]
    return rule


@pytest.mark.parametrize("held", ["write_memory_item", "retract_item", "*"])
def test_an_act_that_is_judged_as_writing_waits_no_more(cast, held):
    names = ("postgres", "kafka", "redis")
    first, second, third = (known(cast.agent, f"Use {name} for it", key=f"decision:shop:{name}") for name in names)
    hold(cast, held)
    waiting = cast.agent.do("retract_item", memory_item_id=first, reason="wrong")["proposal"]["id"]
    rule = drafted(cast, waiting)
    assert (rule["actions"], rule["scopes"]) == (["retract_item"], [SHOP])
    assert cast.agent.call("retract_item", memory_item_id=second, reason="wrong").status == 200
    assert AuditEntry.objects.filter(action="retract_item").latest("id").rule == f"review.allow:{rule['name']}"
    with pytest.raises(InvalidInputError, match="allowed by policy already"):
        cast.reviewer.call("draft_rule", id=waiting, reason="fine")
    if held != "retract_item":
        assert cast.agent.call("correct_item", memory_item_id=third, text="No", reason="wrong").status == 202
        assert write(cast, "Mysql")


def test_of_a_revised_call_the_scope_is_meant_to_which_it_went(cast):
    hold(cast, "write_memory_item")
    waiting = write(cast, "Postgres")
    given = cast.agent.do("get_proposal", id=waiting)["input"]
    cast.agent.do("revise_proposal", id=waiting, input={**given, "scope": ref(OTHER)})
    rule = drafted(cast, waiting)
    assert (rule["name"], rule["scopes"]) == (f"agent: write_memory_item in {OTHER}", [OTHER])
    assert write(cast, "Kafka"), "the scope of the first revision still waits"
