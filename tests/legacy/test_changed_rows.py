"""A row that changed in the source after it was moved in: what it became follows, unless somebody here touched that."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from governance import gate
from governance.gate import system_ctx
from governance.models import AuditObject
from governance.selectors.audit import last_told
from kernel import clock
from kernel.actions import Change
from kernel.context import Door
from legacy.contracts.reasons import REASONS, Reason
from legacy.models import MigratedRow
from legacy.services.validating import validate
from legacy.source import opened
from media.contracts.kinds import JobStatus
from media.models import MediaJob, MediaObject, MediaObjectReference, SourceDocument, SourceSection, Tag, Topic
from memory.models import (
    Entity,
    EntityMention,
    EvidenceLink,
    KgEdge,
    KnowledgeEvent,
    MemoryItem,
    Message,
    Ref,
    Session,
    SessionScopeLink,
    Summary,
    ToolCall,
)
from scopes.models import Domain, MemoryScope
from scopes.selectors import authenticate_key
from tests.conftest import Player
from tests.guards.write_guard import unguarded
from tests.legacy.judging import move
from tests.legacy.snapshot import snapshot
from tests.legacy.sources import EVERYTHING
from tests.legacy.sources.databases import Source, source
from tests.legacy.sources.rows import Rows
from tests.memory.talk import commit, decision, gone, search

BYTES = b"otters and herons"
HASH = hashlib.sha256(BYTES).hexdigest()
AT = "'2025-05-01 08:00:00+00'"
LATER = "'2025-06-01 09:30:00+00'"
LONG_AGO = datetime(2025, 6, 1, 9, 30, tzinfo=UTC)
FIRST = f"""
ALTER TABLE turns ADD mood text;
INSERT INTO domains VALUES ('d1', '{{"mood": "calm"}}', {AT}, {AT});
INSERT INTO memory_scopes VALUES ('p1', 'd1', 'project', 'p', NULL, '{{"size": 1}}', {AT}, {AT});
INSERT INTO sessions (id, created_at, metadata_json, domain_id)
    VALUES ('s1', {AT}, '{{"desk": 1}}', 'd1'), ('s2', {AT}, '{{}}', NULL);
INSERT INTO session_scope_links VALUES ('s1', 'p1', 'read', 1, {AT});
INSERT INTO turns VALUES ('t1', 's1', 1, {AT}), ('t2', 's2', 1, {AT}), ('t3', 's2', 2, {AT});
INSERT INTO messages VALUES ('m1', 't1', 'user', 'Otters swim', NULL, {AT}, '{{}}'),
    ('m2', 't1', 'assistant', 'Indeed', NULL, {AT}, '{{}}');
INSERT INTO tool_calls VALUES ('c1', 't1', 'look', '{{"at": "river"}}', '{{}}', 'running', {AT});
INSERT INTO refs VALUES ('r1', 't1', 'file', 'file:///a.txt', '{{}}', {AT});
INSERT INTO memory_items (id, session_id, type, key, value_json, confidence, source_turn_id, updated_at, evidence_refs)
    VALUES ('i1', 's1', 'decisions', 'decision:a:b', '{{"decision": "use oak"}}', 0.6, 't1', {AT},
        '["https://example.org/old"]');
INSERT INTO entities VALUES ('e1', 'otter', 'topic');
INSERT INTO entity_mentions VALUES ('n1', 'e1', 't1', NULL, '{{}}', {AT});
INSERT INTO summaries VALUES ('s1', 'about otters', 1, '{{"from": 1, "to": 1}}', {AT});
INSERT INTO kg_edges (id, session_id, subject, predicate, object, created_at, updated_at)
    VALUES ('k1', 's1', 'otter', 'eats', 'fish', {AT}, {AT});
INSERT INTO knowledge_events VALUES ('v1', 'i1', 'created', NULL, 'active', 'because', NULL, '{{}}', {AT});
INSERT INTO source_documents (id, title, source_uri, content_hash, created_at, updated_at)
    VALUES (1, 'Rivers', 'https://example.org/r', '{HASH}', {AT}, {AT});
INSERT INTO source_sections (id, document_id, content, section_number, created_at, updated_at)
    VALUES (1, 1, 'A river runs', 1, {AT}, {AT});
