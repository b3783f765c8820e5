"""A memory of the older system says here what a commit of the same would have said."""

from __future__ import annotations

import json
from datetime import UTC, datetime

import pytest

from legacy.contracts import Quarantined, Reason, SourceRow
from legacy.steps.entities import named
from legacy.steps.summaries import turn_range
from legacy.steps.values import Mapped, mapped
from memory.contracts.items import Lifecycle, Status
from memory.statements import content_hash


def a_row(**columns: str | None) -> SourceRow:
    given: dict[str, str | None] = {
        "id": "m1",
        "session_id": "s1",
        "type": "preferences",
        "key": "pref:writing:tone",
        "value_json": '{"key": "pref:writing:tone", "value": "concise", "confirmed": true}',
        "confidence": "0.80",
        "status": "active",
        "updated_at": "2026-02-20 10:00:00+00",
    }
    return SourceRow("memory_items", "m1", {**given, **columns})


def told(kind: str, key: str, **value: object) -> Mapped:
    return mapped(a_row(type=kind, key=key, value_json=json.dumps(value)))


def reason_of(**columns: str | None) -> Reason:
    with pytest.raises(Quarantined) as caught:
        mapped(a_row(**columns))
    return caught.value.reason


def test_it_works():
    said = mapped(a_row())
    committed = {"scope": "writing", "name": "tone", "value": "concise"}
    assert said.value == {**committed, "beside": {"key": "pref:writing:tone", "confirmed": True}}
    assert said.statement == "writing tone: concise"
    assert (said.confidence, said.status, said.lifecycle) == (0.8, Status.ACTIVE, Lifecycle.PROMOTED)
    assert said.content_hash == content_hash(said.type, said.key, committed)
    assert said.notes == ("of another shape than preferences have: confirmed, key",)


@pytest.mark.parametrize("date", ["2027-01-01T00:00:00Z", "some day"])
def test_members_that_are_no_part_of_a_value_stand_beside(date: str):
    given = {
        "decision": "x",
        "review_by": date,
        "supersedes": "that",
        "remember": True,
        "beside": "more",
        "scope_ref": None,
    }
    said = told("decisions", "decision:a:b", **given)
    lost = {name: inner for name, inner in given.items() if name not in ("decision", "scope_ref")}
    assert said.value == {"project": "a", "topic": "b", "decision": "x", "beside": lost}
    assert said.notes == ("of another shape than decisions have: beside, remember, review_by, supersedes",)
    assert said.review_by == (datetime(2027, 1, 1, tzinfo=UTC) if date.startswith("2027") else None)


def test_fields_that_a_type_does_not_know_stay():
    said = told("tasks", "task:p:t", title="Ship it", status="todo", colour="red", due=None)
    assert said.value["colour"] == "red"
    assert said.value["title"] == "Ship it"
    assert said.notes == ()


@pytest.mark.parametrize(
    ("kind", "key", "value", "faulty"),
    [
        ("profile", "profile:user", {"facts": ["odd", 3]}, {"facts": ["odd", 3]}),
        ("tasks", "task:p:t", {"title": "x", "notes": 7}, {"notes": 7}),
        ("entities", "entity:repo:a", {"canonical": "a", "aliases": {"b": 1}}, {"aliases": {"b": 1}}),
    ],
)
def test_fields_of_another_shape_stand_beside_and_are_named(kind, key, value, faulty):
    said = told(kind, key, **value)
    assert said.value["beside"] == faulty
    assert not faulty.keys() & {name for name, inner in said.value.items() if inner == faulty.get(name)}
    assert said.statement
    assert any(name in note for note in said.notes for name in faulty)


def test_no_key_is_none_and_is_told():
    said = mapped(a_row(key=" "))
    assert said.key is None
    assert said.value["value"] == "concise"
    assert "it has no key" in said.notes


def test_a_key_is_put_in_its_normal_form_and_the_old_one_told():
    said = mapped(a_row(key="pref:writing:ｔone"))
    assert said.key == "pref:writing:tone"
    assert any("ｔone" in note for note in said.notes)


def test_canonical_without_a_tier_is_promoted_and_told():
    said = mapped(a_row(lifecycle_status="canonical"))
    assert said.lifecycle is Lifecycle.PROMOTED
    assert said.notes


@pytest.mark.parametrize(
    ("columns", "reason"),
    [
        ({"type": "songs"}, Reason.UNKNOWN_TYPE),
        ({"type": None}, Reason.MISSING_VALUE),
        ({"key": "tone"}, Reason.KEY_GRAMMAR),
        ({"value_json": "[1]"}, Reason.NOT_AN_OBJECT),
        ({"value_json": "{"}, Reason.BAD_JSON),
        ({"value_json": json.dumps({"value": "x" * 200_001})}, Reason.TEXT_TOO_LONG),
        ({"confidence": "1.01"}, Reason.CONFIDENCE_RANGE),
        ({"confidence": "-0.01"}, Reason.CONFIDENCE_RANGE),
        ({"confidence": "NaN"}, Reason.BAD_NUMBER),
        ({"evidence_refs": "[1"}, Reason.BAD_JSON),
        ({"status": "archived"}, Reason.UNKNOWN_STATUS),
        ({"lifecycle_status": "zombie"}, Reason.UNKNOWN_STATUS),
        ({"updated_at": "infinity"}, Reason.BAD_TIME),
    ],
)
def test_what_breaks_a_rule_is_kept_aside(columns, reason):
    assert reason_of(**columns) is reason


def test_a_kind_that_is_not_here_is_other_and_told():
    assert named("person", "Ann", "Ann").note == ""
    assert named("vegetable", "leek", "leek").kind == "other"
    assert "vegetable" in named("vegetable", "leek", "leek").note


@pytest.mark.parametrize(("name", "reason"), [("x" * 301, Reason.TEXT_TOO_LONG), (" \n", Reason.MISSING_VALUE)])
def test_a_name_that_nobody_could_ask_for_is_kept_aside(name, reason):
    with pytest.raises(Quarantined) as caught:
        named("person", name, name)
    assert caught.value.reason is reason


@pytest.mark.parametrize(
    ("text", "ends"), [('{"from": 1, "to": 12}', (1, 12)), ("[3, 3]", (3, 3)), (None, (0, 0)), ("{}", (0, 0))]
)
def test_the_turns_of_a_summary_are_read_in_either_form(text, ends):
    assert turn_range(SourceRow("summaries", "s1", {"summary_source_turn_range": text})) == ends


@pytest.mark.parametrize(
    "text", ["[3, 1]", "[1]", '["1", "2"]', '{"from": -1, "to": 2}', '"1-2"', "[true, true]", "7"]
)
def test_turns_that_make_no_range_are_kept_aside(text):
    with pytest.raises(Quarantined) as caught:
        turn_range(SourceRow("summaries", "s1", {"summary_source_turn_range": text}))
    assert caught.value.reason is Reason.BAD_NUMBER
