"""What a new value does to the old one: overwritten, kept as a version, superseded by id, retracted (specification 2.5)."""

from __future__ import annotations

from uuid import uuid4

import pytest

from kernel.errors import InvalidInputError
from memory.models import KnowledgeEvent, MemoryItem
from search.models import IndexEntry
from tests.conftest import TEAM
from tests.memory.factories import made, scope_row
from tests.memory.talk import (
    commit,
    compose,
    context,
    decision,
    gone,
    item,
    lines,
    memories,
    only,
    pref,
    ref,
    shown,
    states,
    task,
)

TONE, DATABASE = "pref:writing:tone", "decision:shop:database"
P, Q = "project:p", "project:q"


def test_it_works(cast):
    """Case 2: an overwrite type keeps one active row; the old one is superseded and names its successor."""
    old = only(commit(cast.agent, preferences=[pref("concise")]))["id"]
    answer = commit(cast.agent, preferences=[pref("detailed")])
    new = only(answer)["id"]
    assert answer["memory_written"]["conflicts"] == [
        {"type": "overwrite", "key": TONE, "previous_memory_item_id": old, "memory_item_id": new, "rule": "opposite"}
    ]
    assert answer["explain"]["conflicts"] == answer["memory_written"]["conflicts"]
    assert states(TONE) == [("superseded", False, 1), ("active", True, 2)]
    assert str(item(old).successor_id) == new
    assert memories(cast.agent, "writing tone") == ["writing tone: detailed"]


@pytest.mark.parametrize(
    ("name", "one", "two"),
    [
        ("preferences", pref("concise"), pref("detailed")),
        ("goals", {"key": "goal:shop:fast", "description": "one"}, {"key": "goal:shop:fast", "description": "two"}),
        ("tasks", task("one"), task("two")),
    ],
)
def test_an_overwrite_type_has_one_active_row(cast, name, one, two):
    commit(cast.agent, **{name: [one]})
    commit(cast.agent, **{name: [two]})
    assert states(one["key"]) == [("superseded", False, 1), ("active", True, 2)]


@pytest.mark.parametrize(
    ("name", "one", "two"),
    [
        ("decisions", decision("one"), decision("two")),
        ("events", {"key": "event:s:2026-01-01:x", "title": "one"}, {"key": "event:s:2026-01-01:x", "title": "two"}),
        ("cases", {"key": "case:s:x", "problem": "one"}, {"key": "case:s:x", "problem": "two"}),
        ("patterns", {"key": "pattern:s:x", "rule": "one"}, {"key": "pattern:s:x", "rule": "two"}),
        (
            "profile",
            {"key": "profile:user", "facts": [{"k": "name", "v": "Ann"}]},
            {"key": "profile:user", "facts": [{"k": "name", "v": "Bea"}]},
        ),
    ],
)
def test_a_versioned_type_keeps_its_versions_active_and_one_current(cast, name, one, two):
    commit(cast.agent, **{name: [one]})
    answer = commit(cast.agent, **{name: [two]})
    assert [conflict["type"] for conflict in answer["memory_written"]["conflicts"]] == ["version"]
    assert states(one["key"]) == [("active", False, 1), ("active", True, 2)]


def test_two_decisions_of_one_key_are_kept_and_only_the_newest_is_shown(cast):
    """Case 13."""
    for text in ("The shop runs on MySQL", "The shop runs on Postgres", "The shop runs on SQLite"):
        commit(cast.agent, decisions=[decision(text)])
    assert [current for _, current, _ in states(DATABASE)] == [False, False, True]
    assert memories(cast.agent, "What does the shop run on?") == ["The shop runs on SQLite"]
    assert shown(compose(cast.agent, "What does the shop run on?")) == ["The shop runs on SQLite"]
    commit(cast.agent, retractions=[gone("decisions", DATABASE)])
    assert [status for status, _, _ in states(DATABASE)] == ["retracted"] * 3
    assert memories(cast.agent, "What does the shop run on?") == []
    assert shown(compose(cast.agent, "What does the shop run on?")) == []


