"""Structured items of a commit: what is kept, under which key, where, and all or nothing (specification 7.1)."""

from __future__ import annotations

import json
from typing import Any

import pytest

from governance import gate
from kernel.errors import ForbiddenError, IdempotencyConflictError, InvalidInputError, NotFoundError, TooLargeError
from memory.models import (
    Entity,
    EvidenceLink,
    KgEdge,
    KnowledgeEvent,
    MemoryChunk,
    MemoryItem,
    Message,
    Session,
    Summary,
    Turn,
)
from memory.services.items import chunk_of
from memory.statements import statement
from scopes.selectors import identify_named
from search.models import IndexEntry
from tests.conftest import TEAM, Player, a_turn, make_agent
from tests.memory.talk import commit, context, decision, entity, gone, lines, memories, only, pref, ref, states, task


def nothing_stored() -> bool:
    tables = (Session, Turn, Message, MemoryItem, MemoryChunk, KnowledgeEvent, EvidenceLink, Entity, KgEdge, Summary)
    return not any(model.objects.exists() for model in (*tables, IndexEntry))


EVERY_TYPE: dict[str, list[dict[str, Any]]] = {
    "tasks": [task(notes=["start small"], due="Friday")],
    "decisions": [decision(rationale="it is there", made_at="Monday")],
    "goals": [{"key": "goal:shop:fast", "description": "Answer within a second", "status": "active"}],
    "events": [{"key": "event:shop:2026-02-20:first-release", "title": "First release", "impact": "all"}],
    "preferences": [pref(priority=0.7)],
    "profile": [{"key": "profile:user", "facts": [{"k": "name", "v": "Ann", "since": "2020"}]}],
    "cases": [{"key": "case:shop:empty-index", "problem": "No hits", "solution": "Rebuild", "outcome": "worked"}],
    "patterns": [{"key": "pattern:shop:slots", "rule": "Slots in order", "confidence": 0.9}],
    "entities": [entity("octo/shop")],
}


def test_it_works(cast):
    """Case 1: one task, one decision, a confirmed and an unconfirmed preference."""
    unconfirmed = pref("loud", "pref:writing:volume", confirmed=False)
    answer = commit(cast.agent, tasks=[task()], decisions=[decision()], preferences=[pref(), unconfirmed])
    assert answer["memory_written"]["count"] == 3
    assert {written["confidence"] for written in answer["memory_written"]["items"]} == {0.9, 0.8}
    assert [
        (line["key"], line["reason_code"]) for line in answer["explain"]["retention"] if line["action"] == "skip"
    ] == [("pref:writing:volume", "not_confirmed")]
    assert not MemoryItem.objects.filter(key="pref:writing:volume").exists()


def test_every_type_is_kept_with_its_confidence_and_completed_from_its_key(cast):
    answer = commit(cast.agent, **EVERY_TYPE)
    found = {row.type: row for row in MemoryItem.objects.all()}
    assert set(found) == set(EVERY_TYPE)
    assert {name: row.confidence for name, row in found.items()} == {
        "tasks": 0.9,
        "decisions": 0.8,
        "goals": 0.8,
        "events": 0.9,
        "preferences": 0.8,
        "profile": 0.8,
        "cases": 0.8,
        "patterns": 0.8,
        "entities": 0.6,
    }
    assert found["tasks"].value["task_id"] == "parser"
    assert found["preferences"].value["scope"] == "writing"
    assert {(row.status, row.lifecycle_status, row.current_until) for row in found.values()} == {
        ("active", "promoted", None)
    }
    assert [written["type"] for written in answer["memory_written"]["items"]] == list(EVERY_TYPE)


def test_the_order_of_writing_is_that_of_the_specification(cast):
    answer = commit(cast.agent, **dict(reversed(EVERY_TYPE.items())))
    assert [line["type"] for line in answer["explain"]["retention"]] == list(EVERY_TYPE)


def test_a_kind_or_subject_left_out_is_that_of_the_key(cast):
    commit(
        cast.agent,
        entities=[{"key": "entity:repo:octo/shop", "remember": True}],
        profile=[{"key": "profile:agent", "facts": [{"k": "role", "v": "helper"}]}],
    )
    assert Entity.objects.get().kind == "repo"
    assert MemoryItem.objects.get(type="entities").value["kind"] == "repo"
    assert MemoryItem.objects.get(type="profile").value["subject"] == "agent"


