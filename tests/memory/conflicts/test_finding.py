"""Conflicts are found when a memory is written, on a real database."""

from __future__ import annotations

from collections import Counter
from functools import partial

import pytest
from django.db import connection
from django.db.models import Count
from django.test.utils import CaptureQueriesContext

from governance.gate import system_ctx
from kernel.context import Door
from kernel.errors import NotFoundError
from memory.models import Conflict, ConflictSignature, MemoryItem
from memory.services.conflicts import finding
from memory.services.conflicts.finding import PER_SIGNATURE, find_conflicts
from memory.services.conflicts.keeping import CANDIDATES
from tests.asked import texts
from tests.conftest import ELSEWHERE, TEAM, make_agent, make_cast
from tests.guards.write_guard import unguarded
from tests.memory.factories import made, scope_row
from tests.memory.talk import commit, compose, context, decision
from tests.threads import at_once

SHOP = context("project:shop")


def tell(cast, text, key, **fields):
    return commit(cast.agent, scopes=SHOP, decisions=[decision(text, f"decision:shop:{key}", **fields)])


def listed(player, **fields):
    return player.do("list_conflicts", domain_id=TEAM, **fields)["conflicts"]


def test_it_works(cast):
    first = tell(cast, "The default database is Postgres.", "db")
    assert first["memory_written"]["found"] == []
    answer = tell(cast, "The default database is MySQL.", "default-db")
    (found,) = answer["memory_written"]["found"]
    assert (found["rule"], found["severity"], found["state"]) == ("other_object", "high", "open")
    assert found["a_statement"] == "The default database is Postgres."
    (row,) = listed(cast.agent)
    assert (row["a"]["statement"], row["b"]["key"]) == (
        "The default database is Postgres.",
        "decision:shop:default-db",
    )
    assert [each["id"] for each in search_all(cast)["conflicts"]] == [row["id"]]
    assert [each["id"] for each in compose(cast.agent, "Which database?", scope_context=SHOP)["conflicts"]] == [
        row["id"]
    ]
    assert answer["explain"]["warnings"] == [f"other_object:{row['explanation']}"]


def search_all(cast):
    return cast.agent.do(
        "search_memory", {"domain_id": TEAM, "session_id": "s1", "query": "database", "scope_context": SHOP}
    )


@pytest.mark.parametrize("text", ["achieve unit target {} for quarter", "{} is the quokka code", "第{}季度的目标值"])
def test_of_a_commit_of_many_alike_each_is_held_against_a_few(cast, monkeypatch, text):
    """Or one turn of the size that is allowed would keep every other writer waiting for minutes."""
    held = []
    monkeypatch.setattr(finding, "_match", lambda older, newer: held.append(newer.id))
    decisions = [decision(text.format(n), f"decision:shop:d{n}") for n in range(60)]
    commit(cast.agent, scopes=SHOP, decisions=decisions)
    of_each = Counter(held)
    assert len(of_each) > 50
    assert max(of_each.values()) <= 3 * CANDIDATES


def found_by(answer) -> list[str]:
    return [each["rule"] for each in answer["memory_written"]["found"]]


def test_an_update_and_a_near_duplicate_are_stored_and_warned_about(cast):
    """Decision 13: similar text is stored and warned about."""
    tell(cast, "We keep 37 snapshots.", "one")
    answer = tell(cast, "We keep 15 snapshots.", "two")
    assert found_by(answer) == ["number"]
    answer = tell(cast, "we keep 15 snapshots!", "three")
    assert sorted(found_by(answer)) == ["near_duplicate", "number"]
    assert [line.partition(":")[0] for line in answer["explain"]["warnings"]] == [
        each["rule"] for each in answer["memory_written"]["found"]
    ]
    assert MemoryItem.objects.filter(current_until=None).count() == 3
    assert {row["severity"] for row in listed(cast.agent)} == {"medium", "low"}


def test_two_memories_of_one_commit_meet_too(cast):
    rows = [decision("The port is 1.", "decision:shop:a"), decision("The port is 2.", "decision:shop:b")]
    assert found_by(commit(cast.agent, scopes=SHOP, decisions=rows)) == ["number"]


def test_a_newer_value_of_a_key_says_how_it_differs_and_is_no_conflict(cast):
    tell(cast, "The port is 1.", "port")
    answer = tell(cast, "The port is 2.", "port")
    assert found_by(answer) == []
    assert [each["rule"] for each in answer["memory_written"]["conflicts"]] == ["number"]
    assert [each["rule"] for each in tell(cast, "Use a socket.", "port")["memory_written"]["conflicts"]] == [
        "same_key"
    ]


