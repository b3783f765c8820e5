"""What the guide's steps do in their order: nothing of a 0.2 is lost for having prepared this side first."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime

import pytest
from django.contrib.auth import get_user_model
from django.test import Client

from governance.adminbase import page_url
from legacy.contracts.validating import MigrationReport
from legacy.models import MigratedRow
from legacy.services.validating import validate
from legacy.source import opened
from memory.models import Entity, EntityMention, Session
from scopes.models import Domain, MemoryScope
from tests.conftest import Player, make_agent, make_person
from tests.guards.write_guard import unguarded
from tests.legacy.judging import move
from tests.legacy.sources import schema
from tests.legacy.sources.databases import Source, source
from tests.legacy.sources.rows import Rows

BEGAN = "2025-03-01T08:00:00+00:00"
SPAN = {"from": 3, "to": 9, "text": "水獭"}
ROWS = f"""
INSERT INTO domains VALUES ('legacy', '{{"owner": "ops"}}', '{BEGAN}', now());
INSERT INTO memory_scopes VALUES ('p1', 'legacy', 'project', 'shop', NULL, '{{"owner": "ops"}}', '{BEGAN}', now());
INSERT INTO sessions (id, created_at, domain_id, metadata_json) VALUES ('s1', '{BEGAN}', 'legacy', '{{"title": "Zoo"}}');
INSERT INTO turns VALUES ('t1', 's1', 1, '{BEGAN}'), ('t2', 's1', 2, '{BEGAN}'), ('t3', 's1', 3, '{BEGAN}');
INSERT INTO messages VALUES ('m1', 't1', 'user', 'An otter, an otter', NULL, '{BEGAN}', '{{}}');
INSERT INTO entities (id, name, kind) VALUES ('e1', 'Otter', 'topic');
INSERT INTO entity_mentions VALUES ('n1', 'e1', 't1', 'm1', '{{"from": 3, "to": 9, "text": "水獭"}}', '{BEGAN}'),
    ('n2', 'e1', 't1', 'm1', '{{"from": 14}}', '{BEGAN}'), ('n3', 'e1', 't2', NULL, '{{}}', '{BEGAN}'),
    ('n4', 'e1', 't3', NULL, '[1, 2]', '{BEGAN}');
"""


@pytest.fixture
def made(postgres: str, older: Player) -> Iterator[Source]:
    with source(postgres, Rows(1), ddl=schema.BRAIN_0_1 + schema.BRAIN_0_2) as there:
        with there.connect() as connection:
            connection.execute(ROWS)
        yield there


def against(made: Source) -> MigrationReport:
    with opened(made.url) as snapshot:
        return validate(snapshot, lambda *told: None)


def told(report: MigrationReport) -> set[tuple[str, str]]:
    """What the checks found: their codes with the ids there."""
    return {(check.code, each.source_id) for check in report.checks for each in check.findings}


def note(source_id: str) -> str:
    return MigratedRow.objects.get(source_id=source_id).note


def test_it_works(made: Source) -> None:
    """The domain that `create_principal` made gets what the source says of it, and counts as equal."""
    move(made)
    domain = Domain.objects.get(pk="legacy")
    assert (domain.metadata, domain.created_at) == ({"owner": "ops"}, datetime.fromisoformat(BEGAN))
    assert note("legacy") == ""
    report = against(made)
    assert report.whole
    assert told(report) == {("adjusted", "n2")}
    move(made)
    assert Domain.objects.get(pk="legacy").metadata == {"owner": "ops"}


def test_what_is_said_of_a_domain_here_stays_and_is_adjusted(made: Source) -> None:
    with unguarded():
        Domain.objects.filter(pk="legacy").update(metadata={"owner": "ada"})
    move(made)
    assert Domain.objects.get(pk="legacy").metadata == {"owner": "ada"}
    assert note("legacy") == 'a domain of that id was here already; there: {"owner":"ops"}'
    report = against(made)
    assert report.whole
    assert {each.source_table: each.adjusted for each in report.tables}["domains"] == 1
    assert {code for code, name in told(report) if name == "legacy"} <= {"adjusted", "changed_here"}


def test_a_scope_and_a_session_that_were_opened_here_get_it_too(made: Source, older: Player) -> None:
    turn = {"session_id": "s1", "turn_events": {"messages": [{"role": "user", "content": "Hello"}]}}
    older.do("commit_turn", **turn, scope_context={"read": [{"type": "project", "id": "shop"}]})
    make_agent("another", "legacy")
    move(made)
    assert Session.objects.get().metadata == {"title": "Zoo"}
    scopes = MemoryScope.objects.filter(external_id="shop")
    assert [scope.metadata for scope in scopes] == [{"owner": "ops"}]
    assert note("s1") == "a session of that id was here already"


def test_where_a_mention_stands_is_kept_compared(made: Source, older: Player) -> None:
    move(made)
    message = MigratedRow.objects.get(source_id="m1").target_id
    kept = {row.turn.seq: row.metadata for row in EntityMention.objects.select_related("turn")}
    assert kept == {1: {"span": SPAN, "message_id": message}, 2: {}, 3: {"span": [1, 2]}}
    assert (note("n1"), note("n3"), note("n4")) == ("", "", "")
    assert "14" in note("n2"), "a turn mentions an entity once: what the second one said is in its note"
    (figures,) = [each for each in against(made).tables if each.source_table == "entity_mentions"]
    assert (figures.compared, figures.source_digest == figures.target_digest) == (3, True)
    with unguarded():
        EntityMention.objects.filter(turn__seq=1).update(metadata={"span": {**SPAN, "to": 8}})
    assert ("value_differs", "n1") in told(against(made))


def test_where_a_mention_stands_is_shown(made: Source) -> None:
    move(made)
    make_person("operator", is_superuser=True, is_staff=True)
    client = Client()
    client.force_login(get_user_model().objects.get(username="operator"))
    assert "水獭" in client.get(page_url(Entity.objects.get())).content.decode()


def test_a_span_that_changed_in_the_source_is_followed(made: Source) -> None:
    move(made)
    with made.connect() as connection:
        connection.execute("UPDATE entity_mentions SET span_json = '{\"from\": 5}' WHERE id = 'n3'")
    move(made)
    assert EntityMention.objects.get(turn__seq=2).metadata == {"span": {"from": 5}}