@pytest.mark.parametrize(
    ("name", "given"),
    [
        ("entities", entity("octo/shop", kind="person", key="entity:repo:octo/shop")),
        ("preferences", pref(scope="coding")),
    ],
)
def test_a_kind_or_scope_that_contradicts_the_key_is_refused(cast, name, given):
    with pytest.raises(InvalidInputError, match="contradicts"):
        commit(cast.agent, **{name: [given]})
    assert nothing_stored()


def test_the_index_text_names_the_key_the_value_and_the_day(cast):
    """002 chapter 7: a locator line, a readable value, the time; found by any of them."""
    given = task("修好登录页的验证码", "task:web:验证码", status="blocked", notes=["等供应商"])
    answer = commit(cast.agent, tasks=[given])
    text = cast.agent.do("get_memory_item", id=only(answer)["id"])["text"]
    first, *rest = text.splitlines()
    assert first == "[tasks:task:web:验证码]"
    assert rest[0] == "修好登录页的验证码 — blocked"
    assert "等供应商" in text
    assert rest[-1].startswith("Recorded at: 20")
    assert memories(cast.agent, "供应商") == ["修好登录页的验证码 — blocked"]


def test_the_index_text_can_be_made_again_from_the_stored_value(cast):
    """Chunks are derived: made again from what the database gives back they are the same, on every database."""
    attrs = {"stars": 5, "language": "ruby", "a": {"long-name": 1, "b": [2, None, {"z": 1, "yy": 2}]}}
    commit(cast.agent, entities=[entity("octo/shop", attrs=attrs, remember=True)], tasks=[task(notes=["b", "a"])])
    commit(cast.agent, entities=[entity("octo/shop", attrs={"license": "MIT"}, remember=True)])
    rows = list(MemoryItem.objects.select_related("chunk"))
    assert len(rows) == 3
    for row in rows:
        assert chunk_of(row).text == row.chunk.text
        assert statement(row.type, row.value) == row.statement


@pytest.mark.parametrize(
    ("name", "given", "says"),
    [
        ("decisions", decision(key="decision:shop"), "lacks `<topic>`"),
        ("decisions", decision(key="choice:shop:database"), "must start with `decision:`"),
        ("tasks", task(key="task:shop: "), "`<task_id>` is empty"),
        ("tasks", task(key="task: shop:x"), "white space"),
        ("preferences", pref(key="pref:cooking:tone"), "is not one of writing"),
        ("entities", {"key": "entity:planet:mars", "remember": True}, "is not one of person"),
        ("events", {"key": "event:shop:2026-02-30:x", "title": "t"}, "not a day"),
        ("events", {"key": "event:shop:２０２６-02-3:x", "title": "t"}, "not a day"),
        ("goals", {"key": "goal:shop:a\u202eb", "description": "d"}, "U+202E"),
        ("goals", {"key": "goal:shop:a\tb", "description": "d"}, "U+0009"),
        ("cases", {"key": "case:shop:" + "x" * 295, "problem": "p"}, "at most 300"),
        ("patterns", {"key": "pattern:shop:" + "ﷺ" * 20, "rule": "r"}, "at most 300"),
        ("retractions", gone("decisions", "pref:writing:tone"), "must start with `decision:`"),
    ],
)
def test_a_key_outside_its_grammar_is_refused_with_a_right_example(cast, name, given, says):
    with pytest.raises(InvalidInputError) as caught:
        commit(cast.agent, say="hello", **{name: [given]})
    assert says in caught.value.message
    assert "for example `" in caught.value.message
    assert caught.value.errors[0]["loc"] == ["turn_events", name, "0", "key"]
    assert nothing_stored()


@pytest.mark.parametrize(
    "key", ["decision:магазин:база-данных", "decision:المتجر:قاعدة", "decision:店:数据库:主", "decision:shop:emoji-🗄️"]
)
def test_a_key_may_be_in_any_script(cast, key):
    assert only(commit(cast.agent, decisions=[decision(key=key)]))["key"] == key
    assert cast.agent.do("list_memory_items", domain_id=TEAM, key=key)["items"][0]["key"] == key


