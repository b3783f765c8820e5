"""Rows of 0.2 whose scopes, domains and sessions do not agree: each is stored as far as it is whole, and none stops the run."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from kernel.ids import new_id
from legacy.models import MigratedRow
from legacy.services.scrubbing import scrub_moved_rows
from memory.models import Entity, EntityMention, EvidenceLink, KgEdge, KnowledgeEvent, MemoryItem, Message
from scopes.models import MemoryScope
from tests.conftest import Player, make_agent
from tests.guards.write_guard import unguarded
from tests.legacy.judging import move
from tests.legacy.sources import schema
from tests.legacy.sources.databases import Source, source
from tests.legacy.sources.rows import Rows

PLACES = """
INSERT INTO domains VALUES ('d1', '{}', now(), now()), ('d2', '{}', now(), now());
INSERT INTO sessions (id, created_at, domain_id) VALUES ('s1', now(), 'd1'), ('s2', now(), 'd2');
INSERT INTO memory_scopes VALUES ('p1', 'd1', 'project', 'p', NULL, '{}', now(), now()),
    ('own', 'd1', 'session', 's1', NULL, '{}', now(), now());
INSERT INTO turns VALUES ('t1', 's1', 1, now()), ('t2', 's2', 1, now());
INSERT INTO messages VALUES ('m1', 't1', 'user', 'Otters', NULL, now(), '{}'),
    ('m2', 't2', 'user', 'Herons', NULL, now(), '{}');
"""


@pytest.fixture
def made(postgres: str, older: Player) -> Iterator[Source]:
    """A 0.2 of two domains with a session in each."""
    with source(postgres, Rows(1), ddl=schema.BRAIN_0_1 + schema.BRAIN_0_2) as there:
        add(there, PLACES)
        yield there


def add(there: Source, statements: str) -> None:
    with there.connect() as connection:
        connection.execute(statements)


def told(source_id: str) -> MigratedRow:
    return MigratedRow.objects.get(source_id=source_id)


def test_it_works(made: Source) -> None:
    """A scope that lies under one of another domain stands at the top of its own."""
    add(made, "INSERT INTO memory_scopes VALUES ('p2', 'd2', 'project', 'q', 'p1', '{}', now(), now())")
    move(made)
    assert MemoryScope.objects.get(external_id="q").parent is None
    assert told("p2").note == "lay under p1, which is not in this domain here"


def test_the_three_counts_are_zero(made: Source) -> None:
    """What names a scope and no session is of the scope's session, or of one that mentions it, or kept aside."""
    add(
        made,
        """
        ALTER TABLE memory_items ALTER session_id DROP NOT NULL; ALTER TABLE kg_edges ALTER session_id DROP NOT NULL;
        INSERT INTO entities (id, name, kind, scope_id) VALUES ('e-own', 'Otter', 'topic', 'own'),
            ('e-said', 'Heron', 'topic', 'p1'), ('e-none', 'Newt', 'topic', 'p1'), ('e-far', 'Crane', 'topic', 'p1');
        INSERT INTO entity_mentions VALUES ('n1', 'e-said', 't1', NULL, '{}', now()),
            ('n2', 'e-far', 't2', NULL, '{}', now());
        INSERT INTO memory_items (id, type, key, value_json, updated_at, scope_id) VALUES
            ('i-own', 'decisions', 'decision:a:b', '{"decision": "x"}', now(), 'own'),
            ('i-none', 'decisions', 'decision:a:b', '{"decision": "x"}', now(), 'p1');
        INSERT INTO kg_edges (id, subject, predicate, object, scope_id, created_at, updated_at) VALUES
            ('k-own', 'a', 'b', 'c', 'own', now(), now()), ('k-none', 'a', 'b', 'c', 'p1', now(), now());
        """,
    )
    move(made)
    for model in (MemoryItem, Entity, KgEdge):
        assert model.objects.exclude(scope__isnull=False, source_session__isnull=False).count() == 0
    kept = MigratedRow.objects.filter(source_table__in=["memory_items", "entities", "kg_edges"])
    wanted = {f"{name}-none": "missing_value" for name in "eik"} | {"e-far": "missing_value"}
    assert dict(kept.exclude(reason="").values_list("source_id", "reason")) == wanted
    assert {told(name).outcome for name in ("i-own", "k-own", "e-own", "e-said", "n1")} == {"migrated"}
    assert told("n2").reason == "parent_quarantined"


def test_no_link_leads_into_another_domain(made: Source) -> None:
    add(
        made,
        """
        INSERT INTO memory_items
            (id, session_id, type, key, value_json, updated_at, source_turn_id, source_message_id) VALUES
            ('i1', 's1', 'decisions', 'decision:a:b', '{"decision": "x"}', now(), 't2', 'm2');
        ALTER TABLE kg_edges ADD source_turn_id text;
        INSERT INTO kg_edges (id, session_id, subject, predicate, object, created_at, updated_at, source_turn_id)
            VALUES ('k1', 's1', 'a', 'b', 'c', now(), now(), 't2');
        INSERT INTO entities (id, name, kind, scope_id, source_session_id) VALUES ('e1', 'Otter', 'topic', 'p1', 's1');
        INSERT INTO entity_mentions VALUES ('n1', 'e1', 't2', NULL, '{}', now());
        """,
    )
    move(made)
    item, edge = MemoryItem.objects.get(), KgEdge.objects.get()
    assert (item.source_turn_id, item.source_message_id, edge.source_turn_id) == (None, None, None)
    assert not EvidenceLink.objects.exists()
    for name, lost in (("i1", "source_turn_id t2"), ("i1", "source_message_id m2"), ("k1", "source_turn_id t2")):
        assert f"{lost} did not come along into its domain" in told(name).note
    assert told("n1").reason == "foreign_domain"
    assert not EntityMention.objects.exists()


