"""The command of the validation: what it prints, how it ends, what it keeps and what it refuses."""

from __future__ import annotations

import io
import json
from uuid import uuid4

import pytest
from django.core.management import CommandError, call_command

from legacy.contracts.validating import MigrationReport
from legacy.models import MigrationCheck
from memory.models import Message
from tests.guards.write_guard import unguarded
from tests.legacy.sources.databases import Source, database
from tests.legacy.validating import NEEDS_SOURCE, moved, older

__all__ = ["moved", "older"]


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


def test_a_database_without_a_table_of_ours_is_refused_and_not_called_whole(moved: Source, postgres: str):
    with database(postgres, f"legacy_empty_{uuid4().hex[:8]}") as url:
        _, said, code = run("--from", url)
    assert code == 1
    assert "has no table of SmartBrain or SmartRAG" in json.loads(said)["detail"]
    assert not MigrationCheck.objects.exists()


def test_a_validation_that_is_broken_off_says_so_and_keeps_nothing(moved: Source, monkeypatch):
    def broken_off(*given: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("legacy.services.validating._look_here", broken_off)
    _, said, code = run()
    assert code == 2
    assert "Broken off. No report was kept" in said
    assert not MigrationCheck.objects.exists()