def test_a_key_is_kept_in_nfkc_so_that_two_spellings_are_one(cast):
    commit(cast.agent, decisions=[decision("Use MySQL", "decision:café:db")])
    answer = commit(cast.agent, decisions=[decision("Use Postgres", "decision:cafe\u0301:ｄｂ")])
    assert only(answer)["key"] == "decision:café:db"
    assert [current for _, current, _ in states("decision:café:db")] == [False, True]


@pytest.mark.parametrize("name", [*EVERY_TYPE, "retractions"])
def test_an_item_without_a_key_is_an_error_and_nothing_is_stored(cast, name):
    """Case 11: a decision without a key stores nothing, not even the turn."""
    given = gone("tasks", "task:a:b") if name == "retractions" else dict(EVERY_TYPE[name][0])
    del given["key"]
    with pytest.raises(InvalidInputError, match=f"turn_events.{name}.0.key"):
        commit(cast.agent, say="hello", **{name: [given]})
    assert nothing_stored()


def test_one_bad_key_of_five_hundred_items_stores_nothing(cast):
    good = [task(f"task {n}", f"task:shop:t{n}") for n in range(499)]
    with pytest.raises(InvalidInputError, match=r"turn_events\.tasks\.250\.key"):
        commit(cast.agent, say="hello", tasks=[*good[:250], task(key="task:shop"), *good[250:]])
    assert nothing_stored()


def test_ten_thousand_items_are_too_many_and_five_hundred_are_not(cast):
    many = [task(f"t {n}", f"task:shop:t{n}") for n in range(10_000)]
    with pytest.raises(TooLargeError, match="split the turn"):
        commit(cast.agent, tasks=many)
    assert nothing_stored()
    assert commit(cast.agent, tasks=many[:500])["memory_written"]["count"] == 500


def test_json_text_gives_the_same_as_a_plain_tree(cast):
    """Case 15."""
    tree = a_turn(turn_events={"tasks": [task()]})
    from_text = gate.call("commit_turn", json.dumps(tree).encode(), ctx=cast.agent.ctx()).body()
    again = cast.agent.do("commit_turn", tree)
    assert only(again)["deduplicated"]
    assert only(again)["id"] == only(from_text)["id"]


def test_the_same_commit_sent_twice_is_one_turn_with_its_items(cast):
    """Case 17; another payload under the same key is refused."""
    events = {"tasks": [task()], "preferences": [pref()]}
    first = commit(cast.agent, idempotency_key="k", **events)
    again = commit(cast.agent, idempotency_key="k", **events)
    assert again == {**first, "deduplicated": True}
    assert (Turn.objects.count(), MemoryItem.objects.count()) == (1, 2)
    with pytest.raises(IdempotencyConflictError):
        commit(cast.agent, idempotency_key="k", **{**events, "tasks": [task("another")]})
    assert MemoryItem.objects.count() == 2


P, Q = "project:p", "project:q"
OPEN = context("session:s1", P, write=("session:s1", P), default="session:s1")


def test_an_item_of_its_own_scope_goes_there_and_the_messages_do_not(cast):
    """Cases 45 and 46."""
    answer = commit(
        cast.agent, say="We use Postgres.", scopes=OPEN, decisions=[decision(scope_ref=ref(P))], extract=False
    )
    row = MemoryItem.objects.select_related("scope", "source_session").get()
    assert (row.scope.name, row.source_session and row.source_session.external_id) == (P, "s1")
    assert only(answer)["scope"] == ref(P)
    assert list(IndexEntry.objects.filter(kind="message").values_list("scope__scope_type", flat=True)) == ["session"]


def test_a_scope_ref_on_a_message_or_reference_has_no_effect_and_says_so(cast):
    """Case 46."""
    answer = commit(
        cast.agent,
        scopes=OPEN,
        messages=[{"role": "user", "content": "We use Postgres.", "scope_ref": ref(P)}],
        refs=[{"ref_type": "url", "ref_uri": "https://example.com/x", "scope_ref": ref(P)}],
        extract=False,
    )
    assert {each["path"] for each in answer["ignored"]} == {
        "turn_events.messages.0.scope_ref",
        "turn_events.refs.0.scope_ref",
    }
    assert set(IndexEntry.objects.values_list("scope__scope_type", flat=True)) == {"session"}