def test_an_entity_that_a_later_session_mentions_is_there_too(made: Source) -> None:
    add(
        made,
        """
        INSERT INTO entities (id, name, kind, canonical_id) VALUES ('e1', 'Postgres', 'topic', NULL), ('e2', 'PG', 'topic', 'e1');
        INSERT INTO entity_mentions VALUES ('n1', 'e1', 't1', NULL, '{}', now()), ('n2', 'e2', 't1', NULL, '{}', now());
        """,
    )
    move(made)
    assert Entity.objects.count() == 1
    add(
        made,
        """
        INSERT INTO entity_mentions VALUES ('n3', 'e2', 't2', NULL, '{}', now()), ('n4', 'e1', 't2', NULL, '{}', now());
        """,
    )
    move(made)
    later = Entity.objects.get(source_session__external_id="s2")
    assert later.source_session
    assert (later.canonical, later.domain_id, later.scope) == ("Postgres", "d2", later.source_session.scope)
    assert [alias.alias for alias in later.aliases.all()] == ["PG"]
    assert EntityMention.objects.get(entity=later).turn.entity_names == ["postgres"]
    assert not MigratedRow.objects.filter(outcome="quarantined").exists()


def test_an_entity_that_was_taken_away_here_is_not_made_again(made: Source) -> None:
    add(
        made,
        "INSERT INTO entities (id, name, kind) VALUES ('e1', 'Secretbird', 'topic');"
        "INSERT INTO entity_mentions VALUES ('n1', 'e1', 't1', NULL, '{}', now())",
    )
    move(made)
    with unguarded():
        EntityMention.objects.all().delete()
        Entity.objects.all().delete()
    add(made, "INSERT INTO entity_mentions VALUES ('n2', 'e1', 't2', NULL, '{}', now())")
    move(made)
    assert not Entity.objects.exists()
    assert (told("n2").reason, told("n2").content) == ("orphan", None)


def test_what_no_note_can_hold_is_kept_with_the_row(made: Source) -> None:
    """Columns that have no place here, and evidence beyond what a memory may have."""
    add(
        made,
        """
        ALTER TABLE kg_edges ADD why text;
        INSERT INTO kg_edges (id, session_id, subject, predicate, object, created_at, updated_at, why)
            VALUES ('k1', 's1', 'a', 'b', 'c', now(), now(), repeat('w', 3000)),
                ('k2', 's1', 'a', 'b', 'd', now(), now(), 'short');
        INSERT INTO memory_items (id, session_id, type, key, value_json, updated_at, evidence_refs)
            SELECT 'i1', 's1', 'decisions', 'decision:a:b', '{"decision": "x"}', now(),
                jsonb_agg('https://example.org/' || g || repeat('/w', 500)) FROM generate_series(1, 60) g;
        """,
    )
    move(made)
    assert told("k1").content["why"] == "w" * 3_000
    assert len(told("k1").note) == 2_000
    assert ("short" in told("k2").note, told("k2").content) == (True, None)
    assert EvidenceLink.objects.filter(kind="url").count() == 50
    assert told("i1").note.startswith('evidence not kept: ["https://example.org/51')
    assert "https://example.org/60/" in told("i1").content["evidence_refs"]
    with unguarded():
        scrub_moved_rows([KgEdge.objects.get(object="c").pk], "d1", new_id())
    assert (told("k1").note, told("k1").content, told("k1").outcome) == ("", None, "migrated")


def test_no_session_of_another_principal_is_joined(made: Source) -> None:
    """In a domain of its own a session's id is taken by whoever opened it there first."""
    other = make_agent("newer-app", "d1")
    other.do(
        "commit_turn", domain_id="d1", session_id="s1", turn_events={"messages": [{"role": "user", "content": "Mine"}]}
    )
    move(made, "--join-domains", "d1")
    assert (told("s1").reason, told("own").reason) == ("duplicate", "duplicate")
    assert (told("t1").reason, told("s2").outcome) == ("parent_quarantined", "migrated")
    assert set(Message.objects.values_list("content", flat=True)) == {"Mine", "Herons"}


def test_an_event_of_a_long_name_keeps_it(made: Source) -> None:
    """A name of up to 64 characters is kept as it is; of a longer one the whole stands in the metadata, with a note."""
    add(
        made,
        """
        INSERT INTO memory_items (id, session_id, type, key, value_json, updated_at)
            VALUES ('i1', 's1', 'decisions', 'decision:a:b', '{"decision": "x"}', now());
        INSERT INTO knowledge_events (id, memory_item_id, event_type, to_status, created_at)
            VALUES ('v1', 'i1', 'reviewed_by_the_council', 'active', now()), ('v2', 'i1', repeat('去', 90), 'active', now());
        """,
    )
    move(made)
    assert not MigratedRow.objects.filter(outcome="quarantined").exists()
    events = KnowledgeEvent.objects.exclude(kind="migrated")
    assert {event.kind for event in events} == {"reviewed_by_the_council", "去" * 64}
    assert events.get(kind="去" * 64).metadata == {"event_type": "去" * 90}
    assert ("event_type" in told("v2").note, told("v1").note) == (True, "")
