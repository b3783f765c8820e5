"""Items under many writers at once, on real connections of both databases (field reports A6 and F4)."""

from __future__ import annotations

import pytest
from django.db.models import Count

from kernel.errors import DomainError, UnavailableError
from memory.models import Entity, KgEdge, KnowledgeEvent, MemoryChunk, MemoryItem, Turn
from search.models import IndexEntry
from tests.conftest import make_cast
from tests.memory.talk import commit, context, decision, entity, gone, pref, states, task
from tests.threads import at_once

pytestmark = pytest.mark.django_db(transaction=True)

WRITERS = 8
P = context("project:p")


def done(outcomes: list) -> list[dict]:
    """The answers; whoever was refused was told to try again, and nothing of it was kept."""
    refused = [outcome for outcome in outcomes if isinstance(outcome, DomainError)]
    assert [error for error in refused if not isinstance(error, UnavailableError)] == []
    answers = [outcome for outcome in outcomes if not isinstance(outcome, DomainError)]
    assert Turn.objects.count() == len(answers)
    return answers


def consistent() -> None:
    """What must hold however the writers met: one current row a key, and history, chunk and index of every row."""
    doubled = MemoryItem.objects.filter(current_until=None).values("scope", "type", "key").annotate(n=Count("pk"))
    assert not doubled.filter(n__gt=1).exists()
    rows = MemoryItem.objects.exclude(origin="").count()
    assert KnowledgeEvent.objects.filter(kind="created").count() == rows
    assert MemoryChunk.objects.count() == rows
    current = set(MemoryItem.objects.filter(current_until=None, status="active").values_list("pk", flat=True))
    entries = IndexEntry.objects.filter(kind="memory")
    assert set(entries.filter(state="current").values_list("object_id", flat=True)) == current
    assert entries.count() == rows


def test_it_works():
    """Eight writers of one key: a chain of versions without a gap, one of them current."""
    cast = make_cast()
    works = [
        lambda n=n: commit(cast.agent, f"s{n}", scopes=P, decisions=[decision(f"choice {n}")]) for n in range(WRITERS)
    ]
    answers = done(at_once(works))
    found = states("decision:shop:database")
    assert [version for _, _, version in found] == list(range(1, len(answers) + 1))
    assert [current for _, current, _ in found].count(True) == 1
    written = {answer["memory_written"]["items"][0]["id"]: answer for answer in answers}
    assert set(written) == {str(pk) for pk in MemoryItem.objects.values_list("pk", flat=True)}
    for row in MemoryItem.objects.exclude(successor=None):
        conflicts = written[str(row.successor_id)]["memory_written"]["conflicts"]
        assert [conflict["previous_memory_item_id"] for conflict in conflicts] == [str(row.pk)]
    consistent()


def test_equal_content_at_once_is_one_row():
    """Field report A6: 20 concurrent equal writes."""
    cast = make_cast()
    works = [lambda n=n: commit(cast.agent, f"s{n}", scopes=P, preferences=[pref()]) for n in range(20)]
    answers = done(at_once(works))
    assert MemoryItem.objects.count() == 1
    items = [answer["memory_written"]["items"][0] for answer in answers]
    assert {written["id"] for written in items} == {str(MemoryItem.objects.get().pk)}
    assert [written["deduplicated"] for written in items].count(False) == 1
    assert sum(answer["memory_written"]["count"] for answer in answers) == 1
    consistent()


def test_two_keys_in_opposite_order_end_in_answers_not_in_bugs():
    cast = make_cast()
    both = [[task("a", "task:p:a"), task("b", "task:p:b")], [task("c", "task:p:b"), task("d", "task:p:a")]]
    works = [lambda n=n: commit(cast.agent, f"s{n}", scopes=P, tasks=both[n % 2]) for n in range(WRITERS)]
    answers = done(at_once(works))
    assert answers
    assert MemoryItem.objects.filter(current_until=None).count() == 2
    consistent()


def test_a_retraction_and_a_write_at_once_leave_one_story():
    cast = make_cast()
    commit(cast.agent, scopes=P, preferences=[pref("old")])
    Turn.objects.count()
    works = [
        lambda n=n: (
            commit(cast.agent, f"s{n}", scopes=P, preferences=[pref(f"new {n}")])
            if n % 2
            else commit(cast.agent, f"s{n}", scopes=P, retractions=[gone("preferences", "pref:writing:tone")])
        )
        for n in range(WRITERS)
    ]
    outcomes = at_once(works)
    assert [outcome for outcome in outcomes if isinstance(outcome, DomainError)] == []
    rows = MemoryItem.objects.filter(key="pref:writing:tone")
    assert rows.filter(current_until=None).count() <= 1
    assert not rows.filter(status="active").exclude(current_until=None).exists()
    assert not rows.filter(status="retracted", current_until=None).exists()


def test_one_entity_named_in_many_spellings_at_once_is_one():
    """Field report A9 under A6: the merge of names is not outrun."""
    cast = make_cast()
    names = ["octo/shop", "Octo/Shop", "OCTO/SHOP", "octo／shop"]
    works = [
        lambda n=n: commit(cast.agent, f"s{n}", scopes=P, entities=[entity(names[n % 4])]) for n in range(WRITERS)
    ]
    done(at_once(works))
    assert Entity.objects.count() == 1
    assert MemoryItem.objects.filter(type="entities", current_until=None).count() == 1


def test_one_relation_at_once_is_one_row():
    cast = make_cast()
    edge = {"subject": "shop", "predicate": "uses", "object": "Postgres"}
    answers = done(at_once([lambda n=n: commit(cast.agent, f"s{n}", scopes=P, edges=[edge]) for n in range(WRITERS)]))
    assert KgEdge.objects.count() == 1
    actions = [answer["explain"]["retention"][0]["action"] for answer in answers]
    assert actions.count("edge") == 1


def test_turns_of_one_session_at_once_make_one_summary_each():
    cast = make_cast()
    answers = done(
        at_once([lambda n=n: commit(cast.agent, "s", decisions=[decision(f"d {n}")]) for n in range(WRITERS)])
    )
    versions = sorted(answer["summary"]["summary_version"] for answer in answers)
    assert versions == list(range(1, len(answers) + 1))