def test_other_scopes_and_sessions_have_their_own_truth(cast):
    tell(cast, "The default database is Postgres.", "db")
    for scope in ("project:other", "session:s1"):
        row = decision("The default database is MySQL.", "decision:shop:db")
        assert found_by(commit(cast.agent, scopes=context(scope), decisions=[row])) == []


def test_one_key_with_two_values_over_scopes_is_a_conflict_of_low_weight(cast):
    """The read side lets the narrower scope win; a person may want to know."""
    tell(cast, "The default database is Postgres.", "db")
    row = decision("The default database is MySQL.", "decision:shop:db")
    (found,) = commit(cast.agent, scopes=context("global:all"), decisions=[row])["memory_written"]["found"]
    assert (found["rule"], found["severity"]) == ("same_key", "low")
    assert "in project:shop" in found["explanation"]
    same = decision("the default database is MYSQL", "decision:shop:db")
    assert found_by(commit(cast.agent, scopes=context("expert:e"), decisions=[same])) == ["same_key"]


def test_a_profile_is_compared_fact_by_fact(cast):
    def told(scope, **facts):
        rows = [{"key": "profile:user", "facts": [{"k": k, "v": v} for k, v in facts.items()]}]
        return found_by(commit(cast.agent, scopes=context(scope), profile=rows))

    assert told("project:p", name="Ann", city="Berlin") == []
    assert told("global:g", city="berlin", job="cook") == []
    assert told("expert:e", city="Paris") == ["same_key", "same_key"]


def test_a_contradiction_of_a_principle_is_grave(cast):
    made(scope_row("global:all"), type="decisions", key="decision:shop:db", text="Use one database.", principle=True)
    with unguarded():
        remembered(MemoryItem.objects.get())
    (found,) = tell(cast, "Use three databases.", "db")["memory_written"]["found"]
    assert (found["rule"], found["severity"]) == ("same_key", "high")


def remembered(item):
    """What was made by hand gets the signatures that a write gives."""
    find_conflicts([item], system_ctx("tests", Door.PYTHON))


def test_a_list_of_like_texts_is_no_contradiction(cast):
    for number in range(8):
        answer = tell(cast, f"Feed animal {number} daily.", f"n{number}")
    assert found_by(answer) == []


def test_what_was_only_inferred_takes_no_part_until_it_is_asserted(cast):
    made(scope_row("project:shop"), type="decisions", key="decision:shop:x", text="The port is 1.", candidate=True)
    assert found_by(tell(cast, "The port is 2.", "y")) == []


def test_who_writes_is_told_nothing_of_what_lies_out_of_sight(cast):
    wide = context("global:g")
    row = {"subject": "Ann", "predicate": "lives_in", "object": "Berlin"}
    commit(cast.agent, scopes=wide, decisions=[decision("The default database is Postgres.", "decision:all:db")])
    commit(cast.agent, scopes=wide, edges=[row])
    narrow = make_agent("narrow", pattern="project:shop")
    answer = commit(
        narrow,
        "its-own",
        scopes=SHOP,
        decisions=[decision("The default database is MySQL.", "decision:shop:db")],
        edges=[{**row, "object": "Paris"}],
    )
    assert (answer["memory_written"]["found"], answer["explain"]["warnings"]) == ([], [])
    assert listed(narrow) == []
    rows = {row["rule"]: row for row in listed(cast.agent)}
    assert len(listed(cast.agent)) == 2, "people and who reads both scopes see them"
    assert set(rows) == {"other_object"}


def test_relations_of_other_scopes_do_not_crowd_out_those_of_its_own(cast):
    row = {"subject": "Ann", "predicate": "lives_in"}
    commit(cast.agent, scopes=SHOP, edges=[{**row, "object": "Berlin"}])
    wide = context("global:g")
    for number in range(CANDIDATES + 1):
        commit(cast.agent, scopes=wide, edges=[{**row, "object": f"Town {number}"}])
    told = commit(cast.agent, scopes=SHOP, edges=[{**row, "object": "Paris"}])["memory_written"]["found"]
    assert [each["a_statement"] for each in told if each["severity"] == "high"] == ["Ann lives_in Berlin"]
    assert len(told) == 1 + CANDIDATES


def test_two_relations_of_one_turn_are_one_conflict_and_the_later_is_the_second(cast):
    row = {"subject": "Ann", "predicate": "lives_in"}
    told = commit(cast.agent, scopes=SHOP, edges=[{**row, "object": "Berlin"}, {**row, "object": "Paris"}])
    (found,) = told["memory_written"]["found"]
    assert (found["a_statement"], found["b_statement"]) == ("Ann lives_in Berlin", "Ann lives_in Paris")


