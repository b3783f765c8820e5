"""Listing memories: what may be seen, the filters, and pages that add up."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest

from kernel import clock
from kernel.errors import InvalidInputError, NotFoundError
from scopes.selectors import authenticate_key
from tests.conftest import TEAM, make_agent
from tests.memory.factories import made, scope_row
from tests.memory.talk import VERIFIED, commit, context, decision, gone, only, pref, ref, task

NOW = datetime(2026, 12, 1, 9, tzinfo=UTC)
P, Q = "project:p", "project:q"


def listed(player, **fields: object) -> list[dict]:
    rows: list[dict] = player.do("list_memory_items", {"domain_id": TEAM, **fields})["items"]
    return rows


def keys(player, **fields: object) -> list[str]:
    return [row["key"] for row in listed(player, **fields)]


def test_it_works(cast):
    commit(cast.agent, tasks=[task()], decisions=[decision()])
    commit(cast.agent, preferences=[pref()])
    assert keys(cast.agent) == ["pref:writing:tone", "decision:shop:database", "task:shop:parser"]
    first = listed(cast.agent)[0]
    assert (first["statement"], first["version"], first["current"]) == ("writing tone: concise", 1, True)


def test_pages_add_up_to_the_whole_in_one_order(cast):
    """Field reports J2 and J5."""
    scope = scope_row(P)
    for _ in range(45):
        made(scope)
    pages, cursor = [], None
    while True:
        answer = cast.agent.do("list_memory_items", domain_id=TEAM, type="facts", limit=10, cursor=cursor)
        pages.append([row["id"] for row in answer["items"]])
        cursor = answer["next_cursor"]
        if cursor is None:
            break
    assert [len(page) for page in pages] == [10, 10, 10, 10, 5]
    found = [item_id for page in pages for item_id in page]
    assert found == sorted(found, reverse=True)
    assert len(set(found)) == 45


def test_a_cursor_of_other_filters_is_refused(cast):
    for number in range(3):
        commit(cast.agent, tasks=[task(f"t {number}", f"task:shop:t{number}")])
    cursor = cast.agent.do("list_memory_items", domain_id=TEAM, limit=1)["next_cursor"]
    with pytest.raises(InvalidInputError, match="other filters"):
        listed(cast.agent, limit=1, cursor=cursor, type="tasks")
    for bad in ("", "x", "ZZZ=", "a" * 2001):
        with pytest.raises(InvalidInputError):
            listed(cast.agent, cursor=bad)


def test_each_filter_holds(cast):
    scopes = context(P, Q, write=(P, Q))
    commit(cast.agent, scopes=scopes, tasks=[task()], decisions=[decision(scope_ref=ref(Q))], preferences=[pref("a")])
    commit(cast.agent, scopes=scopes, preferences=[pref("b")], retractions=[gone("tasks", "task:shop:parser")])
    made(scope_row(P), candidate=True, key="fact:x:y")
    assert keys(cast.agent, type="decisions") == ["decision:shop:database"]
    assert keys(cast.agent, scope=ref(Q)) == ["decision:shop:database"]
    assert keys(cast.agent, key="pref:writing:tone") == ["pref:writing:tone"]
    assert keys(cast.agent, lifecycle_status="candidate") == ["fact:x:y"]
    assert keys(cast.agent, type="tasks", scope=ref(Q)) == []
    assert keys(cast.agent, scope={"type": "project", "id": "nowhere"}) == []


def test_what_is_no_longer_in_force_is_listed_when_asked_for(cast):
    commit(cast.agent, preferences=[pref("a")])
    commit(cast.agent, preferences=[pref("b")])
    commit(cast.agent, decisions=[decision("a")])
    commit(cast.agent, decisions=[decision("b")], retractions=[gone("preferences", "pref:writing:tone")])
    assert [row["statement"] for row in listed(cast.agent)] == ["b"]
    found = [(row["statement"], row["status"], row["current"]) for row in listed(cast.agent, history=True)]
    assert found == [
        ("b", "active", True),
        ("a", "active", False),
        ("writing tone: b", "retracted", False),
        ("writing tone: a", "superseded", False),
    ]


@pytest.mark.parametrize("status", ["retracted", "superseded"])
def test_a_status_that_only_history_has_needs_no_other_flag(cast, status):
    commit(cast.agent, preferences=[pref("a")])
    commit(cast.agent, preferences=[pref("b")])
    commit(cast.agent, retractions=[gone("preferences", "pref:writing:tone")])
    assert [row["status"] for row in listed(cast.agent, status=status)] == [status]


def test_the_overdue_are_those_whose_review_date_has_passed(cast):
    """Field report B10."""
    with clock.use(lambda: NOW):
        commit(
            cast.agent,
            tasks=[
                task("soon", "task:s:soon", review_by="2026-12-02T00:00:00+08:00"),
                task("late", "task:s:late", review_by="2027-01-01T00:00:00Z"),
                task("never", "task:s:never"),
            ],
        )
        assert keys(cast.agent, overdue=True) == []
    with clock.use(lambda: NOW + timedelta(days=7)):
        assert keys(cast.agent, overdue=True) == ["task:s:soon"]
        assert listed(cast.agent, overdue=True)[0]["review_by"] == "2026-12-01T16:00:00Z"


def test_nobody_sees_what_is_outside_the_grants(cast):
    """Field reports D1 and D4."""
    commit(cast.agent, scopes=context(P), tasks=[task("in p", "task:p:x")])
    commit(cast.agent, scopes=context(Q), tasks=[task("in q", "task:q:x")])
    commit(cast.agent, "private", tasks=[task("in a session", "task:s:x")])
    narrow = make_agent("narrow", pattern=Q)
    assert keys(narrow) == ["task:q:x"]
    assert keys(narrow, scope=ref(P)) == []
    assert keys(narrow, key="task:s:x") == []
    assert len(keys(cast.reader)) == 3
    with pytest.raises(NotFoundError):
        listed(cast.stranger)
    assert keys(cast.stranger, domain_id="elsewhere") == []


def test_a_domain_that_does_not_exist_is_not_found(cast):
    with pytest.raises(NotFoundError):
        listed(cast.operator, domain_id="nowhere")


@pytest.mark.parametrize(
    "bad",
    [
        {"limit": 0},
        {"limit": 101},
        {"limit": "10"},
        {"type": "dreams"},
        {"status": "gone"},
        {"lifecycle_status": "old"},
        {"scope": "project:p"},
        {"overdue": "yes"},
        {"key": "x" * 501},
        {"order": "oldest"},
    ],
)
def test_a_bad_filter_is_refused(cast, bad):
    with pytest.raises(InvalidInputError):
        listed(cast.agent, **bad)


def test_a_hostile_key_filter_finds_nothing_and_breaks_nothing(cast):
    commit(cast.agent, tasks=[task()])
    for key in ("%", "_", "' OR 1=1 --", "task:%", "\\", "*"):
        assert keys(cast.agent, key=key) == []
    assert only(commit(cast.agent, tasks=[task()]))["deduplicated"]


def test_what_was_never_proposed_is_listed_for_it(cast):
    """Field report O8: what was kept locally is not orphaned when others join."""
    ids = {}
    for number, scope in enumerate(("task:t", "project:shop", "global:all", "task:t", "task:t")):
        told = commit(
            cast.agent, scopes=context(scope), decisions=[decision(f"Rule {number}", f"decision:a:{number}")]
        )
        ids[number] = only(told)["id"]
    target = {"type": "project", "id": "shop"}
    cast.reviewer.do("promote_to_scope", memory_item_id=ids[0], target_scope=target, reason="for all", **VERIFIED)
    cast.operator.do("grant_access", name="agent", domain_id=TEAM, rights=["read", "write", "promote"])
    agent = replace(cast.agent, identity=authenticate_key(cast.agent.key))
    queued = agent.do("promote_to_scope", memory_item_id=ids[3], target_scope=target, reason="for all", **VERIFIED)[
        "proposal"
    ]
    listed = agent.do("list_memory_items", domain_id=TEAM, proposable=True)["items"]
    assert [each["id"] for each in listed] == [ids[4], ids[1]]
    cast.reviewer.do("reject_proposal", id=queued["id"], revision=1, reason="not for all")
    assert len(agent.do("list_memory_items", domain_id=TEAM, proposable=True)["items"]) == 2
