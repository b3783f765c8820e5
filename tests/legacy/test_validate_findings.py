"""Validation fails where something is wrong: one thing is broken at a time, and its report names the row."""

from __future__ import annotations

from pathlib import Path
from uuid import uuid4

import pytest

from legacy.contracts import SourceRow
from legacy.models import MigratedRow, MigrationRun
from legacy.selectors.compared import COMPARISONS, held
from legacy.selectors.compared import OWNER as WHOSE
from media.models import MediaJob, SourceDocument
from memory.models import EvidenceLink, KnowledgeEvent, MemoryItem, Message, Session, SessionScopeLink, Summary, Turn
from scopes.models import Domain, MemoryScope
from search.models import IndexEntry
from tests.guards.write_guard import unguarded
from tests.legacy.judging import OWNER
from tests.legacy.sources import EVERYTHING, everything
from tests.legacy.sources.databases import Source, source
from tests.legacy.validating import against, change, found, here, move, moved, older, the_finding

__all__ = ["moved", "older"]


def test_a_row_deleted_here_is_named(moved: Source):
    with unguarded():
        summary = Summary.objects.first()
        assert summary is not None
        origin = MigratedRow.objects.get(target_table="summaries", target_id=str(summary.pk))
        Summary.objects.filter(pk=summary.pk).delete()
    for report in (against(moved), here()):
        finding = the_finding(report, "missing")
        assert (finding.source_table, finding.source_id) == ("summaries", origin.source_id)
        assert finding.target_id == str(summary.pk)


@pytest.mark.parametrize(
    ("model", "column", "value", "said"),
    [
        (Message, "content", "something else", "content"),
        (Message, "role", "system", "role"),
        (Message, "meta", {}, "meta_json"),
        (MemoryItem, "value", {"a": 1}, "value_json"),
        (MemoryItem, "confidence", 0.31, "confidence"),
        (Summary, "text", "", "summary_text"),
    ],
)
def test_a_value_changed_here_is_named(moved: Source, model, column, value, said):
    table = model._meta.db_table
    came = MigratedRow.objects.filter(target_table=table, note="").values_list("target_id", flat=True)
    rows = model.objects.filter(pk__in=list(came)).exclude(**{column: value})
    row = next(row for row in rows if said != "meta_json" or row.meta)
    with unguarded():
        model.objects.filter(pk=row.pk).update(**{column: value})
    finding = the_finding(against(moved), "value_differs")
    assert (finding.target_table, finding.target_id) == (table, str(row.pk))
    assert finding.what.startswith(f"{said}: there ")
    assert here().whole
    figures = next(each for each in against(moved).tables if each.source_table == table)
    assert figures.source_digest != figures.target_digest


def test_a_message_hung_on_another_turn_is_named(moved: Source):
    message = Message.objects.order_by("pk").first()
    assert message is not None
    other = Turn.objects.exclude(pk=message.turn_id).order_by("pk").first()
    with unguarded():
        Message.objects.filter(pk=message.pk).update(turn=other, position=99)
    assert the_finding(against(moved), "value_differs").what.startswith("turn_id: there ")


def test_a_memory_in_another_scope_or_of_another_session_is_named(moved: Source):
    item = MemoryItem.objects.order_by("pk").first()
    assert item is not None
    other = Session.objects.filter(domain=item.domain_id).exclude(scope=item.scope_id).order_by("pk").first()
    assert other is not None
    with unguarded():
        MemoryItem.objects.filter(pk=item.pk).update(scope=other.scope_id)
    assert _differing(moved, item) == ["scope_id"]
    with unguarded():
        MemoryItem.objects.filter(pk=item.pk).update(scope=item.scope_id, source_session=other)
    assert _differing(moved, item) == ["session_id", "scope_id"]


def _differing(moved: Source, item: MemoryItem) -> list[str]:
    """The columns in which that memory is said to differ."""
    findings = found(against(moved))["value_differs"].findings
    assert {each.target_id for each in findings} == {str(item.pk)}
    return [part.strip().partition(":")[0] for each in findings for part in each.what.split(";")]