@pytest.mark.parametrize(
    ("name", "one", "same"),
    [
        ("preferences", pref("Concise"), pref("  concise ")),
        ("preferences", pref({"a": 1, "b": [2]}), pref({"b": [2], "a": 1})),
        ("preferences", pref("ｄａｒｋ"), pref("dark")),
        ("tasks", task(), task(project="shop", task_id="parser", status="todo")),
        ("decisions", decision(), decision("use  POSTGRES")),
    ],
)
def test_the_same_value_twice_is_no_conflict(cast, name, one, same):
    """Case 12: folded, members in any order, fields that the key says anyway."""
    first = only(commit(cast.agent, **{name: [one]}))
    answer = commit(cast.agent, **{name: [same]})
    assert only(answer) == {**first, "deduplicated": True}
    assert (answer["memory_written"]["count"], answer["memory_written"]["conflicts"]) == (0, [])
    assert lines(answer) == [("deduplicate", "same_value")]
    assert states(one["key"]) == [("active", True, 1)]


@pytest.mark.parametrize(
    ("one", "two"),
    [
        (pref("37 snapshots"), pref("15 snapshots")),
        (pref(True), pref(1)),
        (pref("use tabs"), pref("do not use tabs")),
        (pref("3"), pref(3)),
        (pref(["a", "b"]), pref(["b", "a"])),
        (pref(None), pref("none")),
    ],
)
def test_a_value_that_differs_in_a_number_a_negation_or_its_kind_is_another_value(cast, one, two):
    """Field report A8."""
    commit(cast.agent, preferences=[one])
    commit(cast.agent, preferences=[two])
    assert states(TONE) == [("superseded", False, 1), ("active", True, 2)]


def test_the_same_value_said_in_text_and_given_as_an_item_is_one(cast):
    """Material change: the words around a value do not change it."""
    said = commit(cast.agent, say="From now on always answer in Chinese.")
    (found,) = said["memory_written"]["items"]
    value = item(found["id"]).value["value"]
    answer = commit(cast.agent, preferences=[pref(value, found["key"])])
    assert lines(answer) == [("deduplicate", "same_value")]
    assert len(states(found["key"])) == 1


def test_a_to_b_and_back_is_legal(cast):
    """Decision 13: uniqueness of content covers current rows only."""
    for value in ("a", "b", "a"):
        commit(cast.agent, preferences=[pref(value)])
    assert states(TONE) == [("superseded", False, 1), ("superseded", False, 2), ("active", True, 3)]
    assert memories(cast.agent, "writing tone") == ["writing tone: a"]


def test_the_same_value_with_other_times_or_a_review_date_is_a_change(cast):
    """What is said of a value is not lost because the value is known: it would be a silent loss."""
    commit(cast.agent, preferences=[pref("concise")])
    later = pref("concise", valid_to="2099-01-01T00:00:00Z", review_by="2098-01-01T00:00:00Z")
    first = only(commit(cast.agent, preferences=[later]))
    assert not first["deduplicated"]
    assert item(first["id"]).valid_to is not None
    assert only(commit(cast.agent, preferences=[later]))["deduplicated"]
    assert only(commit(cast.agent, preferences=[pref("concise")]))["deduplicated"]
    assert len(states(TONE)) == 2


def test_the_same_value_from_other_evidence_gains_that_evidence_and_no_confidence(cast):
    """Field report B2."""
    url = {"kind": "url", "id": "https://example.com/why"}
    first = only(commit(cast.agent, preferences=[pref("concise")]))
    for _ in range(2):
        answer = commit(cast.agent, preferences=[pref("concise", evidence_refs=[url, url])])
        assert only(answer)["deduplicated"]
    provenance = cast.agent.do("get_memory_item", id=first["id"])["provenance"]
    assert {**url, "role": "supporting"} in provenance["evidence"]
    assert len([link for link in provenance["evidence"] if link["kind"] == "url"]) == 1
    assert item(first["id"]).confidence == first["confidence"]


def test_two_scopes_hold_one_key_without_conflict(cast):
    scopes = context(P, Q, write=(P, Q))
    answer = commit(cast.agent, scopes=scopes, preferences=[pref("a"), pref("b", scope_ref=ref(Q))])
    assert answer["memory_written"]["conflicts"] == []
    assert MemoryItem.objects.filter(key=TONE, current_until=None).count() == 2


def test_one_key_twice_in_one_commit_leaves_the_later_one(cast):
    answer = commit(cast.agent, preferences=[pref("a"), pref("b"), pref("b")])
    assert lines(answer) == [("write", "structured"), ("write", "structured"), ("deduplicate", "same_value")]
    assert states(TONE) == [("superseded", False, 1), ("active", True, 2)]
    assert memories(cast.agent, "writing tone") == ["writing tone: b"]
    assert IndexEntry.objects.get(object_id=answer["memory_written"]["items"][0]["id"]).state == "history"