def test_without_write_only_default_write_takes_items_and_the_rest_is_explained(cast):
    """Case 44 and decision 3: that item only is refused, with 200 and a reason."""
    answer = commit(
        cast.agent,
        scopes=context("session:s1", P),
        decisions=[decision(scope_ref=ref(P))],
        tasks=[task()],
        retractions=[gone("goals", "goal:shop:x", scope_ref=ref(P))],
        edges=[{"subject": "shop", "predicate": "uses", "object": "Postgres", "scope_ref": ref(P)}],
    )
    refused = [line for line in answer["explain"]["retention"] if line["action"] == "refuse"]
    assert [(line["type"], line["reason_code"], line["scope"]) for line in refused] == [
        ("decisions", "scope_not_writable", P),
        ("goals", "scope_not_writable", P),
        ("edges", "scope_not_writable", P),
    ]
    assert [row.type for row in MemoryItem.objects.all()] == ["tasks"]
    assert not KgEdge.objects.exists()


def test_a_context_without_default_write_takes_only_items_that_name_a_scope(cast):
    scopes = context("session:s1", P, write=(P,), default=None)
    answer = commit(cast.agent, scopes=scopes, tasks=[task(), task("there", "task:shop:x", scope_ref=ref(P))])
    assert ("refuse", "no_default_write") in lines(answer)
    assert [(row.key, row.scope.name) for row in MemoryItem.objects.all()] == [("task:shop:x", P)]


@pytest.mark.parametrize(
    "bad",
    [
        {"type": "galaxy", "id": "x"},
        {"type": "project", "id": ""},
        {"type": "project"},
        {"type": "project", "id": "p", "domain_id": "elsewhere"},
        "project:p",
    ],
)
@pytest.mark.parametrize("where", ["tasks", "retractions", "edges"])
def test_a_scope_ref_that_is_malformed_or_foreign_rejects_the_whole_commit(cast, bad, where):
    """Case 43 and decision 3."""
    given = {
        "tasks": task(scope_ref=bad),
        "retractions": gone("tasks", "task:shop:x", scope_ref=bad),
        "edges": {"subject": "a", "predicate": "b", "object": "c", "scope_ref": bad},
    }
    with pytest.raises(InvalidInputError):
        commit(cast.agent, say="hello", scopes=OPEN, preferences=[pref()], **{where: [given[where]]})
    assert nothing_stored()


@pytest.mark.parametrize(
    "scopes",
    [
        {"read": [ref(P), ref(P)], "default_write": ref(P)},
        {"read": [ref(P)], "write": [ref(Q)]},
        {"read": [ref(P), ref(Q)], "write": [ref(Q)], "default_write": ref(P)},
        {"read": [{"type": "galaxy", "id": "x"}]},
        {"read": [{**ref(P), "domain_id": "elsewhere"}]},
        {"read": []},
    ],
)
def test_a_scope_context_that_contradicts_itself_is_refused_before_any_write(cast, scopes):
    """Case 43."""
    with pytest.raises(InvalidInputError):
        commit(cast.agent, say="hello", scopes=scopes, tasks=[task()])
    assert nothing_stored()


def test_a_scope_that_may_be_read_but_not_written_is_refused(cast):
    make_agent("half", pattern="session:*")
    grant = {"name": "half", "domain_id": TEAM, "pattern": P, "rights": ["read"]}
    cast.operator.do("grant_access", grant)
    identity = identify_named("half")
    assert identity is not None
    agent = Player("half", identity)
    with pytest.raises(ForbiddenError):
        commit(agent, scopes=context("session:s1", P, write=("session:s1", P)), tasks=[task(scope_ref=ref(P))])
    assert not MemoryItem.objects.exists()


def test_a_scope_outside_the_grants_is_not_found(cast):
    agent = make_agent("narrow", pattern=P)
    with pytest.raises(NotFoundError):
        commit(agent, scopes=context(P, Q, write=(P, Q)), tasks=[task(scope_ref=ref(Q))])
    assert nothing_stored()


def test_a_reader_writes_no_item(cast):
    with pytest.raises((ForbiddenError, NotFoundError)):
        commit(cast.reader, tasks=[task()])
    assert nothing_stored()