def test_relations_of_one_object_at_a_time_contradict_each_other(cast):
    def relate(*edges):
        rows = [
            dict(zip(("subject", "predicate", "object"), edge[:3], strict=True)) | dict(edge[3:]) for edge in edges
        ]
        return found_by(commit(cast.agent, scopes=SHOP, edges=rows))

    assert relate(("Ann", "lives_in", "Berlin"), ("Ann", "likes", "tea"), ("Ann", "speaks", "French")) == []
    assert relate(("Ann", "likes", "coffee"), ("Ann", "speaks", "German"), ("Bob", "lives_in", "Paris")) == []
    assert relate(("ANN", "Lives In", "Paris")) == ["other_object"]
    assert relate(("Ann", "lives_in", "berlin")) == []
    assert relate(("Ann", "lives_in", "Rome", ("valid_from", "2099-01-01T00:00:00Z"))) == ["changed", "changed"]
    ended = ("Bob", "lives_in", "Oslo", ("valid_from", "2001-01-01T00:00:00Z"), ("valid_to", "2002-01-01T00:00:00Z"))
    assert relate(ended) == []


def test_only_what_may_be_read_is_told(cast):
    """Both sides lie in scopes that the caller reads, or nothing is said."""
    tell(cast, "The default database is Postgres.", "db")
    row = decision("The default database is MySQL.", "decision:shop:db")
    commit(cast.agent, scopes=context("global:all"), decisions=[row])
    narrow = make_agent("narrow", pattern="project:shop")
    given = {"domain_id": TEAM, "session_id": "s1", "query": "database"}
    for player, scopes, told in (
        (cast.agent, ("project:shop", "global:all"), 1),
        (cast.agent, ("project:shop",), 0),
        (narrow, ("project:shop",), 0),
    ):
        assert (
            len(player.do("search_memory", given, scope_context=context(*scopes, default=None))["conflicts"]) == told
        )
    assert listed(narrow) == []
    with pytest.raises(NotFoundError):
        narrow.call("get_conflict", id=str(Conflict.objects.get().pk))


def test_lists_can_be_narrowed_and_paged(cast):
    for number in range(4):
        tell(cast, f"The owner of part{number} gear is Ann.", f"a{number}")
        tell(cast, f"The owner of part{number} gear is Bea.", f"b{number}")
    rows = listed(cast.agent)
    assert len(rows) == 4
    assert listed(cast.agent, rule="number") == listed(cast.agent, severity="low") == []
    assert listed(cast.agent, state="resolved") == []
    assert len(listed(cast.agent, scope={"type": "project", "id": "shop"})) == 4
    assert listed(cast.agent, scope={"type": "project", "id": "other"}) == []
    assert [row["id"] for row in listed(cast.agent, memory_item_id=rows[0]["a"]["id"])] == [rows[0]["id"]]
    first = cast.agent.do("list_conflicts", domain_id=TEAM, limit=3)
    rest = cast.agent.do("list_conflicts", domain_id=TEAM, limit=3, cursor=first["next_cursor"])
    assert [row["id"] for row in [*first["conflicts"], *rest["conflicts"]]] == [row["id"] for row in rows]


def test_a_conflict_shows_its_evidence_and_what_differs(cast):
    commit(cast.agent, scopes=SHOP, say="Port 1 it is.", extract=False)
    tell(cast, "The port is 1.", "one")
    (found,) = tell(cast, "The port is 22.", "two")["memory_written"]["found"]
    shown = cast.reviewer.do("get_conflict", id=found["id"])
    assert shown["differences"] == [{"kind": "number", "a": [12, 13], "b": [12, 14]}]
    assert shown["a"]["item"]["statement"] == "The port is 1."
    assert shown["may_decide"]
    assert not cast.agent.do("get_conflict", id=found["id"])["may_decide"]


def test_a_signature_stays_small_and_forgets_what_left(cast):
    for number in range(30):
        tell(cast, f"The default database is number{number}.", "db")
    for number in range(40):
        tell(cast, f"animal house chore {number}", f"n{number}")
    held = ConflictSignature.objects.values("signature").annotate(n=Count("item"))
    assert max(row["n"] for row in held) <= PER_SIGNATURE
    assert found_by(tell(cast, "The default database is Oracle.", "other")) == ["other_object"]


def test_a_commit_costs_two_statements_more_where_nothing_is_alike(cast):
    def statements(word: str) -> list[str]:
        rows = [
            decision(f"{word} alpha beta", f"decision:shop:{word}1"),
            decision(f"{word} gamma delta", f"decision:shop:{word}2"),
        ]
        with CaptureQueriesContext(connection) as captured:
            commit(cast.agent, scopes=SHOP, decisions=rows)
        return [sql for sql in texts(captured) if "conflict" in sql]

    statements("warm")
    assert len(statements("quick")) <= 2


