"""What was moved in is erased like anything else, with what the records of moving in quote of it."""

from __future__ import annotations

from uuid import UUID, uuid4

import pytest

from kernel.ids import new_id
from legacy.contracts.validating import MigrationReport
from legacy.models import MigratedRow, MigrationCheck
from legacy.services.recording import keep
from legacy.services.tally import Tally
from legacy.services.validating import validate
from memory.models import ContextRecord
from memory.services.erasing.quotes import quoting_contexts, scrub_contexts
from tests.conftest import TEAM
from tests.guards.write_guard import unguarded
from tests.legacy.moving import aside, came
from tests.memory.talk import commit, compose, only

pytestmark = pytest.mark.django_db


def test_it_works(cast):
    item = only(commit(cast.agent, "s1", decisions=[{"key": "decision:zoo:food", "decision": "Hay"}]))
    mine = came("memory_items", item["id"], "m-1", note="span_json was: hay")
    other = came("memory_items", uuid4(), "m-2", note="kept")
    quoting = aside("memory_chunks", "c-1", "orphan", content={"memory_item_id": "m-1", "text": "hay"})
    unrelated = aside("memory_chunks", "c-2", "orphan", content={"memory_item_id": "m-2", "text": "hay"})
    cast.operator.do(
        "erase",
        domain_id=TEAM,
        objects=[{"kind": "memory", "id": item["id"]}],
        reason="asked to",
        along=True,
    )
    rows = {row.pk: row for row in MigratedRow.objects.all()}
    assert (rows[mine.pk].note, rows[mine.pk].outcome) == ("", "migrated")
    assert rows[quoting.pk].content is None
    assert rows[other.pk].note == "kept"
    assert rows[unrelated.pk].content == {"memory_item_id": "m-2", "text": "hay"}


def test_what_validations_found_of_it_goes(cast):
    """By its id here, by its id there, and of what belonged to it; what was found of others stays."""
    mine = only(commit(cast.agent, "s1", decisions=[{"key": "decision:zoo:food", "decision": "Hay"}]))["id"]
    other = str(uuid4())
    came("memory_items", mine, "m-1")
    came("memory_items", other, "m-2")
    aside("memory_chunks", "c-1", "orphan", content={"memory_item_id": "m-1", "text": "hay"})
    findings = [
        (("memory_items", "m-1"), ("memory_items", mine), "statement: there hay, here Hay"),
        (("memory_items", "m-1"), ("", ""), "there hay"),
        (("", ""), ("memory_items", mine), "here Hay"),
        (("memory_chunks", "c-1"), ("", ""), "text: there hay"),
        (("memory_items", "m-2"), ("memory_items", other), "statement: there wolf, here Wolf"),
        (("entities", "m-1"), ("", ""), "there lion"),
    ]
    tally = Tally()
    for source, target, what in findings:
        tally.found("value_differs", source, target, what)
    report = validate(None, lambda phase, done, total: None).model_copy(
        update={"checks": tally.checks(with_source=True)}
    )
    for _ in range(2):
        keep(report, cast.operator.ctx())
    told = cast.operator.do(
        "erase", domain_id=TEAM, objects=[{"kind": "memory", "id": mine}], reason="asked to", along=True
    )
    assert told["scrubbed"]["migration_checks"] == 2
    for row in MigrationCheck.objects.all():
        (check,) = [each for each in MigrationReport.model_validate(row.report).checks if each.findings]
        said = [each.what for each in check.findings]
        assert said == ["What this said of the row was erased with it."] * 4 + [what for _, _, what in findings[4:]]
        assert check.count == len(findings)


def test_contexts_that_showed_it_go_though_its_id_tells_no_time(cast):
    commit(cast.agent, "s1", say="Hay for the zoo")
    compose(cast.agent, "hay for the zoo", "s1")
    later_than_any = UUID("ffffffff-ffff-4fff-bfff-ffffffffffff")
    with unguarded():
        ContextRecord.objects.update(package={"evidence": [{"id": str(later_than_any)}]})
        assert quoting_contexts([UUID(int=later_than_any.int - 1)], TEAM) == []
        found = quoting_contexts([later_than_any, new_id()], TEAM)
        assert scrub_contexts([later_than_any], found, TEAM) == {"contexts": 1}
        assert scrub_contexts([later_than_any], found, TEAM) == {"contexts": 0}
    assert not ContextRecord.objects.exists()
