"""Searching memories: what is found, in which mode, of which time, and each thing once."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from kernel.errors import InvalidInputError, NotFoundError, TooLargeError
from search.models import IndexEntry
from tests.conftest import TEAM, make_agent
from tests.memory.factories import made, scope_row
from tests.memory.talk import (
    commit,
    compose,
    context,
    decision,
    entity,
    gone,
    memories,
    only,
    pref,
    ref,
    search,
    shown,
    task,
)

NOW = datetime(2026, 12, 1, 9, tzinfo=UTC)
P, Q = "project:p", "project:q"
IN_P = {"scope_context": context(P, default=None)}


def test_it_works(cast):
    """Case 36, in both directions."""
    commit(cast.agent, say="请记住：默认数据库是 Postgres", tasks=[task("Migrate the ledger", "task:shop:ledger")])
    (found,) = search(cast.agent, "数据库用什么", kinds=["memory"])
    assert (found["text"], found["kind"], found["current"]) == ("默认数据库是 Postgres", "memory", True)
    assert found["scope"] == ref("session:s1")
    assert found["source_session_id"] == "s1"
    assert found["ref"]["item_id"] == found["id"]
    assert memories(cast.agent, "Which ledger?") == ["Migrate the ledger — todo"]
    assert memories(cast.agent, "kangaroo") == []


def test_an_item_and_its_message_are_one_result(cast):
    """Decision 20."""
    commit(
        cast.agent,
        messages=[{"role": "user", "content": "Remember that the default database is Postgres.", "id": "m"}],
    )
    (found,) = search(cast.agent, "Which default database?")
    assert (found["ref"]["message_id"], found["ref"]["item_id"] is not None) == ("m", True)
    assert len(search(cast.agent, "Which default database?", kinds=["message"])) == 1
    assert len(search(cast.agent, "Which default database?", kinds=["memory"])) == 1


def test_a_message_with_several_items_loses_none_of_them(cast):
    commit(cast.agent, say="Remember that the database is Postgres. Remember that the queue is NATS.")
    commit(cast.agent, "s1", say="Lunch was fine.")
    assert len(memories(cast.agent, "database queue")) == 2
    assert {row["text"] for row in search(cast.agent, "the queue is NATS")} & {
        "the queue is NATS",
        "Remember that the database is Postgres. Remember that the queue is NATS.",
    }
    for question in ("database", "queue", "database and queue", "lunch"):
        rows = search(cast.agent, question)
        texts = [row["text"] for row in rows]
        assert len(set(texts)) == len(texts)
        both = [row for row in rows if row["kind"] == "message" and "NATS" in row["text"]]
        assert not (both and any(row["kind"] == "memory" for row in rows))


STATES = ["superseded", "retracted", "expired", "future", "candidate", "demoted"]


def make(cast, state: str) -> str:
    """One memory about an okapi in project p, in the given state; its id."""
    scopes = context(P)
    if state in ("superseded", "retracted"):
        found: str = only(commit(cast.agent, scopes=scopes, preferences=[pref("the okapi", "pref:other:animal")]))[
            "id"
        ]
        if state == "superseded":
            commit(cast.agent, scopes=scopes, preferences=[pref("the zebra", "pref:other:animal")])
        else:
            commit(cast.agent, scopes=scopes, retractions=[gone("preferences", "pref:other:animal")])
        return found
    return str(made(scope_row(P), text="I saw the okapi.", **{state: True}).pk)


@pytest.mark.parametrize("state", STATES)
def test_what_does_not_hold_is_on_no_reading_door(cast, state):
    """Field reports C1, C3, C4, C8 and O3; cases 3 and 51. Every mode, searching and composing."""
    make(cast, state)
    for mode in ("hybrid", "exact", "semantic", "relational"):
        assert search(cast.agent, "okapi", mode=mode, kinds=["memory"], **IN_P) == []
    assert search(cast.agent, "okapi", types=["preferences", "facts"], **IN_P) == []
    package = compose(cast.agent, "What about the okapi?", **IN_P)
    assert "okapi" not in str([package["evidence"], package["system_blocks"], package["working_summary"]])
    assert search(cast.agent, "okapi", **IN_P) == []


@pytest.mark.parametrize("state", STATES)
def test_history_shows_what_once_held_and_marks_it(cast, state):
    """C3: opt-in. What was never trusted, or does not hold in the world, is no history."""
    made = make(cast, state)
    found = search(cast.agent, "okapi", kinds=["memory"], history=True, **IN_P)
    if state in ("superseded", "retracted"):
        assert [(row["id"], row["current"]) for row in found] == [(made, False)]
    else:
        assert found == []


def test_history_holds_for_each_mode(cast):
    """Field report C8."""
    make(cast, "superseded")
    for mode in ("hybrid", "exact", "semantic", "relational"):
        rows = search(cast.agent, "okapi", mode=mode, history=True, **IN_P)
        assert [row["current"] for row in rows] == [False]


def test_a_message_whose_memory_was_taken_back_says_so(cast):
    """Field report C4: what is stale and shown is marked."""
    commit(cast.agent, say="Remember that the default database is Postgres.")
    commit(cast.agent, say="Remember that the default database is MySQL.")
    rows = {row["text"]: row for row in search(cast.agent, "Which default database?")}
    stale = rows.pop("Remember that the default database is Postgres.")
    assert (stale["current"], stale["ref"]["item_id"]) == (False, None)
    assert all(row["current"] for row in rows.values())
    evidence = shown(compose(cast.agent, "Which default database?", "s2", scope_context=context("session:s1")))
    assert evidence
    assert not any("Postgres" in text for text in evidence)


def test_types_narrow_to_memories_of_these_types(cast):
    commit(cast.agent, say="zebra crossing", tasks=[task("zebra task")], decisions=[decision("zebra choice")])
    assert memories(cast.agent, "zebra", types=["tasks"]) == ["zebra task — todo"]
    assert {row["kind"] for row in search(cast.agent, "zebra", types=["tasks", "decisions"])} == {"memory"}
    assert search(cast.agent, "zebra", types=["goals"]) == []


def test_kinds_narrow_to_messages_or_memories(cast):
    commit(cast.agent, say="zebra crossing", tasks=[task("zebra task")])
    assert [row["kind"] for row in search(cast.agent, "zebra", kinds=["message"])] == ["message"]
    assert [row["kind"] for row in search(cast.agent, "zebra", kinds=["memory"])] == ["memory"]
    assert search(cast.agent, "zebra", kinds=["section", "card"]) == []


@pytest.mark.parametrize(
    ("query", "found"),
    [("port is 8080", True), ("PORT IS ８０８０", True), ("8080 is port", False), ("接口端口", True)],
)
def test_exact_mode_wants_the_words_as_they_stand(cast, query, found):
    commit(cast.agent, decisions=[decision("The API port is 8080，接口端口不变")])
    assert bool(memories(cast.agent, query, mode="exact")) is found
    assert memories(cast.agent, query)


def test_semantic_mode_falls_back_with_a_warning(cast):
    commit(cast.agent, decisions=[decision("Use Postgres")])
    answer = cast.agent.do("search_memory", domain_id=TEAM, session_id="s1", query="Postgres", mode="semantic")
    assert answer["warnings"] == ["semantic_unavailable:used_hybrid"]
    assert [row["text"] for row in answer["results"]] == ["Use Postgres"]
    plain = cast.agent.do("search_memory", domain_id=TEAM, session_id="s1", query="Postgres")
    assert (plain["warnings"], plain["conflicts"]) == ([], [])


def test_weak_results_are_marked_and_can_be_cut(cast):
    commit(cast.agent, decisions=[decision("The quarterly zebra census moves to March", "decision:s:z")])
    (weak,) = search(cast.agent, "zebra warranty insurance premium negotiations")
    assert weak["weak"]
    assert search(cast.agent, "zebra warranty insurance premium negotiations", min_confidence=0.5) == []
    (strong,) = search(cast.agent, "quarterly zebra census", min_confidence=0.5)
    assert not strong["weak"]


def test_pages_add_up_and_a_vanished_row_breaks_nothing(cast):
    """Field report J2."""
    scope = scope_row(P)
    rows = [made(scope, text=f"The zebra number {number} ran.", key=f"fact:z:n{number}") for number in range(25)]
    whole = [row["id"] for row in search(cast.agent, "zebra", limit=100, **IN_P)]
    assert set(whole) == {str(item.pk) for item in rows}
    found, cursor = [], None
    while True:
        body = {"domain_id": TEAM, "query": "zebra", "limit": 10, "cursor": cursor, **IN_P}
        answer = cast.agent.do("search_memory", body)
        found += [row["id"] for row in answer["results"]]
        cursor = answer["next_cursor"]
        if cursor is None:
            break
        last = found[-1]
        key = next(item.key for item in rows if str(item.pk) == last)
        commit(cast.agent, scopes=context(P), retractions=[gone("facts", key)])
    assert found == whole


def test_a_relational_search_finds_what_is_related(cast):
    commit(
        cast.agent,
        entities=[entity("Robert Miller", "person", aliases=["老米"], remember=True)],
        edges=[{"subject": "Robert Miller", "predicate": "owns", "object": "ledger"}],
        messages=[{"role": "user", "content": "The ledger failed on Monday."}],
        extract=False,
    )
    assert search(cast.agent, "老米", kinds=["message"]) == []
    (found,) = search(cast.agent, "老米", kinds=["message"], mode="relational")
    assert found["text"] == "The ledger failed on Monday."


def test_a_scope_that_is_not_read_adds_nothing(cast):
    """Cases 47 and 53, field reports D1 to D6."""
    commit(cast.agent, "s1", scopes=context(P), tasks=[task("zebra in p")])
    commit(cast.agent, "s2", scopes=context(Q), tasks=[task("zebra in q")])
    commit(cast.stranger, domain_id="elsewhere", scopes=context(P), tasks=[task("zebra elsewhere")])
    assert memories(cast.agent, "zebra", **IN_P) == ["zebra in p — todo"]
    both = memories(cast.agent, "zebra", scope_context=context(P, Q, default=None))
    assert sorted(both) == ["zebra in p — todo", "zebra in q — todo"]
    narrow = make_agent("narrow", pattern=Q)
    with pytest.raises(NotFoundError):
        search(narrow, "zebra", scope_context=context(Q, P, default=None))
    with pytest.raises(NotFoundError):
        search(cast.stranger, "zebra", **IN_P)


def test_two_domains_with_the_same_scopes_and_keys_share_nothing(cast):
    """Case 53."""
    both = make_agent("both")
    grant = {"name": "both", "domain_id": "elsewhere", "pattern": "*", "rights": ["read", "write"]}
    cast.operator.do("grant_access", grant)
    commit(both, scopes=context(P), tasks=[task("zebra here")], entities=[entity("octo/zebra")])
    commit(
        cast.stranger,
        domain_id="elsewhere",
        scopes=context(P),
        tasks=[task("zebra there")],
        entities=[entity("octo/zebra", aliases=["geheim"])],
        edges=[{"subject": "octo/zebra", "predicate": "hides", "object": "secret"}],
    )
    for mode in ("hybrid", "relational"):
        texts = str(search(both, "zebra geheim", mode=mode, **IN_P))
        assert "zebra here" in texts
        assert "there" not in texts
        assert "geheim" not in texts
    package = str(compose(both, "What about octo/zebra?", **IN_P)["evidence"])
    assert "secret" not in package
    assert "there" not in package


def test_the_text_by_query_by_id_and_in_the_index_agree_after_each_change(cast):
    """Field report B5."""
    for value in ("zebra one", "zebra two", "zebra one"):
        written = only(commit(cast.agent, preferences=[pref(value, "pref:other:animal")]))
        (found,) = search(cast.agent, "zebra")
        by_id = cast.agent.do("get_memory_item", id=written["id"])
        assert found["id"] == written["id"]
        assert found["text"] == by_id["item"]["statement"] == f"other animal: {value}"
        assert value in by_id["text"]
        assert IndexEntry.objects.filter(kind="memory", state="current").count() == 1


@pytest.mark.parametrize(
    "bad",
    [
        {"query": ""},
        {"kinds": []},
        {"kinds": ["dream"]},
        {"types": ["dream"]},
        {"types": ["tasks"] * 21},
        {"mode": "psychic"},
        {"as_of": "2026-12-01T00:00:00"},
        {"as_of": "yesterday"},
        {"as_of": {"valid": "2026-12-01"}},
        {"as_of": {"then": "2026-12-01T00:00:00Z"}},
        {"time_range": {"since": "2026-12-1"}},
        {"time_range": {"since": "2026-02-30"}},
        {"min_confidence": 1.5},
        {"min_confidence": -0.1},
        {"history": "yes"},
        {"limit": 0},
        {"limit": 101},
        {"cursor": "nonsense"},
        {"scope_context": {"read": []}},
    ],
)
def test_a_bad_question_is_refused(cast, bad):
    with pytest.raises(InvalidInputError):
        cast.agent.do("search_memory", {"domain_id": TEAM, "session_id": "s1", "query": "zebra", **bad})


def test_a_question_over_the_limit_is_too_large(cast):
    with pytest.raises(TooLargeError):
        search(cast.agent, "zebra " * 1000)


@pytest.mark.parametrize(
    "query", ["%", "_", "' OR 1=1 --", "NOT AND OR", '"', "\\", "🦓", "zebra\u0000"[:5], "*" * 500, "的"]
)
def test_odd_questions_are_only_words(cast, query):
    commit(cast.agent, tasks=[task("zebra")])
    assert isinstance(search(cast.agent, query), list)
