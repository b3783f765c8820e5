"""Validation fails where something is wrong: one thing is broken at a time, and its report names the row."""

from __future__ import annotations

import io
import json
from collections.abc import Iterator
from pathlib import Path
from uuid import uuid4

import psycopg
import pytest
from django.core.management import CommandError, call_command

from governance.gate import system_ctx
from kernel.context import Actor, Ctx, Door
from legacy.contracts import REASONS, SourceRow
from legacy.contracts.validating import Check, Finding, MigrationReport
from legacy.models import MigratedRow, MigrationCheck, MigrationRun
from legacy.selectors.compared import COMPARISONS, held
from legacy.selectors.compared import OWNER as WHOSE
from legacy.services.migrating import Options, migrate
from legacy.services.owning import owner_named
from legacy.services.tally import RULES
from legacy.services.validating import validate
from legacy.source import opened
from legacy.steps import STEPS
from media.models import MediaJob, SectionTag, SourceDocument, TopicSection, TopicTag
from memory.models import (
    EvidenceLink,
    KnowledgeEvent,
    MemoryItem,
    Message,
    Session,
    SessionScopeLink,
    Summary,
    Turn,
)
from scopes.contracts import LEGACY_DOMAIN
from scopes.models import Domain, MemoryScope, Principal
from search.models import IndexEntry
from tests.asked import texts
from tests.conftest import make_agent
from tests.guards.write_guard import unguarded
from tests.legacy.judging import OWNER
from tests.legacy.sources import EVERYTHING, clean, dirty, everything
from tests.legacy.sources.databases import Source, database, source
from tests.media.conftest import media_folder, set_conf

__all__ = ["media_folder", "set_conf"]

NEEDS_SOURCE = [code for code, rule in RULES.items() if rule.needs_source]


@pytest.fixture(scope="module")
def older(postgres: str) -> Iterator[Source]:
    """A clean 0.1 with two conversations of a dozen turns; a test that changes it puts it back."""
    with source(postgres, clean(2, 12)[0]) as made:
        yield made


@pytest.fixture
def moved(db, older: Source) -> Source:
    """The older database, moved in."""
    move(older)
    return older


def ctx() -> Ctx:
    return system_ctx("tests", Door.CLI)


def older_app() -> Actor:
    """Whose the sessions become."""
    if not Principal.objects.filter(name=OWNER).exists():
        make_agent(OWNER, LEGACY_DOMAIN)
    return owner_named(None)


def move(older: Source, media_root: Path | None = None) -> None:
    with opened(older.url) as snapshot:
        migrate(snapshot, older_app(), Options(media_root=media_root), ctx(), lambda *told: None)


def against(older: Source, batch: int = 500) -> MigrationReport:
    with opened(older.url) as snapshot:
        return validate(snapshot, lambda *told: None, batch)


def here() -> MigrationReport:
    return validate(None, lambda *told: None)


def found(report: MigrationReport) -> dict[str, Check]:
    """The checks that found something."""
    return {check.code: check for check in report.checks if check.count}


def the_finding(report: MigrationReport, code: str) -> Finding:
    """The only thing that is wrong."""
    assert list(found(report)) == [code], found(report)
    (finding,) = found(report)[code].findings
    assert report.whole is not RULES[code].fault
    return finding


def change(older: Source, statement: str, back: str) -> Iterator[None]:
    """Change the older database for one test."""
    with psycopg.connect(older.url, autocommit=True) as connection:
        connection.execute(statement)
        try:
            yield
        finally:
            connection.execute(back)


def test_it_works(moved: Source):
    """What was moved whole is found whole, table by table, on both sides."""
    report = against(moved)
    assert report.whole
    assert found(report) == {}
    assert report.not_made == []
    tables = {table.source_table: table for table in report.tables}
    for name in ("sessions", "turns", "messages", "tool_calls", "refs", "memory_items", "entities", "summaries"):
        held = tables[name]
        assert held.in_source == len(moved.rows[name])
        assert held.migrated + held.quarantined == held.in_source, name
        assert held.source_digest == held.target_digest, name
    assert tables["messages"].compared == tables["messages"].in_source
    assert report.missing.model_dump() == {"memory_items": 0, "entities": 0, "kg_edges": 0}


def test_what_is_dirty_there_is_accounted_for(db, postgres: str, tmp_path: Path):
    """Every row has one fate, those in the quarantine have a reason, and all that was moved holds."""
    rows, _, manifest = dirty(2, 12)
    with source(postgres, rows, manifest) as older:
        move(older)
        report = against(older)
    assert [str(each) for code, check in found(report).items() if RULES[code].fault for each in check.findings] == []
    assert report.whole
    for table in report.tables:
        assert table.in_source == table.migrated + table.quarantined + table.left_out, table.source_table
    quarantined = sum(table.quarantined for table in report.tables)
    assert quarantined == sum(each.count for each in report.reasons if each.outcome == "quarantined") > 20
    assert {each.reason for each in report.reasons if each.outcome == "quarantined"} <= set(REASONS)


def test_evidence_by_a_bare_id_is_what_has_that_id(moved: Source):
    turn = EvidenceLink.objects.filter(kind="turn").first()
    assert turn is not None
    assert Turn.objects.filter(pk=turn.ref).exists()


def test_any_batch_says_the_same(moved: Source):
    digests = [[(t.source_digest, t.target_digest) for t in against(moved, size).tables] for size in (1, 7, 5000)]
    assert digests[0] == digests[1] == digests[2]


def test_without_the_source_it_says_which_checks_it_did_not_make(moved: Source):
    report = here()
    assert report.whole
    assert report.not_made == NEEDS_SOURCE
    assert {check.code for check in report.checks if not check.made} == set(NEEDS_SOURCE)
    assert {table.in_source for table in report.tables} == {None}


