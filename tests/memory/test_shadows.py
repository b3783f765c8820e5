"""The shadow inspector: per key the row that counts, those that give way and why, then and now, and what would change."""

from __future__ import annotations

from typing import Any

import pytest

from kernel.errors import InvalidInputError, NotFoundError
from memory.models import MemoryItem
from tests.conftest import TEAM, Cast, make_agent, make_person
from tests.guards.world import stored
from tests.memory.factories import made, scope_row
from tests.memory.talk import commit, compose, context, pref, ref

SCOPES = ("global:g", "project:p", "task:t", "expert:e")
EVERYWHERE = context(*SCOPES)
TONE = "pref:writing:tone"


def fill(cast: Cast, *names: str, key: str = TONE) -> dict[str, str]:
    """The key in each of these scopes, in this order of time; the ids by scope."""
    ids = {}
    for name in names:
        row = pref(f"as in {name}", key, scope_ref=ref(name))
        answer = commit(cast.agent, scopes=context(*SCOPES, write=SCOPES), preferences=[row])
        ids[name] = answer["memory_written"]["items"][0]["id"]
    return ids


def inspect(player: Any, **fields: Any) -> dict:
    given = {"domain_id": TEAM, "scope_context": {"read": [ref(name) for name in SCOPES]}}
    body: dict = player.do("inspect_shadows", {**given, **fields})
    return body


def ladder(answer: dict, place: int = 0) -> list[tuple[str, str]]:
    return [
        (f"{rung['scope']['type']}:{rung['scope']['id']}", rung["rule"]) for rung in answer["keys"][place]["rungs"]
    ]


def test_it_works(cast):
    fill(cast, "task:t", "global:g", "project:p", "expert:e")
    fill(cast, "project:p", key="pref:writing:alone")
    answer = inspect(cast.reviewer)
    assert [row["key"] for row in answer["keys"]] == [TONE]
    assert ladder(answer) == [
        ("task:t", ""),
        *((name, "scope_priority") for name in ("project:p", "expert:e", "global:g")),
    ]
    assert answer["keys"][0]["rungs"][1]["reason"] == (
        "task counts before project (task > project > expert > global > session)."
    )
    assert answer["priority"] == ["task", "project", "expert", "global", "session"]
    assert [rung["wins"] for rung in answer["keys"][0]["rungs"]] == [True, False, False, False]


def test_it_says_what_composing_did(cast):
    fill(cast, "task:t", "global:g", "project:p")
    package = compose(cast.agent, "Which tone?", scope_context=EVERYWHERE)
    gave_way = {(entry["loser_id"], entry["rule"]) for entry in package["debug"]["shadowed"]}
    rungs = inspect(cast.reviewer)["keys"][0]["rungs"]
    assert {(rung["memory_item_id"], rung["rule"]) for rung in rungs if not rung["wins"]} == gave_way


def test_a_pinned_principle_wins_over_every_scope(cast):
    """Spec: dao_tian is never overridden."""
    fill(cast, "task:t")
    made(scope_row("global:g"), type="preferences", key=TONE, text="law", principle=True)
    assert ladder(inspect(cast.reviewer)) == [("global:g", ""), ("task:t", "pinned_principle")]


def test_of_two_rows_of_one_rank_the_newer_wins(cast):
    made(scope_row("project:p"), type="preferences", key=TONE, text="old")
    made(scope_row("project:q"), type="preferences", key=TONE, text="new")
    scopes = {"read": [ref("project:p"), ref("project:q")]}
    assert ladder(inspect(cast.reviewer, scope_context=scopes)) == [("project:q", ""), ("project:p", "same_rank")]


def test_a_recorded_context_is_inspected_as_it_was(cast):
    fill(cast, "global:g", "project:p")
    record = compose(cast.agent, "Which tone?", scope_context=EVERYWHERE)["context_id"]
    fill(cast, "task:t", "project:p", key=TONE)
    now = inspect(cast.reviewer)
    assert ladder(now)[0] == ("task:t", "")
    then = cast.reviewer.do("inspect_shadows", context_id=record)
    assert ladder(then) == [("project:p", ""), ("global:g", "scope_priority")]
    assert then["as_of"] < now["as_of"]


@pytest.mark.parametrize(
    ("act", "scope", "winner", "changes", "says"),
    [
        ("retract", "task:t", "project:p", True, "is retracted: it is gone, and the next row counts."),
        (
            "demote",
            "task:t",
            "project:p",
            True,
            "is demoted: it is no longer shown by itself, and the next row counts.",
        ),
        (
            "retract",
            "global:g",
            "task:t",
            False,
            "is retracted: it is gone. It gave way before too: the same row counts.",
        ),
    ],
)
def test_what_would_be_if_a_row_left(cast, act, scope, winner, changes, says):
    ids = fill(cast, "global:g", "project:p", "task:t")
    before = stored()
    told = inspect(cast.reviewer, what_if={"act": act, "memory_item_id": ids[scope]})["what_if"]
    first = told["after"][0]["scope"]
    assert (f"{first['type']}:{first['id']}", told["changes_winner"]) == (winner, changes)
    assert len(told["before"]) == len(told["after"]) + 1
    assert told["explanation"] == f"The row of {scope} {says}"
    assert stored() == before, "nothing is written"