class TestOverScopes:
    """What one reader sees together: scopes of different types in one domain."""

    @pytest.mark.parametrize(
        ("narrow", "wide", "rule", "severity"),
        [
            ("The default database is MySQL.", "The default database is Postgres.", "other_object", "medium"),
            ("We keep 37 snapshots.", "We keep 15 snapshots.", "number", "low"),
            ("The audit is on 2026-03-01.", "The audit is on 2026-04-01.", "date", "low"),
            ("Agents may not delete snapshots.", "Agents may delete snapshots.", "negation", "low"),
        ],
    )
    def test_other_keys_are_compared_by_their_text(self, cast, narrow, wide, rule, severity):
        tell(cast, narrow, "narrow")
        row = decision(wide, "decision:shop:wide")
        (found,) = commit(cast.agent, scopes=context("global:all"), decisions=[row])["memory_written"]["found"]
        assert (found["rule"], found["severity"]) == (rule, severity)
        assert "One is in project:shop, the other in global:all." in found["explanation"]
        both = context("project:shop", "global:all", default=None)
        told = compose(cast.agent, f"{wide} {narrow}", scope_context=both)["conflicts"]
        assert [each["id"] for each in told] == [found["id"]]

    @pytest.mark.parametrize("scope", ["project:other", "session:s1"])
    def test_two_of_one_type_and_conversations_have_their_own_truth(self, cast, scope):
        tell(cast, "The default database is Postgres.", "db")
        row = decision("The default database is MySQL.", "decision:shop:other-key")
        assert found_by(commit(cast.agent, scopes=context(scope), decisions=[row])) == []

    def test_no_other_domain_is_looked_at(self, cast):
        tell(cast, "The default database is Postgres.", "db")
        row = decision("The default database is MySQL.", "decision:shop:wide")
        answer = commit(cast.stranger, scopes=context("global:all"), decisions=[row], domain_id=ELSEWHERE)
        assert found_by(answer) == []

    def test_the_same_said_twice_is_no_conflict(self, cast):
        tell(cast, "The default database is Postgres.", "db")
        row = decision("the default database is Postgres!", "decision:shop:wide")
        assert found_by(commit(cast.agent, scopes=context("global:all"), decisions=[row])) == []

    def test_a_relation_has_one_object_over_scopes_too(self, cast):
        def relate(scope: str, **edge: str) -> list[str]:
            return found_by(commit(cast.agent, scopes=context(scope), edges=[edge]))

        ann = {"subject": "Ann", "predicate": "lives_in"}
        assert relate("project:shop", **ann, object="Berlin") == []
        assert relate("project:other", **ann, object="Rome") == []
        assert relate("global:all", **ann, object="Paris") == ["other_object", "other_object"]
        assert {row["severity"] for row in listed(cast.agent)} == {"medium"}

    def test_a_look_up_stays_small_however_many_scopes_say_it(self, cast):
        for number in range(PER_SIGNATURE + 4):
            row = decision(f"The default database is number{number}.", "decision:shop:db")
            commit(cast.agent, scopes=context(f"project:p{number}"), decisions=[row])
        held = ConflictSignature.objects.values("signature").annotate(n=Count("item"))
        assert max(row["n"] for row in held) <= PER_SIGNATURE
        row = decision("The default database is Oracle.", "decision:shop:wide")
        found = found_by(commit(cast.agent, scopes=context("global:all"), decisions=[row]))
        assert found == ["other_object"] * CANDIDATES


def test_agents_are_told_the_gravest_however_many_newer_ones_there_are(cast):
    """Twenty at most, the gravest first: not the gravest of the newest hundred."""
    tell(cast, "The default database is Postgres.", "first")
    (grave,) = tell(cast, "The default database is MySQL.", "second")["memory_written"]["found"]
    row = Conflict.objects.get(pk=grave["id"])
    with unguarded():
        Conflict.objects.bulk_create(
            Conflict(
                **{name: getattr(row, name) for name in ("domain_id", "scope_id", "other_scope_id", "item_a", "item_b")},
                rule="number", severity="low", explanation="x", pair=f"pair {number}",
            )
            for number in range(150)
        )  # fmt: skip
    told = search_all(cast)["conflicts"]
    assert (told[0]["id"], len(told)) == (grave["id"], 20)


@pytest.mark.django_db(transaction=True)
def test_two_writers_in_two_scopes_at_one_instant_do_not_miss_each_other(transactional_db):
    cast = make_cast()
    for number in range(4):
        says = [
            partial(
                commit,
                cast.agent,
                f"s{place}",
                scopes=context(scope),
                decisions=[
                    decision(f"The default engine{number} of shops is {name}.", f"decision:shop:{name}{number}")
                ],
            )
            for place, (scope, name) in enumerate((("project:shop", "steam"), ("global:all", "diesel")))
        ]
        answers = at_once(says)
        assert sorted(rule for answer in answers for rule in found_by(answer)) == ["other_object"]
    assert Conflict.objects.count() == 4