def test_validation_writes_nothing_on_either_side(moved: Source, django_assert_max_num_queries):
    before = moved.digests()
    with django_assert_max_num_queries(400) as queries:
        against(moved)
    assert [sql for sql in texts(queries) if sql and not sql.lstrip().upper().startswith("SELECT")] == []
    assert moved.digests() == before


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


def test_nothing_moved_is_nothing_wrong_but_with_the_source_all_is_missing(db, older: Source):
    assert here().whole
    report = against(older)
    assert not report.whole
    assert found(report)["not_accounted"].count >= len(older.rows["messages"])


def run(*arguments: str) -> tuple[str, str, int]:
    out, err = io.StringIO(), io.StringIO()
    code = 0
    try:
        call_command("validate_migration", *arguments, stdout=out, stderr=err)
    except SystemExit as left:
        code = int(left.code or 0)
    return out.getvalue(), err.getvalue(), code


def test_the_command_prints_the_report_and_keeps_it(moved: Source):
    text, _, code = run("--from", moved.url)
    assert code == 0
    assert "Whole: every check that was made holds." in text
    assert "memory_items  0" in text
    kept = MigrationCheck.objects.get()
    assert kept.whole
    assert MigrationReport.model_validate(kept.report).source in text
    assert "postgres:" not in kept.source


def test_the_command_answers_in_json(moved: Source):
    text, _, code = run("--json")
    assert code == 0
    report = json.loads(text)
    assert report["whole"] is True
    assert report["not_made"] == NEEDS_SOURCE


def test_the_command_exits_with_1_and_names_what_is_wrong(moved: Source):
    with unguarded():
        Message.objects.filter(role="user").update(content="x")
    text, _, code = run("--from", moved.url)
    assert code == 1
    assert "[WRONG] value_differs" in text
    assert "WRONG: " in text.splitlines()[-1]
    assert not MigrationCheck.objects.get().whole


@pytest.mark.parametrize("url", ["postgresql://nobody@127.0.0.1:1/none", "mysql://x", "nonsense", ""])
def test_a_source_that_cannot_be_read_is_refused_and_nothing_is_kept(db, url):
    _, said, code = run("--from", url)
    assert code == 1
    assert json.loads(said)["code"] in ("unavailable", "invalid_input")
    assert not MigrationCheck.objects.exists()


@pytest.mark.parametrize("batch", ["0", "-1", "5001"])
def test_an_impossible_batch_is_refused(db, batch):
    with pytest.raises(CommandError, match="--batch"):
        call_command("validate_migration", "--batch", batch)


def test_both_systems_at_once_are_accounted_for(db, postgres: str, media_folder, tmp_path: Path):
    """SmartBrain 0.2 and SmartRAG in one database, dirty: whatever was moved holds, in every table; what is taken away
    beside the audit log is named, whatever its table."""
    root = tmp_path / "older-media"
    root.mkdir()
    rows, _, manifest = everything(root, sessions=2)
    with source(postgres, rows, manifest, EVERYTHING) as older:
        move(older, media_root=root)
        report = against(older)
    assert [str(each) for code, check in found(report).items() if RULES[code].fault for each in check.findings] == []
    assert {table.source_table for table in report.tables} >= {"kg_edges", "source_sections", "media_jobs", "tags"}
    for table in report.tables:
        assert table.in_source == table.migrated + table.quarantined + table.left_out, table.source_table
    assert {table.source_table for table in report.tables if table.compared} == set(COMPARISONS)
    for model in (SectionTag, TopicSection, TopicTag, KnowledgeEvent, SessionScopeLink):
        with unguarded():
            model.objects.all()._raw_delete("default")
        lost = here()
        name = model._meta.db_table
        assert name in {finding.target_table for finding in found(lost)["missing"].findings}
        assert {each.source_table: each.migrated for each in lost.tables}[name] == 0


def test_a_run_of_some_steps_leaves_the_rest_unaccounted(db, postgres: str, tmp_path: Path):
    """Every table that a step takes is asked for, whether a row of it was ever read or not."""
    rows, _, manifest = everything(tmp_path, sessions=1)
    with source(postgres, rows, manifest, EVERYTHING) as older:
        only = Options(only=("sessions", "turns"))
        with opened(older.url) as snapshot:
            migrate(snapshot, older_app(), only, ctx(), lambda *told: None)
        report = against(older)
    named = {table.source_table: table.in_source for table in report.tables}
    for table in {table for step in STEPS for table in step.tables}:
        assert named[table] == len(older.rows[table]), table


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


def test_a_database_without_a_table_of_ours_is_refused_and_not_called_whole(moved: Source, postgres: str):
    with database(postgres, f"legacy_empty_{uuid4().hex[:8]}") as url:
        _, said, code = run("--from", url)
    assert code == 1
    assert "has no table of SmartBrain or SmartRAG" in json.loads(said)["detail"]
    assert not MigrationCheck.objects.exists()


def test_rows_of_another_database_are_told(moved: Source):
    """They are not held against this one, and the report says so."""
    with unguarded():
        run_of = MigrationRun.objects.order_by("pk")[0]
        MigratedRow.objects.create(
            source_table="tags", source_id="1", digest="0" * 64, outcome="quarantined", reason="orphan", run=run_of
        )
    finding = the_finding(against(moved), "other_source")
    assert (finding.source_table, finding.what[:6]) == ("tags", "1 rows")


def test_a_validation_that_is_broken_off_says_so_and_keeps_nothing(moved: Source, monkeypatch):
    def broken_off(*given: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("legacy.services.validating._look_here", broken_off)
    _, said, code = run()
    assert code == 2
    assert "Broken off. No report was kept" in said
    assert not MigrationCheck.objects.exists()