def test_the_last_row_of_a_key_leaves_none(cast):
    ids = fill(cast, "task:t")
    told = inspect(cast.reviewer, key=TONE, what_if={"act": "retract", "memory_item_id": ids["task:t"]})["what_if"]
    assert (told["after"], told["explanation"].partition("gone")[2]) == ([], ", and no row of this key is left.")


def test_what_would_be_if_a_row_were_promoted(cast):
    ids = fill(cast, "global:g", "project:p")
    asked = {"act": "promote", "memory_item_id": ids["global:g"], "target_scope": ref("task:t")}
    fill(cast, "task:t", key="pref:other:x")
    told = inspect(cast.reviewer, what_if=asked)["what_if"]
    assert [rung["statement"] for rung in told["after"]] == [
        "writing tone: as in global:g", "writing tone: as in project:p", "writing tone: as in global:g"
    ]  # fmt: skip
    assert told["changes_winner"]
    elsewhere = {**asked, "target_scope": ref("task:other")}
    told = inspect(cast.reviewer, what_if=elsewhere)["what_if"]
    assert (told["changes_winner"], told["explanation"].split(":")[0]) == (False, "Its scope is not among those read")


def test_a_key_may_be_looked_at_though_one_scope_alone_holds_it(cast):
    fill(cast, "project:p")
    assert inspect(cast.reviewer)["keys"] == []
    assert ladder(inspect(cast.reviewer, key=TONE)) == [("project:p", "")]


def test_pages_join_to_the_whole(cast):
    for number in range(5):
        fill(cast, "project:p", "global:g", key=f"pref:other:Ä{number}")
    whole = [row["key"] for row in inspect(cast.reviewer)["keys"]]
    found, cursor = [], None
    while True:
        page = inspect(cast.reviewer, limit=2, **({"cursor": cursor} if cursor else {}))
        found += [row["key"] for row in page["keys"]]
        cursor = page["next_cursor"]
        if cursor is None:
            break
    assert found == whole == [f"pref:other:Ä{number}" for number in range(5)]


def test_what_no_longer_holds_takes_no_part(cast):
    fill(cast, "project:p", "global:g")
    made(scope_row("task:t"), type="preferences", key=TONE, text="over", expired=True)
    made(scope_row("expert:e"), type="preferences", key=TONE, text="maybe", candidate=True)
    assert ladder(inspect(cast.reviewer)) == [("project:p", ""), ("global:g", "scope_priority")]


@pytest.mark.parametrize(
    "fields",
    [
        {"scope_context": None},
        {"context_id": "01890a5d-ac96-774b-bcce-b302099a8057"},
        {"what_if": {"act": "promote", "memory_item_id": "01890a5d-ac96-774b-bcce-b302099a8057"}},
        {"what_if": {"act": "erase", "memory_item_id": "01890a5d-ac96-774b-bcce-b302099a8057"}},
        {"type": "nonsense"},
        {"limit": 1000},
    ],
)
def test_a_call_that_makes_no_sense_is_refused(cast, fields):
    with pytest.raises(InvalidInputError):
        inspect(cast.reviewer, **fields)


def test_a_memory_without_a_key_has_no_shadow(cast):
    row = made(scope_row("project:p"), key=None)
    with pytest.raises(InvalidInputError, match="no key"):
        inspect(cast.reviewer, what_if={"act": "retract", "memory_item_id": str(row.pk)})


def test_nothing_out_of_sight_is_told(cast):
    ids = fill(cast, "global:g", "project:p")
    record = compose(cast.agent, "Which tone?", scope_context=EVERYWHERE)["context_id"]
    narrow, part = make_agent("narrow", pattern="project:p"), make_person("part", TEAM, "project:p")
    for player in (narrow, part, cast.stranger):
        with pytest.raises(NotFoundError):
            inspect(player)
        with pytest.raises(NotFoundError):
            player.call("inspect_shadows", context_id=record)
    own = {"read": [ref("project:p")]}
    assert ladder(inspect(narrow, scope_context=own, key=TONE)) == [("project:p", "")]
    with pytest.raises(NotFoundError):
        inspect(narrow, scope_context=own, what_if={"act": "retract", "memory_item_id": ids["global:g"]})
    assert MemoryItem.objects.count() == 2


def test_a_session_with_a_character_that_nobody_can_see_is_refused(cast):
    with pytest.raises(InvalidInputError, match="nobody can see"):
        cast.agent.do("inspect_shadows", domain_id=TEAM, session_id="s\u200b1")
