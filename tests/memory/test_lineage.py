"""The line of a memory: up to the conversation that it comes from, down to every copy, as far as one may read."""

from __future__ import annotations

from dataclasses import replace

import pytest

from kernel.errors import NotFoundError
from scopes.selectors import authenticate_key
from tests.conftest import TEAM, Cast, Player, make_agent
from tests.memory.talk import VERIFIED, commit, context, decision, only, ref

TASK, SHOP, ALL = "task:t", "project:shop", "global:all"


def lineage(player: Player, item_id: str) -> dict:
    return player.do("lineage", memory_item_id=item_id)


def copy(cast: Cast, item_id: str, target: str, **fields: str) -> str:
    body = {"memory_item_id": item_id, "target_scope": ref(target), "reason": f"to {target}", **VERIFIED, **fields}
    return str(cast.reviewer.do("promote_to_scope", body)["item"]["id"])


def chain(cast: Cast) -> tuple[str, str, str, str]:
    """A decision of a task, its copy in a project, and that one's copy for all; the turn that it was said in."""
    said = commit(cast.agent, say="Ann wants Postgres.", extract=False, scopes=context(TASK), decisions=[decision()])
    first = str(only(said)["id"])
    second = copy(cast, first, SHOP, text="We use Postgres.")
    return first, second, copy(cast, second, ALL), said["turn_id"]


def test_it_works(cast):
    first, second, third, turn = chain(cast)
    for asked, depths in ((first, [0, 1, 2]), (second, [-1, 0, 1]), (third, [-2, -1, 0])):
        told = lineage(cast.agent, asked)
        assert [(node["item_id"], node["depth"]) for node in told["nodes"]] == list(
            zip((first, second, third), depths, strict=True)
        )
        assert [node["from_item_id"] for node in told["nodes"]] == [None, first, second]
        assert [node["item"]["statement"] for node in told["nodes"]] == [
            "Use Postgres",
            "We use Postgres.",
            "We use Postgres.",
        ]
        assert (told["origin"]["turn_id"], told["origin"]["session_id"]) == (turn, "s1")
        kinds = [step["kind"] for step in told["events"]]
        assert [kinds.count(kind) for kind in ("created", "promoted", "copied")] == [3, 2, 2]
    assert lineage(cast.agent, first)["origin"]["text"] == "user: Ann wants Postgres."
    made = lineage(cast.agent, second)["nodes"][1]["promotion"]
    assert (made["reworded"], made["reason"], made["reviewer"], made["source_item_id"]) == (True, "to project:shop", "reviewer", first)  # fmt: skip


def test_what_was_said_is_told_to_those_who_may_read_the_conversation(cast):
    row = str(only(commit(cast.agent, say="Ann wants Postgres.", decisions=[decision()], extract=False))["id"])
    assert lineage(cast.agent, row)["origin"]["turn_seq"] == 1
    told = copy(cast, row, SHOP)
    outsider = make_agent("outsider", pattern=SHOP)
    seen = lineage(outsider, told)
    assert (seen["origin"]["text"], seen["origin"]["author"]) == (None, "")
    assert "Ann" not in str(seen)
    assert [(node["item_id"], node["item"] is None) for node in seen["nodes"]] == [(row, True), (told, False)]


def test_copies_that_one_may_not_read_are_left_out(cast):
    """Field report D4: absent, and not counted."""
    first, second, _, _ = chain(cast)
    make_agent("narrow", pattern="task:*")
    narrow = make_agent("narrower", pattern=TASK)
    told = lineage(narrow, first)
    assert [node["item_id"] for node in told["nodes"]] == [first]
    assert second not in str(told)
    with pytest.raises(NotFoundError):
        lineage(narrow, second)


def test_a_line_with_a_gap_goes_on_behind_it(cast):
    first, second, third, _ = chain(cast)
    gap = make_agent("gap", pattern=TASK)
    cast.operator.do("grant_access", name="gap", domain_id=TEAM, pattern=ALL, rights=["read"])
    gap = replace(gap, identity=authenticate_key(gap.key))
    up = lineage(gap, third)
    assert [(node["item_id"], node["item"] is not None) for node in up["nodes"]] == [
        (first, True),
        (second, False),
        (third, True),
    ]
    assert [node["item_id"] for node in lineage(gap, first)["nodes"]] == [first]


def test_what_was_taken_back_stays_in_the_line_and_says_so(cast):
    first, second, _, _ = chain(cast)
    cast.reviewer.do("demote", memory_item_id=second, evidence_refs=[{"kind": "url", "id": "https://e.example"}],
                     reason_type="unsafe", reason="never for all")  # fmt: skip
    told = lineage(cast.agent, first)
    assert told["nodes"][1]["item"]["lifecycle_status"] == "demoted"
    assert ("demoted", "never for all") in [(step["kind"], step["reason"]) for step in told["events"]]


def test_what_was_never_copied_is_a_line_of_one(cast):
    row = str(only(commit(cast.agent, decisions=[decision()]))["id"])
    told = lineage(cast.agent, row)
    assert [node["depth"] for node in told["nodes"]] == [0]
    assert told["nodes"][0]["promotion"] is None


def test_a_copy_found_by_equal_text_is_in_the_line(cast):
    there = str(only(commit(cast.agent, "other", scopes=context(SHOP), decisions=[decision()]))["id"])
    source = str(only(commit(cast.agent, scopes=context(TASK), decisions=[decision()]))["id"])
    assert copy(cast, source, SHOP) == there
    assert [node["item_id"] for node in lineage(cast.agent, source)["nodes"]] == [source, there]
