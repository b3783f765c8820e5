"""The cast of every test: an agent in a team, a reviewer of that team, an operator, and a stranger who must see nothing."""

from __future__ import annotations

import os
import signal
from collections.abc import Iterator
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from itertools import count
from typing import Any

import hypothesis
import pytest
from django.conf import settings
from django.contrib.auth import get_user_model
from django.db.models import F
from django_q.models import Schedule
from hypothesis import HealthCheck
from hypothesis.internal.conjecture import providers

from governance import gate
from governance.gate import Answer, system_ctx
from kernel import clock
from kernel.context import Ctx, Door
from kernel.db import is_postgres
from kernel.loaded import keep_loaded
from media.converting import process, slots
from scopes.selectors import Identity, authenticate_key, identify_person
from tests.guards import write_guard
from tests.held import HeldTime
from tests.kept import Kept

write_guard.install()
# Each worker of a suite keeps stored bytes and locks in a folder of its own.
OWN_FOLDER = settings.SMARTBRAIN.data_dir / os.environ.get("PYTEST_XDIST_WORKER", "alone")
OWN_FOLDER.mkdir(parents=True, exist_ok=True)
settings.SMARTBRAIN = replace(settings.SMARTBRAIN, data_dir=OWN_FOLDER)
# On a slow machine fifty who write at once wait long for each other, and so do those who read files, two at a time.
if not is_postgres():
    settings.DATABASES["default"]["OPTIONS"]["timeout"] = 600.0
slots._WAIT_SECONDS = process._TRYING = 600.0
settings.PASSWORD_HASHERS = ["django.contrib.auth.hashers.MD5PasswordHasher"]  # the slow ones are Django's to test

# How long an example takes, or to make one up, says how busy the machine is, and a suite must not fail of that. Nor of
# chance: it draws the same examples each time, whatever modules were loaded; `make soak` draws others.
hypothesis.settings.register_profile(
    "suite",
    deadline=None,
    derandomize=True,
    database=None,
    print_blob=True,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large, HealthCheck.function_scoped_fixture],
)
hypothesis.settings.register_profile("soak", hypothesis.settings.get_profile("suite"), derandomize=False)
providers._get_local_constants = lambda: providers._local_constants  # else words of those modules are mixed in

TEAM = "team"
ELSEWHERE = "elsewhere"
AGE = timedelta(hours=1)  # of the start that tests share
MEASURED = 4  # values of each parameter by which coverage is measured


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


def pytest_configure(config: pytest.Config) -> None:
    hypothesis.settings.load_profile("soak" if config.option.markexpr.startswith("soak") else "suite")


def _is_a_later_case(item: pytest.Item) -> bool:
    """Whether a parametrised test is past the first values of one of its parameters. Measured, a test takes half as long
    again, and the later cases, more than half of the suite, reach next to nothing that the first do not."""
    spec = getattr(item, "callspec", None)
    return spec is not None and any(index >= MEASURED for index in spec.indices.values())


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """What others cover is not measured for coverage. And what the database changes nothing in runs in one half of the
    suite, the one on SQLite; pytest counts it as deselected. A test that asks for the database runs on both, whatever its module says."""
    for item in items:
        if item.get_closest_marker("browser") or _is_a_later_case(item):
            item.add_marker(pytest.mark.no_cover)
    once = [
        item for item in items if item.get_closest_marker("once") and "db" not in getattr(item, "fixturenames", ())
    ]
    if is_postgres() and once:
        config.hook.pytest_deselected(items=once)
        left_out = set(once)
        items[:] = [item for item in items if item not in left_out]


def pytest_collection_finish() -> None:
    """A collection that looked through all that is loaded each time took 7 % of a run."""
    keep_loaded()


@pytest.fixture(scope="session")
def django_db_setup(django_db_setup: None, django_db_blocker: Any) -> None:
    """The test database and the cast learned on it, both of an hour ago: so what is told of a start that is long past
    does not hang on how late in a suite a test comes."""
    with django_db_blocker.unblock():
        Schedule.objects.update(next_run=F("next_run") - AGE)
        with clock.use(lambda: datetime.now(UTC) - AGE):
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


@pytest.fixture
def no_folding(monkeypatch: pytest.MonkeyPatch) -> None:
    """The sizes of scopes are folded at every so many rows of a sequence, wherever that stands: here never, so that a count
    of statements is of the call alone."""
    monkeypatch.setattr("search.services._FOLD_EVERY", 10**12)


@pytest.fixture
def midday() -> Iterator[None]:
    """Tomorrow at noon, a millisecond later at each look at the clock: no day ends in such a test, and however long it
    takes, hardly any time passes. Not for one that waits for other threads or processes."""
    noon = (datetime.now(UTC) + timedelta(days=1)).replace(hour=12, minute=0, second=0, microsecond=0)
    looks = count()
    with clock.use(lambda: noon + timedelta(milliseconds=next(looks))):
        yield


@pytest.fixture
def held_time(monkeypatch: pytest.MonkeyPatch) -> HeldTime:
    """The time that Django reads by itself, held still; `kernel.clock` has its own `use`."""
    return HeldTime(monkeypatch)


def a_turn(text: str = "The default database is Postgres.", /, **fields: object) -> dict:
    """A valid commit_turn input of one user message."""
    return {
        "domain_id": TEAM,
        "session_id": "s1",
        "turn_events": {"messages": [{"role": "user", "content": text}]},
        **fields,
    }
