from __future__ import annotations

import random
import threading
from collections import Counter
from concurrent.futures import ThreadPoolExecutor

import pytest
from django.db import connection

from kernel.errors import UnavailableError
from memory.models import Turn
from tests.conftest import TEAM, Player, a_turn, make_agent

pytestmark = [pytest.mark.soak, pytest.mark.django_db(transaction=True)]

COMMITS = 2000
WRITERS = 8
SESSIONS = 5


def commit_all(agent: Player, numbers: range) -> list[int]:
    """Commit one turn for each number; those that the database was too busy for are tried again with the same key."""
    try:
        return [commit(agent, number) for number in numbers]
    finally:
        connection.close()


def commit(agent: Player, number: int) -> int:
    turn = a_turn(
        f"message {number} 消息 {number}", session_id=f"s{number % SESSIONS}", idempotency_key=f"soak-{number}"
    )
    for _ in range(20):
        try:
            return int(agent.do("commit_turn", turn)["seq"])
        except UnavailableError:
            continue
    raise AssertionError(f"commit {number} found the database busy 20 times")


def search_until(agent: Player, done: threading.Event, seed: int) -> int:
    """Search without a pause while the writers write; answers how many searches were made."""
    draw, made = random.Random(seed), 0
    try:
        while not done.is_set():
            session = draw.randrange(SESSIONS)
            found = agent.do(
                "search_memory", domain_id=TEAM, session_id=f"s{session}", query=f"message {draw.randrange(COMMITS)}"
            )
            assert {row["source_session_id"] for row in found["results"]} <= {f"s{session}"}
            made += 1
        return made
    finally:
        connection.close()


def test_it_works():
    agent, done = make_agent("soak"), threading.Event()
    with ThreadPoolExecutor(WRITERS + 2) as pool:
        searches = [pool.submit(search_until, agent, done, seed) for seed in range(2)]
        try:
            commits = [pool.submit(commit_all, agent, range(start, COMMITS, WRITERS)) for start in range(WRITERS)]
            answered = Counter(seq for each in commits for seq in each.result())
        finally:
            done.set()
        assert sum(each.result() for each in searches) > 0
    each_session = range(1, COMMITS // SESSIONS + 1)
    assert answered == dict.fromkeys(each_session, SESSIONS), "every sequence number was answered once per session"
    for number in range(SESSIONS):
        stored = Turn.objects.filter(session__external_id=f"s{number}").order_by("seq").values_list("seq", flat=True)
        assert list(stored) == list(each_session)