def test_supersedes_replaces_another_key_in_one_transaction(cast):
    """Field report B12."""
    old = only(commit(cast.agent, decisions=[decision("Use MySQL", "decision:shop:db")]))["id"]
    answer = commit(cast.agent, decisions=[decision("Use Postgres", supersedes=old)])
    row = item(old)
    assert (row.status, str(row.successor_id)) == ("superseded", only(answer)["id"])
    assert row.current_until is not None
    assert answer["memory_written"]["conflicts"][0]["type"] == "overwrite"
    assert memories(cast.agent, "Which database do we use?") == ["Use Postgres"]
    assert cast.agent.do("get_memory_item", id=old)["successor_id"] == only(answer)["id"]


def test_supersedes_together_with_the_current_row_of_its_key_replaces_both(cast):
    first = only(commit(cast.agent, decisions=[decision("Use MySQL")]))["id"]
    second = only(commit(cast.agent, tasks=[task()]))["id"]
    answer = commit(cast.agent, decisions=[decision("Use Postgres", supersedes=second)])
    replaced = {
        conflict["previous_memory_item_id"]: conflict["type"] for conflict in answer["memory_written"]["conflicts"]
    }
    assert replaced == {first: "version", second: "overwrite"}


def test_supersedes_the_current_row_of_its_own_key_is_an_ordinary_change(cast):
    first = only(commit(cast.agent, preferences=[pref("a")]))["id"]
    commit(cast.agent, preferences=[pref("b", supersedes=first)])
    assert states(TONE) == [("superseded", False, 1), ("active", True, 2)]


def test_supersedes_holds_where_the_new_value_is_known_already(cast):
    first, second = (
        only(commit(cast.agent, decisions=[decision("Use Postgres", key)]))["id"]
        for key in (DATABASE, "decision:shop:db")
    )
    answer = commit(cast.agent, decisions=[decision("Use Postgres", supersedes=second)])
    assert only(answer) | {"deduplicated": True} == only(answer)
    assert answer["memory_written"]["conflicts"] == [
        {
            "type": "overwrite",
            "key": "decision:shop:db",
            "previous_memory_item_id": second,
            "memory_item_id": first,
            "rule": "near_duplicate",
        }
    ]
    assert str(item(second).successor_id) == first
    assert [
        row["ref"]["item_id"]
        for row in cast.agent.do("search_memory", domain_id=TEAM, session_id="s1", query="Postgres", kinds=["memory"])[
            "results"
        ]
    ] == [first]


def test_supersedes_something_unknown_or_elsewhere_refuses_that_item_only(cast):
    scopes = context(P, Q, write=(P, Q))
    there = only(commit(cast.agent, scopes=scopes, preferences=[pref(scope_ref=ref(Q))]))["id"]
    foreign = commit(cast.stranger, preferences=[pref()], domain_id="elsewhere")
    old = only(commit(cast.agent, scopes=scopes, tasks=[task("a")]))["id"]
    commit(cast.agent, scopes=scopes, tasks=[task("b")])
    answer = commit(
        cast.agent,
        scopes=scopes,
        decisions=[
            decision("a", "decision:s:a", supersedes=str(uuid4())),
            decision("b", "decision:s:b", supersedes=there),
            decision("c", "decision:s:c", supersedes=only(foreign)["id"]),
            decision("d", "decision:s:d", supersedes=old),
            decision("e", "decision:s:e"),
        ],
    )
    assert lines(answer) == [
        ("refuse", "supersedes_unknown"),
        ("refuse", "supersedes_unknown"),
        ("refuse", "supersedes_unknown"),
        ("refuse", "supersedes_not_current"),
        ("write", "structured"),
    ]
    assert item(there).current_until is None
    assert item(only(foreign)["id"]).current_until is None


def test_one_row_superseded_twice_in_one_commit_has_one_successor(cast):
    old = only(commit(cast.agent, tasks=[task()]))["id"]
    answer = commit(
        cast.agent,
        decisions=[decision("a", "decision:s:a", supersedes=old), decision("b", "decision:s:b", supersedes=old)],
    )
    assert lines(answer) == [("write", "structured"), ("refuse", "supersedes_not_current")]
    assert str(item(old).successor_id) == answer["memory_written"]["items"][0]["id"]