@pytest.mark.parametrize(
    ("table", "there", "here", "same"),
    [
        ("source_documents", {"principal": "ann"}, SourceDocument(owner_name="ann"), True),
        ("source_documents", {"principal": "ann"}, SourceDocument(owner_name="bob"), False),
        ("media_jobs", {"principal": "ann"}, MediaJob(owner_name="bob"), False),
        ("media_jobs", {"status": "failed"}, MediaJob(status="completed"), False),
        ("media_jobs", {"status": "failed"}, MediaJob(status="failed"), True),
    ],
)
def test_the_owner_and_the_end_of_a_job_are_held_against_each_other(table, there, here, same):
    (told,) = held(COMPARISONS[table], SourceRow(table, "1", there), here, {})
    assert told.same is same


@pytest.mark.parametrize(
    ("there", "here", "same"),
    [
        ("processing", MediaJob(status="queued"), True),
        ("queued", MediaJob(status="queued"), True),
        ("queued", MediaJob(status="processing", lease_token=uuid4()), True),
        ("queued", MediaJob(status="processing"), False),
        ("queued", MediaJob(status="completed"), False),
    ],
)
def test_a_job_that_waits_may_be_in_work_by_now_and_nothing_else(there, here, same):
    (told,) = held(COMPARISONS["media_jobs"], SourceRow("media_jobs", "1", {"status": there}), here, {})
    assert told.same is same


def test_whose_it_became_is_compared_where_the_older_system_had_no_owner_for_it():
    row, here = SourceRow("source_documents", "1", {"principal": "system"}), SourceDocument(owner_id="ann")
    assert held(COMPARISONS["source_documents"], row, here, {}) == []
    for owner, same in (("ann", True), ("bob", False)):
        (told,) = held(COMPARISONS["source_documents"], row, here, {WHOSE: owner})
        assert (told.column, told.same) == ("owner", same)


def test_a_row_added_there_is_named(moved: Source):
    session = moved.rows["sessions"][0]["id"]
    add = f"INSERT INTO turns (id, session_id, seq, created_at) VALUES ('late', '{session}', 99, now())"
    for _ in change(moved, add, "DELETE FROM turns WHERE id = 'late'"):
        report = against(moved)
    finding = the_finding(report, "not_accounted")
    assert (finding.source_table, finding.source_id, finding.target_id) == ("turns", "late", "")
    assert against(moved).whole


def test_a_row_changed_there_is_named(moved: Source):
    message = moved.rows["messages"][0]
    text = message["content"].replace("'", "''")
    statement = "UPDATE messages SET content = '{}' WHERE id = '{}'"
    for _ in change(moved, statement.format("edited", message["id"]), statement.format(text, message["id"])):
        report = against(moved)
    finding = the_finding(report, "source_changed")
    assert (finding.source_table, finding.source_id) == ("messages", message["id"])


def test_a_row_gone_there_is_named(moved: Source):
    with unguarded():
        run = MigrationRun.objects.first()
        kept = {"source_table": "refs", "source_id": "was-there", "digest": "0" * 64, "run": run}
        MigratedRow.objects.create(**kept, outcome="quarantined", reason="orphan")
    for batch in (1, 500):
        finding = the_finding(against(moved, batch), "gone_from_source")
        assert (finding.source_table, finding.source_id) == ("refs", "was-there")


def test_an_item_without_source_session_is_named_and_counted(moved: Source):
    item = MemoryItem.objects.order_by("pk").first()
    assert item is not None
    with unguarded():
        MemoryItem.objects.filter(pk=item.pk).update(source_session=None)
    report = here()
    finding = the_finding(report, "no_place")
    assert (finding.target_table, finding.target_id) == ("memory_items", str(item.pk))
    assert report.missing.memory_items == 1
    assert report.missing.entities == 0


