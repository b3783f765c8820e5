"""Bad input for every field of memory: refused with its place, nothing stored, and never a bug (issue 3, bad input)."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pydantic import ValidationError

from governance import gate
from kernel.actions import all_actions
from kernel.errors import DomainError, InvalidInputError, InvalidJsonError, TooLargeError
from memory.models import KgEdge, MemoryItem, Turn
from tests.conftest import TEAM, make_cast
from tests.memory.talk import commit, context, decision, entity, gone, only, pref, search, task

EVERY_LIST: dict[str, dict[str, Any]] = {
    "tasks": task(notes=["start small"], due="Friday", status="doing"),
    "decisions": decision(rationale="it is there", made_at="Monday"),
    "goals": {"key": "goal:shop:fast", "description": "Answer within a second", "status": "active"},
    "events": {"key": "event:shop:2026-02-20:first", "title": "First release", "impact": "all"},
    "preferences": pref(priority=0.7),
    "profile": {"key": "profile:user", "facts": [{"k": "name", "v": "Ann", "since": "2020"}]},
    "cases": {"key": "case:shop:x", "problem": "No hits", "artifacts": [{"type": "file", "ref": "a.md"}]},
    "patterns": {"key": "pattern:shop:slots", "rule": "Slots in order", "confidence": 0.9},
    "entities": entity("octo/shop", aliases=["shop"], attrs={"stars": 1}, remember=True),
    "retractions": gone("tasks", "task:shop:parser"),
    "edges": {"subject": "a", "predicate": "b", "object": "c", "confidence": 0.5},
}
SHARED = {
    "scope_ref": {"type": "session", "id": "s1"},
    "supersedes": "01a22ffd-c3f2-7c9a-9451-3528953149e0",
    "valid_from": "2026-01-01T00:00:00Z",
    "valid_to": "2099-01-01T00:00:00Z",
    "review_by": "2026-06-01T00:00:00+08:00",
    "importance": 3,
    "evidence_refs": [{"kind": "url", "id": "https://example.com/"}],
}
ITEM_LISTS = [name for name in EVERY_LIST if name not in ("retractions", "edges")]


def stored() -> tuple[int, int, int]:
    return Turn.objects.count(), MemoryItem.objects.count(), KgEdge.objects.count()


def nothing_stored() -> bool:
    return stored() == (0, 0, 0)


def test_it_works(cast):
    """Every list with every field that it knows is taken."""
    rows = {name: [row | (SHARED if name in ITEM_LISTS else {})] for name, row in EVERY_LIST.items()}
    for name in ITEM_LISTS:
        rows[name][0].pop("supersedes")
    answer = commit(cast.agent, scopes=context("session:s1"), **rows)
    assert answer["memory_written"]["count"] == len(ITEM_LISTS)


@pytest.mark.parametrize("name", EVERY_LIST)
@pytest.mark.parametrize("junk", [None, 7, "x", [], ["x"], {}, True, [[]]], ids=repr)
def test_an_entry_that_is_no_entry_is_refused_with_its_place(cast, name, junk):
    """Field report F3: an unknown shape is never skipped silently."""
    with pytest.raises(InvalidInputError) as caught:
        commit(cast.agent, say="hello", **{name: [junk]})
    assert caught.value.errors[0]["loc"][:3] == ["turn_events", name, "0"]
    assert nothing_stored()


@pytest.mark.parametrize("name", EVERY_LIST)
def test_a_list_that_is_no_list_is_refused(cast, name):
    for junk in (None, {}, "x", 1, {"0": EVERY_LIST[name]}):
        with pytest.raises(InvalidInputError, match=f"turn_events.{name}"):
            commit(cast.agent, say="hello", **{name: junk})
    assert nothing_stored()


@pytest.mark.parametrize("name", EVERY_LIST)
def test_an_unknown_field_is_refused_by_name(cast, name):
    for field in ("tier", "pinned", "lifecycle_status", "confidence_", "status_", "origin", "author_name", "id"):
        with pytest.raises(InvalidInputError, match=field):
            commit(cast.agent, say="hello", **{name: [EVERY_LIST[name] | {field: "x"}]})
    assert nothing_stored()


def test_an_unknown_list_or_type_is_refused(cast):
    bodies: tuple[dict[str, Any], ...] = (
        {"facts": [{"key": "fact:a:b"}]},
        {"dreams": []},
        {"retractions": [gone("dreams", "dream:a:b")]},
    )
    for body in bodies:
        with pytest.raises(InvalidInputError):
            commit(cast.agent, say="hello", **body)
    assert nothing_stored()


@pytest.mark.parametrize("name", ITEM_LISTS)
@pytest.mark.parametrize(
    ("field", "junk"),
    [
        ("key", 7),
        ("key", ""),
        ("key", "x" * 501),
        ("supersedes", "x"),
        ("valid_from", "2026-01-01T00:00:00"),
        ("valid_from", "2026-01-01"),
        ("valid_from", 1767225600),
        ("valid_from", "2026-13-01T00:00:00Z"),
        ("valid_from", "0000-01-01T00:00:00Z"),
        ("valid_from", "9999-12-31T23:59:59-23:59"),
        ("valid_to", "yesterday"),
        ("review_by", "2026-06-01T00:00:00"),
        ("importance", -1),
        ("importance", 6),
        ("importance", 2.5),
        ("importance", "3"),
        ("importance", 10**20),
        ("importance", True),
        ("evidence_refs", {"kind": "url", "id": "x"}),
        ("evidence_refs", [{"kind": "gossip", "id": "x"}]),
        ("evidence_refs", [{"kind": "url", "id": ""}]),
        ("evidence_refs", [{"kind": "url", "id": "x" * 2001}]),
        ("evidence_refs", [{"kind": "url"}]),
        ("evidence_refs", [{"kind": "url", "id": 7}]),
        ("evidence_refs", [{"kind": "url", "id": "x", "role": "verification"}]),
        ("evidence_refs", [{"kind": "url", "id": f"https://u/{n}"} for n in range(51)]),
        ("evidence_refs", ["01a22ffd"]),
    ],
)
def test_a_field_that_every_item_has_is_checked(cast, name, field, junk):
    with pytest.raises(InvalidInputError) as caught:
        commit(cast.agent, say="hello", **{name: [EVERY_LIST[name] | {field: junk}]})
    assert field in caught.value.errors[0]["loc"]
    assert nothing_stored()


@pytest.mark.parametrize("name", [*ITEM_LISTS, "edges"])
@pytest.mark.parametrize("to", ["2026-01-01T00:00:00Z", "2025-12-31T23:59:59Z", "2026-01-01T01:00:00+01:00"])
def test_what_ends_before_it_begins_is_refused(cast, name, to):
    with pytest.raises(InvalidInputError, match="valid_to must be later than valid_from"):
        commit(
            cast.agent,
            say="hello",
            **{name: [EVERY_LIST[name] | {"valid_from": SHARED["valid_from"], "valid_to": to}]},
        )
    assert nothing_stored()


@pytest.mark.parametrize(
    ("name", "fields"),
    [
        ("tasks", {"status": "cancelled"}),
        ("tasks", {"notes": ["x"] * 101}),
        ("tasks", {"notes": [7]}),
        ("tasks", {"title": "x" * 20_001}),
        ("tasks", {"due": "x" * 501}),
        ("decisions", {"decision": ""}),
        ("decisions", {"decision": None}),
        ("decisions", {"decision": "x" * 20_001}),
        ("preferences", {"confirmed": "true"}),
        ("preferences", {"confirmed": 1}),
        ("preferences", {"priority": 1.1}),
        ("preferences", {"priority": -0.1}),
        ("preferences", {"scope": "cooking"}),
        ("profile", {"facts": []}),
        ("profile", {"facts": [{"k": "name"}]}),
        ("profile", {"facts": [{"k": "a", "v": "b"}] * 101}),
        ("profile", {"facts": {"name": "Ann"}}),
        ("cases", {"artifacts": [{"type": "x"}]}),
        ("cases", {"artifacts": [{"type": "x", "ref": "y"}] * 51}),
        ("patterns", {"rule": ""}),
        ("patterns", {"confidence": 1.5}),
        ("entities", {"aliases": "shop"}),
        ("entities", {"attrs": []}),
        ("entities", {"remember": None}),
        ("retractions", {"reason": "x" * 20_001}),
        ("retractions", {"reason": None}),
        ("retractions", {"type": None}),
    ],
)
def test_a_field_of_its_own_is_checked(cast, name, fields):
    with pytest.raises(InvalidInputError):
        commit(cast.agent, say="hello", **{name: [EVERY_LIST[name] | fields]})
    assert nothing_stored()


@pytest.mark.parametrize(
    "value",
    [
        "x" * 100_000,
        ["x" * 1000] * 100,
        {f"k{n}": n for n in range(5000)},
        [[[[[[[[["deep"]]]]]]]]],
        "数据" * 40_000,
        0.1,
        -(2**63) + 1,
        2**63 - 1,
        1.5e15,
        1e-300,
        "\u202e\u200b",
        "",
        None,
        False,
        {"": ""},
        {"a\nb": "\t\r\x7f"},
    ],
)
def test_any_json_value_of_a_preference_comes_back_as_it_was(cast, value):
    found = only(commit(cast.agent, preferences=[pref(value)]))
    shown = cast.agent.do("get_memory_item", id=found["id"])["item"]["value"]
    assert shown.get("value") == value


@pytest.mark.parametrize("value", ["x" * 200_001, {"a": ["x" * 1000] * 201}], ids=["text", "nested"])
def test_a_value_over_the_limit_is_too_large(cast, value):
    with pytest.raises(TooLargeError, match=r"turn_events\.preferences"):
        commit(cast.agent, say="hello", preferences=[pref(value)])
    assert nothing_stored()


def nested(levels: int) -> Any:
    value: Any = "x"
    for _ in range(levels):
        value = [value]
    return value


@pytest.mark.parametrize(
    "value", [nested(40), "a\x00b", {"a\x00": 1}, "half \ud83d", 2**63, float("inf"), float("nan")], ids=repr
)
def test_what_no_database_can_keep_is_refused(cast, value):
    with pytest.raises(InvalidInputError):
        commit(cast.agent, say="hello", preferences=[pref(value)])
    assert nothing_stored()


@pytest.mark.parametrize(
    "text",
    [
        '{"session_id": "s", "session_id": "t", "turn_events": {}}',
        '{"turn_events": {"tasks": [{"key": "task:a:b", "importance": NaN}]}}',
        '{"turn_events": {"tasks": [' + "[" * 100_000,
        "[]",
        "",
        "null",
        "{",
        '{"turn_events": "' + "x" * 10 + '"}',
    ],
)
def test_text_that_is_no_turn_is_refused(cast, text):
    with pytest.raises((InvalidInputError, InvalidJsonError)):
        gate.call("commit_turn", text, ctx=cast.agent.ctx())
    assert nothing_stored()


@pytest.mark.parametrize("lists", [1, len(ITEM_LISTS)])
def test_ten_thousand_items_in_one_commit_are_refused_at_once(cast, lists):
    """Issue 3: in one list, or spread over all of them."""
    rows = {}
    for name in ITEM_LISTS[:lists]:
        row, count = EVERY_LIST[name], 10_000 // lists + 1
        stem = row["key"].rpartition(":")[0]
        rows[name] = [row | {"key": f"{stem}:n{number}"} for number in range(count)]
    with pytest.raises(TooLargeError):
        commit(cast.agent, **rows)
    assert nothing_stored()


def test_the_same_item_a_thousand_times_is_one(cast):
    answer = commit(cast.agent, tasks=[task()] * 1000)
    assert answer["memory_written"]["count"] == 1
    assert len(answer["explain"]["retention"]) == 1000
    assert MemoryItem.objects.count() == 1


JUNK = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=20),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=8,
)


@st.composite
def spoiled(draw: st.DrawFn) -> dict:
    """A good commit of a few items in which one field of one of them holds anything."""
    names = draw(st.lists(st.sampled_from(list(EVERY_LIST)), min_size=1, max_size=3, unique=True))
    events = {name: [dict(EVERY_LIST[name])] for name in names}
    victim = draw(st.sampled_from(names))
    fields = list(EVERY_LIST[victim]) + (list(SHARED) if victim in ITEM_LISTS else [])
    events[victim][0][draw(st.sampled_from(fields))] = draw(JUNK)
    return events


@pytest.mark.django_db
def test_anything_in_any_field_ends_in_an_answer_or_a_refusal():
    """Whatever comes: an answer that can be read back, or an error that stores nothing. Never a bug."""
    cast = make_cast()
    refusals: list[tuple[int, bool]] = []

    @settings(max_examples=150)
    @given(spoiled())
    def attempt(events: dict) -> None:
        before = stored()
        try:
            answer = commit(cast.agent, **events)
        except DomainError as error:
            refusals.append((error.status, stored() == before))
            return
        json.dumps(answer)
        for written in answer["memory_written"]["items"]:
            assert cast.agent.do("get_memory_item", id=written["id"])["item"]["id"] == written["id"]

    attempt()
    assert {unchanged for _, unchanged in refusals} == {True}
    assert {status for status, _ in refusals} <= {400, 409, 413, 422}
    assert isinstance(search(cast.agent, "anything"), list)
    assert cast.agent.do("list_memory_items", domain_id=TEAM)["items"] is not None


@pytest.mark.parametrize(
    "action",
    [
        each
        for each in all_actions()
        if "reason" in each.input.model_fields and each.input.model_fields["reason"].is_required()
    ],
    ids=lambda action: action.name,
)
@pytest.mark.parametrize("reason", ["", " \n", "\u200b", "\u200b \u2060"])
def test_a_reason_that_nobody_can_read_is_none_wherever_one_is_asked_for(action, reason):
    with pytest.raises(ValidationError) as refused:
        action.input.model_validate({"reason": reason})
    assert ("reason",) in [each["loc"] for each in refused.value.errors()]
