"""A candidate that was asserted again, or promoted into by the same words: its line, its page, and a promotion that comes twice."""

from __future__ import annotations

from memory.admin.lineage import drawn_line
from memory.models import KnowledgeEvent
from tests.conftest import TEAM, Cast
from tests.guards.write_guard import unguarded
from tests.memory.acting import SHOP, TASK, narrow
from tests.memory.talk import VERIFIED, commit, context, decision, item, only, ref
from tests.memory.test_lineage import copy, lineage


def inferred(cast: Cast, scope: str) -> str:
    """The id of a candidate."""
    given = {"domain_id": TEAM, "scope": ref(scope), "type": "decisions", "item": decision(), "inferred": True}
    return str(cast.agent.do("write_memory_item", given)["item"]["id"])


def asserted(cast: Cast, scope: str = TASK) -> str:
    """The id of a candidate that was said again and is trusted since."""
    row = inferred(cast, scope)
    commit(cast.agent, scopes=context(scope), decisions=[decision()])
    assert item(row).lifecycle_status == "promoted"
    return row


def test_it_works(cast):
    row = asserted(cast)
    there = copy(cast, row, SHOP)
    for asked in (row, there):
        told = lineage(cast.agent, asked)
        assert [node["item_id"] for node in told["nodes"]] == [row, there]
        assert told["nodes"][0]["promotion"] is None
        assert told["nodes"][1]["promotion"]["source_item_id"] == row
    assert "asserted again" in [step["reason"] for step in told["events"]]


def test_one_that_was_narrowed_keeps_its_line_and_its_page(cast):
    row = asserted(cast, SHOP)
    there = str(narrow(cast.agent, row)["item"]["id"])
    assert [node["item_id"] for node in lineage(cast.agent, there)["nodes"]] == [row, there]
    assert len(drawn_line(item(row), cast.agent.ctx())["steps"]) == 2


def test_promoting_twice_into_a_scope_that_holds_it_as_a_candidate_gives_the_first_answer(cast):
    there = inferred(cast, SHOP)
    source = str(only(commit(cast.agent, scopes=context(TASK), decisions=[decision()]))["id"])
    assert copy(cast, source, SHOP) == there
    told = lineage(cast.agent, source)
    body = {"memory_item_id": source, "target_scope": ref(SHOP), "reason": "again", **VERIFIED}
    second = cast.reviewer.do("promote_to_scope", body)
    assert (second["item"]["id"], second["deduplicated"]) == (there, True)
    assert second["promotion"] == told["nodes"][1]["promotion"]
    assert second["promotion"]["reason"] == f"to {SHOP}"


def test_events_of_such_kinds_that_were_moved_in_tell_no_promotion(cast):
    row = asserted(cast)
    there = copy(cast, row, SHOP)
    with unguarded():
        for kind in ("promoted", "narrowed", "raised", "copied"):
            told = {"domain_id": TEAM, "item_id": row, "kind": kind, "to_status": "", "actor_id": "x"}
            KnowledgeEvent.objects.create(**told, metadata={"source_item_id": "an older id"})
    assert [node["item_id"] for node in lineage(cast.agent, row)["nodes"]] == [row, there]
