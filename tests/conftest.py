"""The cast of every test: an agent in a team, a reviewer of that team, an operator, and a stranger who must see nothing."""

from __future__ import annotations

import signal
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import pytest
from django.conf import settings
from django.contrib.auth import get_user_model

from governance import gate
from governance.gate import Answer, system_ctx
from kernel.context import Ctx, Door
from scopes.selectors import Identity, authenticate_key, identify_person
from tests.guards import write_guard
from tests.kept import Kept

write_guard.install()
settings.PASSWORD_HASHERS = ["django.contrib.auth.hashers.MD5PasswordHasher"]  # the slow ones are Django's to test

TEAM = "team"
ELSEWHERE = "elsewhere"


@dataclass(frozen=True)
class Player:
    """Someone who acts: `key` is the API key of an agent, `name` the user name of a person."""

    name: str
    identity: Identity
    key: str = ""

    def ctx(self, door: Door = Door.PYTHON) -> Ctx:
        return Ctx(self.identity.actor, door, self.identity.reach)

    def call(self, action: str, tree: dict | None = None, /, **fields: object) -> Answer:
        return gate.call(action, {**(tree or {}), **fields}, ctx=self.ctx())

    def do(self, action: str, tree: dict | None = None, /, **fields: object) -> dict:
        """The body of the answer."""
        return self.call(action, tree, **fields).body()


@dataclass(frozen=True)
class Cast:
    agent: Player
    reader: Player
    reviewer: Player
    operator: Player
    stranger: Player


def make_agent(name: str, domain_id: str = TEAM, **fields: object) -> Player:
    body = gate.call(
        "create_principal", {"name": name, "domain_id": domain_id, **fields}, ctx=system_ctx("tests", Door.PYTHON)
    ).body()
    return Player(name, authenticate_key(body["api_key"]), body["api_key"])


def make_person(name: str, domain_id: str | None = None, pattern: str = "*", **fields: bool) -> Player:
    user = get_user_model().objects.create_user(name, None, "correct horse battery", **fields)
    if domain_id is not None:
        gate.call(
            "assign_reviewer",
            {"user": name, "domain_id": domain_id, "pattern": pattern},
            ctx=system_ctx("tests", Door.PYTHON),
        )
    return Player(name, identify_person(user))


def _cast() -> Cast:
    return Cast(
        agent=make_agent("agent"),
        reader=make_agent("reader", rights=["read"]),
        reviewer=make_person("reviewer", TEAM),
        operator=make_person("operator", is_superuser=True, is_staff=True),
        stranger=make_agent("stranger", ELSEWHERE),
    )


make_cast = Kept(_cast)


@pytest.fixture(scope="session")
def django_db_setup(django_db_setup: None, django_db_blocker: Any) -> None:
    """The test database, and the cast learned on it."""
    with django_db_blocker.unblock():
        make_cast.learn()


@pytest.fixture(scope="session", autouse=True)
def signals_as_from_a_terminal():
    """A suite that was started in the background ignores Ctrl-C and hang-up, and so would all that it starts."""
    signal.signal(signal.SIGINT, signal.default_int_handler)
    signal.signal(signal.SIGHUP, signal.SIG_DFL)


@pytest.fixture(autouse=True)
def _write_guard() -> None:
    """Nothing writes a domain-owned table outside the gate while a test is set up and runs."""
    write_guard.arm()


@pytest.hookimpl(wrapper=True)
def pytest_runtest_teardown() -> Iterator[None]:
    """The flush between tests may write."""
    write_guard.disarm()
    return (yield)


@pytest.fixture
def cast(db) -> Cast:
    return make_cast()


def a_turn(text: str = "The default database is Postgres.", /, **fields: object) -> dict:
    """A valid commit_turn input of one user message."""
    return {
        "domain_id": TEAM,
        "session_id": "s1",
        "turn_events": {"messages": [{"role": "user", "content": text}]},
        **fields,
    }
