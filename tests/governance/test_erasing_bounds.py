"""What a call to erase reads: as many statements for many things as for a few, and the same found in any portions."""

from __future__ import annotations

from collections.abc import Callable
from uuid import UUID

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from governance.contracts.erasing import EraseInput
from governance.selectors import erasing as selectors
from kernel.rows import batches
from media.models import MediaJob
from media.selectors import erasing as of_documents
from memory.models import KgEdge, MemoryItem, Session
from memory.selectors import erasing as of_memory
from tests.conftest import TEAM, Cast
from tests.governance.erasing import PLAN, learned, refused, session_of
from tests.memory.talk import commit, context, decision, only

pytestmark = pytest.mark.django_db

PROJECT = context("project:p", write=("project:p",))


def entities(cast: Cast, many: int) -> list[str]:
    """Memories of entities, each of which its own turn said something about."""
    for number in range(many):
        named = {"key": f"entity:org:zoo{number}", "kind": "org", "canonical": f"zoo{number}", "remember": True}
        told = {"subject": f"zoo{number}", "predicate": "owns", "object": f"lion{number}"}
        commit(cast.agent, "s1", scopes=PROJECT, entities=[named], edges=[told])
    return list(
        map(str, MemoryItem.objects.filter(key__startswith="entity:").order_by("pk").values_list("pk", flat=True))
    )


def sessions(cast: Cast, many: int) -> list[str]:
    for number in range(many):
        edge = {"subject": f"zoo{number}", "predicate": "owns", "object": "lions"}
        commit(cast.agent, f"s{number}", say="hello", edges=[edge], decisions=[decision(f"Use {number}")])
    return list(map(str, Session.objects.order_by("pk").values_list("pk", flat=True)))


def documents(cast: Cast, many: int) -> list[str]:
    """Documents, each with a job that made it again."""
    found = []
    for number in range(many):
        uri = f"https://example.org/{number}"
        given = {"text": f"# Zoo\n\nA zebra: {number}.", "source_uri": uri}
        found.append(cast.agent.do("add_document", domain_id=TEAM, options=given)["document_id"])
        ask = {"domain_id": TEAM, "operation": "add_document", "source": uri, "options": {}}
        cast.agent.do("cancel_media_job", id=cast.agent.do("enqueue_media", ask)["job_id"])
    return found


def statements(cast: Cast, kind: str, ids: list[str]) -> int:
    """How many it takes to find what goes, and the ids by which records quote it."""
    named = [{"kind": kind, "id": pk} for pk in ids]
    given = EraseInput.parse({"domain_id": TEAM, "objects": named, "reason": "asked to"})
    with CaptureQueriesContext(connection) as asked:
        selectors.names_of(selectors.extent_of(given, cast.operator.ctx()).things)
    return len(asked)


@pytest.mark.parametrize(
    ("kind", "make"),
    [("memory", entities), ("session", sessions), ("document", documents)],
)
def test_it_works(cast, kind, make: Callable[[Cast, int], list[str]]):
    ids = make(cast, 6)
    assert len(ids) == 6
    assert statements(cast, kind, ids) == statements(cast, kind, ids[:2])


def test_each_relation_goes_with_its_own_memory_however_many_are_looked_for(cast, monkeypatch):
    ids = [UUID(pk) for pk in entities(cast, 3)]
    found = of_memory.relations_of(ids)
    edges = {row.pk: row.subject for row in KgEdge.objects.all()}
    assert {edges[pk]: item_id for pk, item_id in found.items()} == dict(
        zip(("zoo0", "zoo1", "zoo2"), ids, strict=True)
    )
    monkeypatch.setattr(of_memory, "batches", lambda values: batches(values, 1))
    assert of_memory.relations_of(ids) == found


def test_each_job_goes_with_its_own_document_however_many_are_looked_for(cast, monkeypatch):
    ids = [UUID(pk) for pk in documents(cast, 3)]
    monkeypatch.setattr(of_documents, "_WITH_JOBS", 1)
    one_by_one = sorted(of_documents._jobs_of(ids, MediaJob.objects.all()))
    monkeypatch.undo()
    assert sorted(of_documents._jobs_of(ids, MediaJob.objects.all())) == one_by_one
    sources = dict(MediaJob.objects.values_list("pk", "source"))
    assert {of: sources[pk] for pk, of in one_by_one} == {
        pk: f"https://example.org/{number}" for number, pk in enumerate(ids)
    }


def test_a_job_that_waits_is_told_with_the_document_that_it_would_bring_back(cast):
    first, second = documents(cast, 2)
    ask = {"domain_id": TEAM, "operation": "add_document", "source": "https://example.org/1", "options": {}}
    job = cast.agent.do("enqueue_media", ask)["job_id"]
    (held,) = refused(cast.operator, "document", first, second).extra["held"]
    assert (held["of"], held["kind"], held["id"]) == (second, "media_job", job)


def test_another_owners_job_under_the_same_address_is_not_about_it(cast):
    (pk,) = documents(cast, 1)
    ask = {"domain_id": TEAM, "operation": "add_document", "source": "https://example.org/0", "options": {}}
    cast.operator.do("enqueue_media", ask)
    assert {of for _, of in of_documents._jobs_of([UUID(pk)], MediaJob.objects.all())} == {UUID(pk)}
    assert of_documents.jobs_under_way("document", [UUID(pk)], TEAM) == []


def test_a_part_of_what_goes_holds_nothing_that_goes_with_it(cast):
    """A memory in a session's own scope that rests on another memory, both named: whichever is looked at first."""
    first = learned(cast)["id"]
    resting = {**PLAN, "key": "decision:zoo:other", "evidence_refs": [{"kind": "memory", "id": first}]}
    second = only(commit(cast.agent, "s2", decisions=[resting]))["id"]
    whole = {"kind": "session", "id": session_of(cast.agent, "s2")}
    objects = [whole, {"kind": "memory", "id": first}]
    told = cast.operator.do("erase", domain_id=TEAM, objects=objects, reason="asked to")
    assert {each["object_id"] for each in told["erased"]} == {first, second, whole["id"]}
