"""What was moved in is erased like anything else, with what the records of moving in quote of it."""

from __future__ import annotations

from uuid import UUID, uuid4

import pytest

from kernel.ids import new_id
from legacy.models import MigratedRow
from memory.models import ContextRecord
from memory.services.erasing.quotes import scrub_contexts
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


def test_contexts_that_showed_it_go_though_its_id_tells_no_time(cast):
    commit(cast.agent, "s1", say="Hay for the zoo")
    compose(cast.agent, "hay for the zoo", "s1")
    later_than_any = UUID("ffffffff-ffff-4fff-bfff-ffffffffffff")
    with unguarded():
        ContextRecord.objects.update(package={"evidence": [{"id": str(later_than_any)}]})
        assert scrub_contexts([UUID(int=later_than_any.int - 1)], TEAM) == {"contexts": 0}
        assert scrub_contexts([later_than_any, new_id()], TEAM) == {"contexts": 1}
    assert not ContextRecord.objects.exists()
