"""A validation of what was moved in: what is whole is found whole, and every row of the source is accounted for."""

from __future__ import annotations

from pathlib import Path

from legacy.contracts import REASONS
from legacy.selectors.compared import COMPARISONS
from legacy.services.migrating import Options, migrate
from legacy.services.tally import RULES
from legacy.source import opened
from legacy.steps import STEPS
from media.models import SectionTag, TopicSection, TopicTag
from memory.models import EvidenceLink, KnowledgeEvent, SessionScopeLink, Turn
from tests.asked import texts
from tests.guards.write_guard import unguarded
from tests.legacy.sources import EVERYTHING, dirty, everything
from tests.legacy.sources.databases import Source, source
from tests.legacy.validating import NEEDS_SOURCE, against, ctx, found, here, move, moved, older, older_app
from tests.media.conftest import media_folder, set_conf

__all__ = ["media_folder", "moved", "older", "set_conf"]


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


def test_nothing_moved_is_nothing_wrong_but_with_the_source_all_is_missing(db, older: Source):
    assert here().whole
    report = against(older)
    assert not report.whole
    assert found(report)["not_accounted"].count >= len(older.rows["messages"])


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
