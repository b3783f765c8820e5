"""How many statements a call sends: the same with three hundred memories as with ten (issue 3, figures)."""

from __future__ import annotations

import sys
from collections.abc import Callable

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from memory.models import MemoryItem
from tests.asked import texts
from tests.conftest import TEAM, Cast
from tests.memory.talk import commit, compose, context, decision, entity, only, pref, search, task

FEW, MANY = 10, 300
# What a call may send at most, where it replaces a version of each item and its session has something of everything.
MOST = {"commit_turn with two messages and two items": 56, "search_memory": 12, "compose_context": 34}
SCOPES = context("project:p", "global:g", write=("project:p", "global:g"))


def fill(cast: Cast, first: int, last: int) -> None:
    """Memories of every kind about zebras, each in a turn with messages, entities, relations and references."""
    for number in range(first, last):
        commit(
            cast.agent,
            f"s{number % 20}",
            scopes=SCOPES,
            messages=[
                {"role": "user", "content": f"Remember that zebra {number} lives in enclosure {number}."},
                {"role": "assistant", "content": f"Noted: zebra {number}."},
            ],
            decisions=[decision(f"zebra choice {number}", f"decision:zoo:d{number}")],
            tasks=[task(f"feed zebra {number}", f"task:zoo:t{number}")],
            preferences=[pref(f"stripes {number}", f"pref:other:n{number % 50}")],
            entities=[entity(f"zoo/zebra-{number}", aliases=[f"stripy {number}"])],
            edges=[{"subject": f"zoo/zebra-{number}", "predicate": "lives_in", "object": "enclosure"}],
            refs=[{"ref_type": "url", "ref_uri": f"https://zoo.example/{number}"}],
        )


CALLS: dict[str, Callable[[Cast, int], object]] = {
    "commit_turn with two messages and two items": lambda cast, n: commit(
        cast.agent,
        "steady",
        scopes=SCOPES,
        messages=[{"role": "user", "content": f"We spoke of zebra {n}."}, {"role": "assistant", "content": "Yes."}],
        decisions=[decision(f"zebra word {n}", "decision:zoo:steady")],
        tasks=[task(f"zebra work {n}", "task:zoo:steady")],
    ),
    "commit_turn with text to learn from": lambda cast, n: commit(
        cast.agent, "steady", scopes=SCOPES, say=f"Remember that the zebra count is {n}."
    ),
    "commit_turn with an entity and a relation": lambda cast, n: commit(
        cast.agent,
        "steady",
        scopes=SCOPES,
        entities=[entity("zoo/steady", attrs={"n": n})],
        edges=[{"subject": "zoo/steady", "predicate": f"p{n}", "object": "enclosure"}],
    ),
    "commit_turn with a retraction": lambda cast, n: commit(
        cast.agent,
        "steady",
        scopes=SCOPES,
        retractions=[{"type": "tasks", "key": f"task:zoo:t{n}", "reason": "over"}],
    ),
    "search_memory": lambda cast, n: search(cast.agent, "zebra enclosure stripes", scope_context=SCOPES, limit=10),
    "search_memory, relational": lambda cast, n: search(
        cast.agent, "enclosure", scope_context=SCOPES, mode="relational", limit=10
    ),
    "search_memory with history": lambda cast, n: search(
        cast.agent, "zebra stripes", scope_context=SCOPES, history=True, limit=10
    ),
    "compose_context": lambda cast, n: compose(
        cast.agent, "Which zebra lives in the enclosure with stripes?", "s3", scope_context=SCOPES, render=True
    ),
    "get_memory_item": lambda cast, n: cast.agent.do("get_memory_item", id=str(newest("decision:zoo:d5"))),
    "list_memory_items": lambda cast, n: cast.agent.do("list_memory_items", domain_id=TEAM, limit=10),
    "diagnostics": lambda cast, n: cast.agent.do("diagnostics", domain_id=TEAM, limit=10),
}


def newest(key: str) -> object:
    return MemoryItem.objects.filter(key=key).latest("recorded_at").pk


def statements(cast: Cast, name: str, number: int) -> list[str]:
    with CaptureQueriesContext(connection) as captured:
        CALLS[name](cast, number)
    return texts(captured)


@pytest.mark.django_db
def test_it_works(cast, no_folding):
    """Each call is made once to warm it up, then counted with few and with many memories."""
    fill(cast, 0, FEW)
    for name in CALLS:
        statements(cast, name, 4)
    few = {name: statements(cast, name, 5) for name in CALLS}
    fill(cast, FEW, MANY)
    many = {name: statements(cast, name, 6) for name in CALLS}
    counts = {name: (len(few[name]), len(many[name])) for name in CALLS}
    assert {name: counts[name][1] for name, most in MOST.items() if counts[name][1] > most} == {}
    grown = {name: pair for name, pair in counts.items() if pair[1] > pair[0]}
    assert grown == {}, {name: [str(sql)[:200] for sql in many[name]] for name in grown}
    sys.stdout.write("\n" + "".join(f"{pair[1]:4} statements: {name}\n" for name, pair in counts.items()))
    assert MemoryItem.objects.count() > MANY


def test_many_versions_of_one_key_cost_no_more_to_look_at(cast):
    def looking_after(first: int, last: int) -> int:
        for number in range(first, last):
            answer = commit(cast.agent, preferences=[pref(f"v {number}")])
        return count(lambda: cast.agent.do("get_memory_item", id=only(answer)["id"]))

    assert looking_after(0, 3) == looking_after(3, 60)


def test_many_items_in_one_commit_cost_in_proportion_and_no_more(cast, no_folding):
    """A few statements an item: what follows from all of them together is stored together."""

    def commit_of(size: int, start: int) -> int:
        rows = [task(f"t {n}", f"task:zoo:{start}-{n}") for n in range(size)]
        return count(lambda: commit(cast.agent, tasks=rows))

    commit_of(1, 0)
    ten, fifty = commit_of(10, 1), commit_of(50, 2)
    assert fifty - ten <= 40 * 5


def count(work: Callable[[], object]) -> int:
    with CaptureQueriesContext(connection) as captured:
        work()
    return len(captured.captured_queries)