INSERT INTO tags VALUES (1, 'water', NULL, {AT}), (2, 'nature', NULL, {AT});
INSERT INTO research_topics VALUES (1, 'Wetlands', 'old', {AT});
INSERT INTO section_tags VALUES (1, 1, {AT});
INSERT INTO research_topic_sections VALUES (1, 1, {AT});
INSERT INTO research_topic_tags VALUES (1, 1, {AT});
INSERT INTO media_objects VALUES (1, 'sha256:{HASH}', 'file:///x', {len(BYTES)}, 1, {AT}, {AT});
INSERT INTO media_object_references VALUES (1, 1, 1, {AT});
INSERT INTO media_jobs (id, operation, source, status, available_at, created_at, updated_at, request_fingerprint)
    VALUES (1, 'add_document', 'https://example.org/j', 'queued', {AT}, {AT}, {AT}, 'x');
"""


def month(at: datetime | None) -> int:
    return at.month if at else 0


def noted(table: str, source_id: str) -> str:
    return MigratedRow.objects.get(source_table=table, source_id=source_id).note


# Of each table a change, and what it has to come to here.
CHANGES: dict[str, tuple[str, Callable[[], Any], Any]] = {
    "domains": ("metadata = '{\"mood\": \"wild\"}'", lambda: Domain.objects.get(pk="d1").metadata, {"mood": "wild"}),
    "memory_scopes": ("metadata_json = '{\"size\": 2}'", lambda: MemoryScope.objects.get(external_id="p").metadata, {"size": 2}),
    "sessions": ("metadata_json = '{\"ended_at\": 7}' WHERE id = 's1'", lambda: Session.objects.get(external_id="s1").metadata, {"ended_at": 7}),
    "session_scope_links": ("access_mode = 'read_write'", lambda: SessionScopeLink.objects.get(scope__external_id="p").access_mode, "read_write"),
    "turns": ("mood = 'merry' WHERE id = 't1'", lambda: "merry" in noted("turns", "t1"), True),
    "messages": ("content = 'Herons wade' WHERE id = 'm1'", lambda: Message.objects.get(role="user").content, "Herons wade"),
    "tool_calls": ("status = 'done', result_json = '{\"seen\": 3}'", lambda: [ToolCall.objects.get().status, ToolCall.objects.get().result], ["done", {"seen": 3}]),
    "refs": ("ref_uri = 'file:///b.txt'", lambda: Ref.objects.get().ref_uri, "file:///b.txt"),
    "memory_items": (f"value_json = '{{\"decision\": \"use elm\"}}', confidence = 0.9, updated_at = {LATER}, evidence_refs = '[\"https://example.org/new\"]'",
                     lambda: [MemoryItem.objects.get().value["decision"], MemoryItem.objects.get().confidence], ["use elm", 0.9]),
    "entities": ("name = 'Otter'", lambda: Entity.objects.get().name, "Otter"),
    "entity_mentions": (f"created_at = {LATER}", lambda: EntityMention.objects.get().created_at.month, 6),
    "summaries": ("summary_text = 'about herons', summary_version = 2", lambda: list(Summary.objects.order_by("version").values_list("text", flat=True)), ["about otters", "about herons"]),
    "kg_edges": (f"status = 'superseded', updated_at = {LATER}", lambda: [KgEdge.objects.get().status, month(KgEdge.objects.get().current_until)], ["superseded", 6]),
    "knowledge_events": ("reason = 'on second thoughts'", lambda: KnowledgeEvent.objects.get(kind="created").reason, "on second thoughts"),
    "source_documents": ("title = 'Streams', download_state = 1", lambda: [SourceDocument.objects.get().title, SourceDocument.objects.get().state], ["Streams", "completed"]),
    "source_sections": ("content = 'A stream runs'", lambda: SourceSection.objects.get().content, "A stream runs"),
    "tags": ("name = 'waters', parent_id = 2 WHERE id = 1", lambda: Tag.objects.values_list("parent__name").get(folded="waters")[0], "nature"),
    "research_topics": ("description = 'new'", lambda: Topic.objects.get().description, "new"),
    "section_tags": (f"created_at = {LATER}", lambda: 1, 1),
    "research_topic_sections": (f"created_at = {LATER}", lambda: 1, 1),
    "research_topic_tags": (f"created_at = {LATER}", lambda: 1, 1),
    "media_objects": (f"reference_count = 2, updated_at = {LATER}", lambda: MediaObject.objects.count(), 1),
    "media_object_references": (f"created_at = {LATER}", lambda: MediaObjectReference.objects.get().created_at.month, 6),
    "media_jobs": (f"status = 'failed', error = 'no route', finished_at = {LATER}", lambda: [MediaJob.objects.get().status, MediaJob.objects.get().error], ["failed", "no route"]),
}  # fmt: skip
# Changes after which a row would be another's, or another row.
ELSEWHERE = {
    "sessions": "domain_id = NULL WHERE id = 's1'",
    "memory_scopes": "external_id = 'q'",
    "turns": "seq = 9 WHERE id = 't1'",
    "messages": "turn_id = 't2' WHERE id = 'm1'",
    "tool_calls": "turn_id = 't2'",
    "refs": f"created_at = {LATER}",
    "memory_items": "key = 'decision:a:c'",
    "entities": "kind = 'person'",
    "entity_mentions": "turn_id = 't2'",
    "kg_edges": "object = 'crabs'",
    "source_documents": "principal = 'ada'",
    "media_objects": f"content_hash = '{'0' * 64}'",
    "media_jobs": "operation = 'add_image'",
}


@pytest.fixture
def made(postgres: str, older: Player, tmp_path: Path) -> Iterator[Source]:
    """A source with a row in every table, which was moved in."""
    there = tmp_path / "media" / HASH[:2] / HASH[2:4]
    there.mkdir(parents=True)
    (there / HASH).write_bytes(BYTES)
    with source(postgres, Rows(1), ddl=EVERYTHING) as made:
        say(made, FIRST)
        figures = move(made, media=tmp_path / "media")
        assert figures["reasons"] == {}
        yield made


def say(made: Source, statements: str) -> None:
    with made.connect() as connection:
        connection.execute(statements)


def change(made: Source, changes: dict[str, str]) -> dict[str, Any]:
    """Change rows in the source and run again; the figures."""
    for table, setting in changes.items():
        say(made, f"UPDATE {table} SET {setting}")
    return move(made)


def kept(figures: dict[str, Any]) -> dict[str, str]:
    """Of each table why the rows that changed there stayed as they are here."""
    return {row["table"]: row["reason"] for row in figures["kept"]}


def touch(row: MigratedRow) -> None:
    """Let a call have changed what a row became."""
    change = Change(row.target_table, row.target_id, {"x": 1}, {"x": 2})
    gate.by_itself("somebody", lambda: [change], system_ctx("tests", Door.PYTHON))


def test_it_works(made: Source) -> None:
    """Of every table a changed row is followed, once, and what is found by its words is found by the new ones."""
    figures = change(made, {table: setting for table, (setting, _, _) in CHANGES.items()})
    assert kept(figures) == {}
    assert {table: read() for table, (_, read, _) in CHANGES.items()} == {
        t: wanted for t, (_, _, wanted) in CHANGES.items()
    }
    assert {t: c.get("changed") for t, c in figures["tables"].items()} == dict.fromkeys(CHANGES, 1)
    before = snapshot()
    again = move(made)
    assert snapshot() == before
    assert {t for t, c in again["tables"].items() if c.get("changed") or c.get("kept")} == set()
    with opened(made.url) as there:
        report = validate(there, lambda *told: None)
    assert [(c.code, f.what) for c in report.checks if c.fault for f in c.findings] == []


@pytest.fixture
def player(made: Source, older: Player) -> Player:
    """The owner, who may write in the domain of the source as well."""
    given = {"name": older.name, "domain_id": "d1", "rights": ["read", "write", "promote"]}
    gate.call("grant_access", given, ctx=system_ctx("tests", Door.PYTHON))
    return Player(older.name, authenticate_key(older.key), older.key)


def test_it_is_found_by_its_new_words(made: Source, player: Player) -> None:
    change(made, {table: CHANGES[table][0] for table in ("messages", "memory_items")})
    for words, hits in (("Otters swim", 0), ("Herons wade", 1), ("oak", 0), ("elm", 1)):
        found = search(player, words, domain_id="d1")
        assert sum(words.split()[0].casefold() in str(hit).casefold() for hit in found) == hits, words
    assert set(EvidenceLink.objects.filter(kind="url").values_list("ref", flat=True)) == {"https://example.org/new"}


@pytest.mark.parametrize("dated", [True, False])
def test_evidence_that_is_withdrawn_later_goes(made: Source, dated: bool) -> None:
    """However often the memory was followed before, and whether its row says when; what was added here stays."""
    if not dated:
        say(
            made,
            "ALTER TABLE memory_items ALTER updated_at DROP NOT NULL; UPDATE memory_items SET source_turn_id = NULL",
        )
        change(made, {"memory_items": "updated_at = NULL"})
    with unguarded():
        EvidenceLink.objects.create(
            item=MemoryItem.objects.get(), domain_id="d1", kind="url", ref="x:y", role="supporting"
        )
    for month, named in ((6, ["old", "new"]), (7, ["new"]), (8, [])):
        refs = ", ".join(f'"https://example.org/{name}"' for name in named)
        at = f"'2025-0{month}-01'" if dated else "NULL"
        setting = f"evidence_refs = '[{refs}]', confidence = 0.{month}, updated_at = {at}"
        assert change(made, {"memory_items": setting})["tables"]["memory_items"]["changed"] == 1
        links = set(EvidenceLink.objects.filter(kind="url").values_list("ref", flat=True))
        assert links == {"x:y", *(f"https://example.org/{name}" for name in named)}


def test_what_somebody_here_touched_stays(made: Source) -> None:
    """Whatever the table, it is told of by reason, in this run and the next, and nothing else of it changes."""
    for row in MigratedRow.objects.filter(source_table__in=CHANGES):
        touch(row)
    changes = {table: setting for table, (setting, _, _) in CHANGES.items() if table != "media_objects"}  # bytes stay
    before = {table: there for table, there in snapshot().items() if table != "migrated_rows"}
    figures = change(made, changes)
    assert kept(figures) == dict.fromkeys(changes, "touched_here")
    assert {t: c.get("kept") for t, c in figures["tables"].items() if t in changes} == dict.fromkeys(changes, 1)
    assert {table: there for table, there in snapshot().items() if table != "migrated_rows"} == before
    assert set(MigratedRow.objects.filter(reason="touched_here").values_list("source_table", flat=True)) == set(
        changes
    )
    told = snapshot()
    assert kept(move(made)) == kept(figures)
    assert snapshot() == told


SAID_HERE: dict[str, dict[str, Any]] = {
    "another value": {"decisions": [decision("use pine", "decision:a:b")]},
    "taken back": {"retractions": [gone("decisions", "decision:a:b")]},
}


@pytest.mark.parametrize("said", SAID_HERE.values(), ids=list(SAID_HERE))
def test_a_memory_that_was_replaced_or_taken_back_here_stays(made: Source, player: Player, said: dict) -> None:
    commit(player, "s1", domain_id="d1", say="From now on we do otherwise.", **said)
    held = list(MemoryItem.objects.order_by("pk").values())
    assert any(row["current_until"] for row in held)
    assert kept(change(made, {"memory_items": CHANGES["memory_items"][0]})) == {"memory_items": "touched_here"}
    assert list(MemoryItem.objects.order_by("pk").values()) == held


def test_what_lies_elsewhere_by_now_stays_where_it_is(made: Source) -> None:
    before = {table: there for table, there in snapshot().items() if table not in ("migrated_rows", "principals")}
    figures = change(made, ELSEWHERE)
    assert kept(figures) == dict.fromkeys(ELSEWHERE, "moved_there")
    assert {table: there for table, there in snapshot().items() if table in before} == before


def test_what_was_taken_away_here_does_not_come_back(made: Source) -> None:
    with unguarded():
        for model in (EntityMention, KnowledgeEvent, Summary, KgEdge, Ref, ToolCall, MediaJob, MediaObjectReference):
            model.objects.all().delete()
    away = (
        "entity_mentions",
        "knowledge_events",
        "summaries",
        "kg_edges",
        "refs",
        "tool_calls",
        "media_jobs",
        "media_object_references",
    )
    before = snapshot()
    assert kept(change(made, {table: CHANGES[table][0] for table in away})) == dict.fromkeys(away, "taken_away")
    after = snapshot()
    assert {table for table in before if before[table] != after[table]} == {"migrated_rows"}
    assert not MigratedRow.objects.exclude(content=None).exists()


def test_a_change_that_cannot_be_stored_is_told_and_its_mending_followed(made: Source) -> None:
    assert kept(change(made, {"messages": "role = '' WHERE id = 'm1'"})) == {"messages": "missing_value"}
    assert Message.objects.get(role="user").content == "Otters swim"
    figures = change(made, {"messages": "role = 'user', content = 'Newts hide' WHERE id = 'm1'"})
    assert (kept(figures), Message.objects.get(role="user").content) == ({}, "Newts hide")
    row = MigratedRow.objects.get(source_table="messages", source_id="m1")
    assert (row.outcome, row.reason) == ("migrated", "")


def test_what_is_again_as_it_was_read_has_no_reason_any_more(made: Source) -> None:
    """That it stays and that it no longer does are on record, each only once."""
    row = MigratedRow.objects.get(source_table="messages", source_id="m1")
    touch(row)
    for _ in range(2):
        told = kept(change(made, {"messages": "content = 'Herons wade' WHERE id = 'm1'"}))
        assert told == {"messages": "touched_here"}
        assert last_told("migrated_rows", {str(row.pk)}) == {str(row.pk): {"reason": "touched_here"}}
        assert AuditObject.objects.filter(table="migrated_rows").count() == 1
    assert kept(change(made, {"messages": "content = 'Otters swim' WHERE id = 'm1'"})) == {}
    row.refresh_from_db()
    assert (row.outcome, row.reason) == ("migrated", "")
    for _ in range(2):
        assert last_told("migrated_rows", {str(row.pk)}) == {str(row.pk): {"reason": ""}}
        assert AuditObject.objects.filter(table="migrated_rows").count() == 2
        move(made)


def test_a_row_that_is_not_its_own_stays(made: Source) -> None:
    """Two rows of the source that became one here, and one that joined what was here before."""
    say(made, f"INSERT INTO tags VALUES (3, 'WATER', NULL, {AT})")
    move(made)
    figures = change(made, {"tags": "name = 'sea' WHERE id = 3"})
    assert kept(figures) == {"tags": "shared_row"}
    with unguarded():
        MigratedRow.objects.filter(source_table="domains").update(note="a domain of that id was here already")
    assert kept(change(made, {"domains": "metadata = '{}'"}))["domains"] == "shared_row"


def test_a_memory_is_replaced_there(made: Source) -> None:
    """The older version ends, the new one is in force, as if it had been moved in after both."""
    say(made, f"UPDATE memory_items SET status = 'superseded', updated_at = {LATER};")
    say(
        made,
        "INSERT INTO memory_items (id, session_id, type, key, value_json, updated_at) VALUES "
        f"""('i2', 's1', 'decisions', 'decision:a:b', '{{"decision": "use ash"}}', {LATER})""",
    )
    move(made)
    new = MemoryItem.objects.get(current_until=None)
    old = MemoryItem.objects.exclude(pk=new.pk).get()
    assert (new.value["decision"], old.status, old.successor) == ("use ash", "superseded", new)
    assert (month(old.recorded_at), month(old.current_until)) == (5, 6)


def test_a_memory_is_taken_back_there(made: Source, older: Player) -> None:
    change(made, {"memory_items": f"status = 'retracted', updated_at = {LATER}"})
    item = MemoryItem.objects.get()
    assert (item.status, month(item.current_until), month(item.recorded_at)) == ("retracted", 6, 5)
    assert [e.from_status for e in item.events.order_by("created_at") if e.kind == "migrated"][-1] == "active/promoted"


@pytest.mark.parametrize("here", [JobStatus.PROCESSING, JobStatus.COMPLETED])
def test_a_job_that_a_worker_here_began_stays(made: Source, here: JobStatus) -> None:
    with unguarded():
        MediaJob.objects.update(status=here, started_at=clock.now())
    assert kept(change(made, {"media_jobs": "status = 'failed'"})) == {"media_jobs": "touched_here"}
    assert MediaJob.objects.get().status == here


def test_a_job_that_is_retried_there_waits_from_then_on(made: Source) -> None:
    change(made, {"media_jobs": f"status = 'failed', error = 'no route', finished_at = {LATER}"})
    with unguarded():
        MediaJob.objects.update(waits_since=LONG_AGO)
    change(made, {"media_jobs": "error = 'no route at all'"})
    assert MediaJob.objects.get().waits_since == LONG_AGO
    change(made, {"media_jobs": "status = 'queued', error = '', finished_at = NULL"})
    assert clock.now() - MediaJob.objects.get().waits_since < timedelta(minutes=10)


def test_a_newer_summary_that_was_made_here_stays(made: Source) -> None:
    session = Session.objects.get(external_id="s1")
    with unguarded():
        Summary.objects.create(
            session=session, domain_id="d1", version=2, text="made here", source_from=1, source_to=1, trigger="turns"
        )
    assert kept(change(made, {"summaries": "summary_version = 2, summary_text = 'made there'"})) == {
        "summaries": "touched_here"
    }
    assert set(Summary.objects.values_list("text", flat=True)) == {"about otters", "made here"}


def test_a_dry_run_tells_what_would_follow(made: Source) -> None:
    say(made, "UPDATE messages SET content = 'Herons wade' WHERE id = 'm1'")
    before = snapshot()
    assert move(made, "--dry-run")["tables"]["messages"]["changed"] == 1
    assert snapshot() == before


def test_every_reason_to_stay_is_explained() -> None:
    for name in ("touched_here", "taken_away", "shared_row", "moved_there"):
        assert REASONS[Reason(name)].endswith(".")
