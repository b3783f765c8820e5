"""A domain of the source that has the name of one in use here is refused until an operator says that they are the same."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from governance import gate
from governance.models import AuditEntry
from governance.selectors.audit import on_record
from kernel.context import Door
from legacy.models import MigratedRow, MigrationRun
from memory.models import Message, Session
from scopes.models import Domain, MemoryScope
from scopes.selectors import authenticate_key
from tests.conftest import Player, make_agent
from tests.guards.write_guard import unguarded
from tests.legacy.judging import move, refused
from tests.legacy.sources import schema
from tests.legacy.sources.databases import Source, source
from tests.legacy.sources.rows import Rows
from tests.legacy.test_odd_scopes import PLACES
from tests.memory.talk import commit

OUR_OWN = """
INSERT INTO sessions (id, created_at, domain_id) VALUES ('s3', now(), 'd3');
INSERT INTO memory_scopes VALUES ('p4', 'd4', 'project', 'p', NULL, '{}', now(), now());
"""


@pytest.fixture
def made(postgres: str, older: Player) -> Iterator[Source]:
    """A 0.2 of two domains that it lists, and two that only a session and a scope name."""
    with source(postgres, Rows(1), ddl=schema.BRAIN_0_1 + schema.BRAIN_0_2) as there:
        with there.connect() as connection:
            connection.execute("ALTER TABLE memory_scopes DROP CONSTRAINT memory_scopes_domain_id_fkey")
            connection.execute(PLACES + OUR_OWN)
        yield there


def test_it_works(made: Source) -> None:
    """Where no domain is in use here nothing is asked, in no run."""
    move(made)
    again = move(made)
    assert again["tables"]["sessions"] == {"read": 3, "unchanged": 3}
    assert MigrationRun.objects.latest("pk").options["join_domains"] == []


@pytest.mark.parametrize("name", ["d1", "d3", "d4"])
@pytest.mark.parametrize("arguments", [(), ("--dry-run",), ("--join-domains", "d2")])
def test_one_that_is_in_use_is_refused_before_anything_is_written(
    made: Source, name: str, arguments: tuple[str, ...]
) -> None:
    make_agent("somebody", name)
    said = refused(made.url, *arguments)
    assert f"in use here: {name}." in said
    assert f"--join-domains {name}" in said
    assert not MigratedRow.objects.exists()
    assert not MigrationRun.objects.exists()


def test_one_that_shall_be_joined_is(made: Source) -> None:
    """What is known of it here stays as it was; what was allowed once needs not be said again."""
    make_agent("somebody", "d1")
    make_agent("somebody-else", "d3")
    assert "d1, d3" in refused(made.url)
    known = Domain.objects.filter(pk="d1")
    with unguarded():
        known.update(metadata={"ours": True})
    before = known.values().get()
    move(made, "--join-domains", "d1,d3")
    assert known.values().get() == before
    assert set(Message.objects.values_list("domain_id", flat=True)) == {"d1", "d2"}
    move(made)


def test_what_was_here_and_is_taken_over_is_on_record(made: Source, older: Player) -> None:
    """Row by row, without the words that it got, and told apart from what other calls changed."""
    make_agent("somebody", "d1")
    given = {"name": older.name, "domain_id": "d1", "rights": ["read", "write"]}
    gate.call("grant_access", given, ctx=gate.system_ctx("tests", Door.PYTHON))
    now = Player(older.name, authenticate_key(older.key), older.key)
    commit(now, "s1", say="Otters", domain_id="d1")
    with unguarded():
        scope = MemoryScope.objects.create(domain_id="d1", scope_type="project", external_id="p")
    with made.connect() as connection:
        connection.execute("""UPDATE sessions SET metadata_json = '{"mood": "hidden"}'""")
    move(made, "--join-domains", "d1")
    session = Session.objects.get(domain_id="d1")
    assert session.metadata == {"mood": "hidden"}
    entries = AuditEntry.objects.filter(action="migrate_legacy")
    told = {(each["table"], each["id"]) for changes in entries.values_list("changes", flat=True) for each in changes}
    assert told >= {("domains", "d1"), ("memory_scopes", str(scope.id)), ("sessions", str(session.pk))}
    assert "hidden" not in str(list(entries.values_list("changes", flat=True)))
    assert on_record("memory_scopes", [str(scope.id)]) == {str(scope.id)}
    assert on_record("memory_scopes", [str(scope.id)], but="migrate_legacy") == set()


def test_what_a_run_never_came_to_is_no_domain_of_its_own(made: Source) -> None:
    """One that died at once took none, and one of some steps those of its rows: what somebody made since is refused."""
    with unguarded():
        MigrationRun.objects.create(source="older", state="interrupted", options={"domains": ["d1", "d2", "d3", "d4"]})
    make_agent("somebody", "d3")
    assert "in use here: d3." in refused(made.url)
    move(made, "--only", "domains,memory_scopes")
    assert "in use here: d3." in refused(made.url)
    make_agent("somebody-else", "d4")
    make_agent("a-third", "d1")
    move(made, "--join-domains", "d3")
    move(made)


def test_a_domain_to_join_may_be_one_of_a_step_that_is_not_taken(made: Source) -> None:
    make_agent("somebody", "d1")
    move(made, "--only", "turns", "--join-domains", "d1")
    assert MigrationRun.objects.latest("pk").options["join_domains"] == ["d1"]


def test_a_domain_that_is_not_in_the_source_is_refused(made: Source) -> None:
    assert "no domain d9" in refused(made.url, "--join-domains", "d9")


def test_what_is_not_moved_asks_for_nothing(made: Source) -> None:
    make_agent("somebody", "d1")
    move(made, "--only", "summaries")