def test_successors_never_run_in_a_circle(cast):
    """A replaced by B, and B by something of the key of A: each step leads to a newer row."""
    a = only(commit(cast.agent, decisions=[decision("a", "decision:s:a")]))["id"]
    b = only(commit(cast.agent, decisions=[decision("b", "decision:s:b", supersedes=a)]))["id"]
    a2 = only(commit(cast.agent, decisions=[decision("a", "decision:s:a", supersedes=b)]))["id"]
    answer = commit(cast.agent, decisions=[decision("b", "decision:s:b", supersedes=a)])
    assert lines(answer) == [("refuse", "supersedes_not_current")]
    seen, at = [], item(a)
    while at.successor_id:
        assert at.pk not in seen
        seen.append(at.pk)
        at = item(str(at.successor_id))
    assert [str(pk) for pk in [*seen, at.pk]] == [a, b, a2]


@pytest.mark.parametrize("bad", ["not-a-uuid", 7, "", ["x"]])
def test_supersedes_takes_an_item_id(cast, bad):
    with pytest.raises(InvalidInputError, match=r"supersedes"):
        commit(cast.agent, preferences=[pref(supersedes=bad)])


def test_a_correction_leaves_every_other_row_as_it_was(cast):
    """Field report B3: byte-identical, history included."""
    commit(cast.agent, preferences=[pref()], tasks=[task()], decisions=[decision(), decision("x", "decision:shop:x")])
    rest = MemoryItem.objects.exclude(key=TONE)
    before = list(rest.values()), list(IndexEntry.objects.filter(object_id__in=rest.values("pk")).values())
    commit(cast.agent, preferences=[pref("detailed")])
    commit(cast.agent, retractions=[gone("preferences", TONE)])
    assert before == (
        list(rest.values()),
        list(IndexEntry.objects.filter(object_id__in=rest.values("pk")).values()),
    )


def test_every_step_of_an_item_is_in_its_history(cast):
    commit(cast.agent, decisions=[decision("a")])
    commit(cast.agent, decisions=[decision("b")])
    commit(cast.agent, retractions=[gone("decisions", DATABASE, "no")])
    steps = [(step.kind, step.from_status, step.to_status) for step in KnowledgeEvent.objects.order_by("id")]
    assert sorted(steps) == sorted(
        [
            ("created", "", "active/promoted"),
            ("created", "", "active/promoted"),
            ("superseded", "active/promoted", "active/promoted"),
            ("retracted", "active/promoted", "retracted/promoted"),
            ("retracted", "active/promoted", "retracted/promoted"),
        ]
    )
    assert set(KnowledgeEvent.objects.values_list("actor_name", flat=True)) == {"agent"}


def test_a_candidate_gives_way_to_what_the_user_asserts_and_is_promoted_by_the_same_value(cast):
    """Decision 10."""
    scope = scope_row("session:s1")
    commit(cast.agent, say="hi")
    value = {"scope": "writing", "name": "tone", "value": "Concise"}
    before = made(scope, candidate=True, type="preferences", key=TONE, value=value)
    assert memories(cast.agent, "writing tone") == []
    answer = commit(cast.agent, preferences=[pref("concise")])
    assert lines(answer) == [("deduplicate", "asserted_again")]
    assert only(answer)["id"] == str(before.pk)
    (row,) = MemoryItem.objects.filter(key=TONE, current_until=None)
    assert (row.lifecycle_status, row.confidence) == ("promoted", 0.8)
    assert memories(cast.agent, "writing tone") == ["writing tone: Concise"]
    assert KnowledgeEvent.objects.get(kind="promoted").reason == "asserted again"


def test_an_ordinary_commit_neither_replaces_nor_retracts_governed_knowledge(cast):
    """Case 49 within one scope, decision 11: a principle changes by a decision of a person, never by a commit."""
    scope = scope_row(P)
    law = made(scope, principle=True, type="patterns", key="pattern:shop:law", text="Never lose a turn.")
    answer = commit(
        cast.agent,
        scopes=context(P),
        patterns=[{"key": "pattern:shop:law", "rule": "Lose turns."}],
        retractions=[gone("patterns", "pattern:shop:law")],
        decisions=[decision("x", "decision:shop:x", supersedes=str(law.pk))],
    )
    assert lines(answer) == [("refuse", "governed")] * 3
    law.refresh_from_db()
    assert (law.status, law.lifecycle_status, law.current_until) == ("active", "canonical", None)
