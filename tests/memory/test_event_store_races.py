"""The event store under many writers at once, on real connections of both databases."""

from __future__ import annotations

import pytest

from kernel.errors import DomainError, NotFoundError
from memory.models import Message, Session, SessionScopeLink, Turn
from scopes.models import MemoryScope
from tests.conftest import TEAM, a_turn, make_agent, make_cast
from tests.threads import at_once

pytestmark = pytest.mark.django_db(transaction=True)

P1 = {"type": "project", "id": "p1"}
P2 = {"type": "project", "id": "p2"}


def refused(outcomes: list) -> list[DomainError]:
    return [outcome for outcome in outcomes if isinstance(outcome, DomainError)]


def test_it_works():
    """50 parallel commits to one session: 50 turns, sequence 1 to 50."""
    cast = make_cast()
    outcomes = at_once([lambda n=n: cast.agent.do("commit_turn", a_turn(f"text {n}")) for n in range(50)])
    assert refused(outcomes) == []
    assert sorted(outcome["seq"] for outcome in outcomes) == list(range(1, 51))
    assert list(Turn.objects.order_by("seq").values_list("seq", flat=True)) == list(range(1, 51))
    assert set(Message.objects.values_list("content", flat=True)) == {f"text {n}" for n in range(50)}
    assert Session.objects.get().last_seq == 50


def test_first_commits_at_once_open_one_session_and_one_of_each_scope():
    cast = make_cast()
    both = {"scope_context": {"read": [P1, P2], "write": [P1, P2], "default_write": P1}}
    outcomes = at_once([lambda n=n: cast.agent.do("commit_turn", a_turn(f"text {n}", **both)) for n in range(8)])
    assert refused(outcomes) == []
    assert Session.objects.count() == 1
    assert MemoryScope.objects.count() == 3
    assert SessionScopeLink.objects.count() == 2


def test_first_commits_that_name_scopes_in_other_orders_do_not_block_each_other():
    cast = make_cast()
    refs = [{"type": "project", "id": f"p{n}"} for n in range(6)]
    orders = [refs, refs[::-1], refs[3:] + refs[:3], refs[::2] + refs[1::2]]
    works = [
        lambda n=n: cast.agent.do(
            "commit_turn",
            a_turn(
                session_id=f"s{n % 3}",
                scope_context={"read": orders[n % 4], "write": orders[n % 4], "default_write": refs[0]},
            ),
        )
        for n in range(12)
    ]
    assert refused(at_once(works)) == []
    assert Turn.objects.count() == 12
    assert MemoryScope.objects.filter(scope_type="project").count() == 6


def test_of_two_principals_that_open_one_session_one_owns_it_and_the_other_is_told_nothing():
    make_cast()
    players = [make_agent(f"narrow-{n}", pattern="project:p1") for n in range(4)]
    works = [lambda player=player: player.do("commit_turn", a_turn(f"by {player.name}")) for player in players]
    outcomes = at_once(works)
    assert len(refused(outcomes)) == 3
    assert all(isinstance(error, NotFoundError) for error in refused(outcomes))
    owner = MemoryScope.objects.get(scope_type="session").owner
    (winner,) = [player for player in players if player.identity.actor.id == owner]
    assert list(Message.objects.values_list("content", flat=True)) == [f"by {winner.name}"]
    assert [turn["seq"] for turn in winner.do("list_turns", domain_id=TEAM, session_id="s1")["turns"]] == [1]


def test_nobody_writes_into_a_session_that_another_opens_at_the_same_moment():
    """One opens s1; others name it as default_write while it is still nobody's."""
    make_cast()
    first, second = make_agent("first", pattern="project:p1"), make_agent("second", pattern="project:p1")
    s1 = {"type": "session", "id": "s1"}
    intrusion = a_turn("intruding", session_id="s2", scope_context={"read": [s1], "default_write": s1})
    outcomes = at_once([lambda: first.do("commit_turn", a_turn("mine")), lambda: second.do("commit_turn", intrusion)])
    owner = MemoryScope.objects.get(scope_type="session", external_id="s1").owner
    assert len(refused(outcomes)) == 1
    if owner == first.identity.actor.id:
        found = first.do("search_memory", domain_id=TEAM, session_id="s1", query="intruding")
        assert found["results"] == []


def test_many_sessions_at_once():
    cast = make_cast()
    works = [lambda n=n: cast.agent.do("commit_turn", a_turn(session_id=f"s{n % 5}")) for n in range(20)]
    assert refused(at_once(works)) == []
    assert sorted(Session.objects.values_list("last_seq", flat=True)) == [4, 4, 4, 4, 4]
