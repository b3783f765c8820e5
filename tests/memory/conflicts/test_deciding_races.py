"""Conflicts decided while agents write the scopes of their sides, on real connections of both databases."""

from __future__ import annotations

from functools import partial
from threading import Event, current_thread

import pytest

from kernel.db import is_postgres
from kernel.errors import DomainError
from memory.models import Conflict, KgEdge, MemoryItem
from memory.services import retractions
from memory.services.conflicts import deciding, finding, following, relating
from scopes.services import lock_domain
from tests.conftest import make_cast
from tests.memory.conflicts.test_deciding import MYSQL, decide, disputed
from tests.memory.conflicts.test_finding import tell
from tests.memory.talk import commit, context, decision, gone
from tests.threads import at_once

pytestmark = pytest.mark.django_db(transaction=True)

SHOP, WIDE = context("project:shop"), context("global:all")


def edge(number: int, place: str) -> dict:
    return {"subject": f"Ann {number}", "predicate": "lives_in", "object": place}


def test_it_works():
    """A merge beside commits of relations in its scope and in one that is read with it: each ends, and none is refused."""
    cast = make_cast()
    for number in range(4):
        conflict = disputed(cast)
        outcomes = at_once(
            [
                lambda conflict=conflict: decide(cast.reviewer, conflict, "merge", text="Postgres, or MySQL for one."),
                *(
                    partial(commit, cast.agent, f"s{place}", scopes=scopes, edges=[edge(number, place)])
                    for place, scopes in (("Berlin", SHOP), ("Paris", WIDE), ("Rome", SHOP))
                ),
            ]
        )
        assert [each for each in outcomes if isinstance(each, DomainError)] == []
        assert KgEdge.objects.filter(subject=f"Ann {number}").count() == 3
        assert Conflict.objects.filter(edge_b__subject=f"Ann {number}").count() == 3, "each pair is found once"
        assert MemoryItem.objects.filter(current_until=None, status="active").count() == 1


def test_a_conflict_with_a_third_scope_makes_no_ring(monkeypatch):
    """Who decides holds the domain and comes to close a conflict whose other side is just being written elsewhere."""
    cast = make_cast()
    key = "decision:all:db"
    conflict = disputed(cast)
    commit(cast.agent, scopes=WIDE, decisions=[decision("The default database is SQLite.", key)])
    held, came = Event(), Event()

    def decider() -> dict:
        current_thread().name = "decider"
        return decide(cast.reviewer, conflict, "keep_b")

    def meet(domain_id: str) -> None:
        if current_thread().name != "decider":
            came.set()
            lock_domain(domain_id)
            return
        lock_domain(domain_id)
        held.set()
        assert not is_postgres() or came.wait(300)

    def writer() -> dict:
        assert held.wait(300)
        return commit(cast.agent, "s2", scopes=WIDE, decisions=[decision("The default database is Oracle.", key)])

    for module in (deciding, finding, following, relating):
        monkeypatch.setattr(module, "lock_domain", meet)
    outcomes = at_once([decider, writer])
    assert [each for each in outcomes if isinstance(each, DomainError)] == []
    open_ones = Conflict.objects.filter(state="open").values_list("item_a__statement", "item_b__statement")
    assert list(open_ones) == [("The default database is MySQL.", "The default database is Oracle.")]


@pytest.mark.parametrize("leaves", ["superseded", "retracted", "denied"])
def test_what_leaves_while_a_conflict_with_it_is_found_leaves_no_conflict_open(monkeypatch, leaves):
    """Both write at one instant: the one finds the memory in force that the other is about to close."""
    cast = make_cast()
    key, says = "decision:shop:db", "The default database is Postgres."
    old = commit(cast.agent, scopes=SHOP, decisions=[decision(says, key)])["memory_written"]["items"][0]["id"]
    paused, found = Event(), Event()
    works = {
        "superseded": lambda: commit(
            cast.agent, scopes=SHOP, decisions=[decision("We keep everything in files.", key)]
        ),
        "retracted": lambda: cast.agent.do("retract_item", memory_item_id=old, reason="wrong"),
        "denied": lambda: commit(cast.agent, scopes=SHOP, retractions=[gone("decisions", key)]),
    }

    def leaver() -> None:
        current_thread().name = "leaver"
        works[leaves]()

    def meet(domain_id: str) -> None:
        if current_thread().name == "leaver" and not paused.is_set():
            paused.set()
            assert not is_postgres() or found.wait(300)
        lock_domain(domain_id)

    def finder() -> None:
        assert paused.wait(300)
        try:
            commit(
                cast.agent,
                "s2",
                scopes=WIDE,
                decisions=[decision("The default database is MySQL.", "decision:all:db")],
            )
        finally:
            found.set()

    for module in (finding, following, relating, retractions):
        monkeypatch.setattr(module, "lock_domain", meet)
    assert [each for each in at_once([leaver, finder]) if isinstance(each, DomainError)] == []
    assert not Conflict.objects.filter(state="open").exists()
    assert Conflict.objects.count() == is_postgres()


def test_a_conflict_is_reopened_while_the_same_two_are_said_again(monkeypatch):
    """Who reopens it has seen no other open conflict of the two, and an agent is about to make one: it waits."""
    cast = make_cast()
    conflict = disputed(cast)
    decide(cast.reviewer, conflict, "keep_a")
    looked, said = Event(), Event()
    look = deciding._require_not_open_elsewhere

    def meet(row: Conflict) -> None:
        look(row)
        looked.set()
        said.wait(1)  # long enough for who would not wait for the scope

    def speaker() -> dict:
        assert looked.wait(300)
        answer: dict = tell(cast, MYSQL, "default-db")
        said.set()
        return answer

    monkeypatch.setattr(deciding, "_require_not_open_elsewhere", meet)
    reopened, told = at_once([partial(cast.reviewer.do, "reopen_conflict", id=conflict, reason="no"), speaker])
    assert (reopened["conflict"]["state"], told["memory_written"]["found"]) == ("open", [])
    assert [str(pk) for pk in Conflict.objects.values_list("pk", flat=True)] == [conflict]


def test_two_that_take_memories_of_two_scopes_back_wait_for_each_other():
    cast = make_cast()
    for number in range(4):
        rows = [
            commit(cast.agent, scopes=scopes, decisions=[decision(f"Choice {number} is made", f"decision:x:{number}")])
            for scopes in (SHOP, WIDE)
        ]
        one, other = (row["memory_written"]["items"][0]["id"] for row in rows)
        works = [
            partial(cast.agent.do, "retract_item", memory_item_id=first, also=[second], reason="wrong")
            for first, second in ((one, other), (other, one))
        ]
        assert [each for each in at_once(works) if isinstance(each, DomainError)] == []
        assert set(MemoryItem.objects.filter(pk__in=[one, other]).values_list("status", flat=True)) == {"retracted"}