def test_a_row_in_another_domain_than_what_it_belongs_to_is_named(moved: Source):
    turn = Turn.objects.order_by("pk").first()
    assert turn is not None
    with unguarded():
        Turn.objects.filter(pk=turn.pk).update(domain=Domain.objects.create(pk="elsewhere"))
    crossed = {finding.target_id for finding in found(here())["cross_domain"].findings}
    assert str(turn.pk) in crossed
    assert crossed > {str(row) for row in Message.objects.filter(turn=turn).values_list("pk", flat=True)}


def test_evidence_that_is_not_there_is_named(moved: Source):
    item = MemoryItem.objects.order_by("pk").first()
    assert item is not None
    ref = "0199aaaa-0000-7000-8000-000000000000"
    with unguarded():
        EvidenceLink.objects.create(domain_id=item.domain_id, item=item, kind="message", ref=ref, role="supporting")
    finding = the_finding(here(), "orphan")
    assert finding.target_id == str(item.pk)
    assert ref in finding.what


def test_a_session_that_miscounts_its_turns_is_named(moved: Source):
    session = Session.objects.order_by("pk").first()
    assert session is not None
    with unguarded():
        Session.objects.filter(pk=session.pk).update(last_seq=1)
    finding = the_finding(here(), "wrong_count")
    assert finding.target_id == str(session.pk)


def test_a_text_that_no_search_finds_is_named(moved: Source):
    message = Message.objects.order_by("pk").first()
    assert message is not None
    with unguarded():
        IndexEntry.objects.filter(object_id=message.pk)._raw_delete("default")
    assert the_finding(here(), "not_indexed").target_id == str(message.pk)


def test_many_faults_are_counted_and_the_first_are_named(moved: Source):
    with unguarded():
        Message.objects.update(role="system")
    check = found(against(moved))["value_differs"]
    assert check.count == len(moved.rows["messages"])
    assert len(check.findings) == min(check.count, 50)


def test_what_agents_changed_since_is_told_and_is_no_fault(moved: Source):
    """Work goes on after the migration: what the audit log knows of is no damage."""
    from scopes.selectors import identify_named
    from tests.conftest import Player

    identity = identify_named(OWNER)
    assert identity is not None
    task = MemoryItem.objects.filter(type="tasks", status="active").order_by("pk").first()
    assert task is not None
    assert task.source_session is not None
    Player(OWNER, identity).do(
        "commit_turn",
        session_id=task.source_session.external_id,
        turn_events={"tasks": [{"key": task.key, "title": "Anew", "status": "doing"}]},
    )
    report = against(moved)
    assert the_finding(report, "changed_here").target_id == str(task.pk)
    assert report.whole


def test_events_links_and_scopes_that_differ_are_named(db, postgres: str, tmp_path: Path):
    """What was filed otherwise, tells another story or lies elsewhere is named by its table."""
    rows, _, manifest = everything(tmp_path, sessions=1)
    with source(postgres, rows, manifest, EVERYTHING) as older:
        move(older)
        with unguarded():
            KnowledgeEvent.objects.exclude(reason="").update(reason="another")
            SessionScopeLink.objects.update(access_mode="read")
            MemoryScope.objects.filter(scope_type="project").update(metadata={}, created_at="2020-01-01T00:00:00Z")
        differing = found(against(older))["value_differs"].findings
    assert {finding.source_table for finding in differing} >= {
        "knowledge_events",
        "session_scope_links",
        "memory_scopes",
    }


@pytest.mark.parametrize(
    ("note", "excused"),
    [
        ("lay under p-1, which is not in this domain here", True),
        ("a scope of that name was here already", True),
        ("", False),
    ],
)
def test_a_scope_may_stand_elsewhere_where_its_note_says_so(note, excused):
    assert COMPARISONS["memory_scopes"].excused("parent_scope_id", note) is excused


def test_rows_of_another_database_are_told(moved: Source):
    """They are not held against this one, and the report says so."""
    with unguarded():
        run_of = MigrationRun.objects.order_by("pk")[0]
        MigratedRow.objects.create(
            source_table="tags", source_id="1", digest="0" * 64, outcome="quarantined", reason="orphan", run=run_of
        )
    finding = the_finding(against(moved), "other_source")
    assert (finding.source_table, finding.what[:6]) == ("tags", "1 rows")
