"""A media job is asked for once, whatever comes twice, and its queue carries what was stored."""

from __future__ import annotations

from datetime import timedelta

import pytest
from django_q.models import OrmQ

from governance import gate
from governance.gate import system_ctx
from governance.models import AuditEntry
from kernel import clock
from kernel.context import Ctx, Door
from kernel.errors import ConflictError, IdempotencyConflictError, InvalidInputError
from media.actions import working as worker
from media.models import MediaJob, SourceDocument
from media.services import jobs
from tests.conftest import TEAM, make_agent
from tests.media.jobbing import PROJECT, enqueue, put, row_of, wanted
from tests.threads import at_once

pytestmark = pytest.mark.usefixtures("midday")


def test_it_works(cast, importing):
    job_id = enqueue(cast.agent, idempotency_key="k")
    assert cast.agent.do("get_media_job", id=job_id)["status"] == "queued"
    assert worker.run_media_job(job_id)
    job = cast.agent.do("get_media_job", id=job_id)
    document = SourceDocument.objects.get()
    assert (job["status"], job["attempts"], job["error"], job["advice"]) == ("completed", 1, "", "")
    assert job["result"]["document_id"] == str(document.pk)
    assert (document.owner_id, document.domain_id) == (cast.agent.identity.actor.id, TEAM)  # case 108
    entry = AuditEntry.objects.filter(action="run_media_job").get()
    assert (entry.actor_name, entry.door, entry.outcome) == ("agent", "job", "allowed")
    assert {change["table"] for change in entry.changes} == {"source_documents", "media_jobs"}


@pytest.mark.django_db(transaction=True)
def test_the_queue_carries_the_id_alone_and_only_what_was_stored(importing):
    agent = make_agent("agent")
    job_id = enqueue(agent)
    (message,) = OrmQ.objects.all()
    assert (message.task["func"], message.task["args"]) == ("media.jobs.run_media_job", (job_id,))
    with pytest.raises(InvalidInputError):
        agent.do("enqueue_media", wanted(options={"x": 1}, scopes=[{"type": "nonsense", "id": "x"}]))
    assert OrmQ.objects.count() == 1


# Asking twice


def test_the_same_key_and_payload_give_the_same_job(cast, importing):
    options = {"title": "A", "tags": ["x", "y"]}
    first = cast.agent.do("enqueue_media", wanted(idempotency_key="k", options=options))
    again = cast.agent.do("enqueue_media", wanted(idempotency_key="k", options=dict(reversed(options.items()))))
    assert (again["job_id"], again["deduplicated"]) == (first["job_id"], True)
    assert MediaJob.objects.count() == 1


@pytest.mark.parametrize(
    "other",
    [
        {"source": "https://example.org/b"},
        {"options": {"tags": ["x", "y"], "title": "B"}},
        {"options": {"tags": ["y", "x"]}},
        {"operation": "add_media"},
        {"scopes": [PROJECT]},
    ],
)
def test_the_same_key_with_another_payload_is_a_conflict(cast, importing, other):
    enqueue(cast.agent, idempotency_key="k", options={"tags": ["x", "y"]})
    with pytest.raises(IdempotencyConflictError):
        cast.agent.do("enqueue_media", {**wanted(idempotency_key="k", options={"tags": ["x", "y"]}), **other})
    assert MediaJob.objects.count() == 1


def test_the_same_key_in_another_domain_is_a_conflict(cast, importing):
    enqueue(cast.agent, idempotency_key="k")
    make_agent("neighbour", "second")
    wider = Ctx(cast.agent.identity.actor, Door.PYTHON, system_ctx("tests", Door.PYTHON).reach)
    with pytest.raises(IdempotencyConflictError):
        gate.call("enqueue_media", wanted(idempotency_key="k", domain_id="second"), ctx=wider)
    assert MediaJob.objects.count() == 1


def test_a_key_whose_job_was_erased_is_used_up(cast, importing):
    """In another domain too, where the gate keeps no answer under it."""
    worker.run_media_job(enqueue(cast.agent, idempotency_key="k"))
    named = {"kind": "document", "id": str(SourceDocument.objects.get().pk)}
    cast.operator.do("erase", domain_id=TEAM, objects=[named], reason="asked to")
    make_agent("neighbour", "second")
    wider = Ctx(cast.agent.identity.actor, Door.PYTHON, system_ctx("tests", Door.PYTHON).reach)
    for domain in (TEAM, "second"):
        with pytest.raises(ConflictError, match="erased since"):
            gate.call("enqueue_media", wanted(idempotency_key="k", domain_id=domain), ctx=wider)
    assert MediaJob.objects.count() == 1


def test_two_owners_may_use_one_key(cast, importing):
    second = make_agent("second")
    ids = {enqueue(player, idempotency_key="k") for player in (cast.agent, second)}
    assert len(ids) == 2
    for player in (cast.agent, second):
        assert len(player.do("list_media_jobs")["jobs"]) == 1


def test_a_blank_key_is_none(cast, importing):
    assert enqueue(cast.agent, idempotency_key=" ") != enqueue(cast.agent)
    assert {row.idempotency_key for row in MediaJob.objects.all()} == {""}


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("same", [True, False])
def test_of_two_at_once_one_is_stored(importing, same):
    agent = make_agent("agent")
    sources = ["https://example.org/a", "https://example.org/a" if same else "https://example.org/b"]
    given = [wanted(source, idempotency_key="k") for source in sources]
    told = at_once([lambda tree=tree: agent.do("enqueue_media", tree) for tree in given])
    assert MediaJob.objects.count() == 1
    answers = [each for each in told if isinstance(each, dict)]
    if same:
        assert len(answers) == 2
        assert {each["job_id"] for each in answers} == {str(MediaJob.objects.get().pk)}
    else:
        assert len(answers) == 1
        assert [type(each) for each in told if not isinstance(each, dict)] == [IdempotencyConflictError]


def test_a_key_that_comes_again_is_told_where_the_job_is_now(cast, importing):
    given = wanted(idempotency_key="k")
    first = cast.agent.do("enqueue_media", given)
    assert (first["status"], first["deduplicated"]) == ("queued", False)
    worker.run_media_job(first["job_id"])
    assert cast.agent.do("enqueue_media", given) == {**first, "status": "completed", "deduplicated": True}
    put(first["job_id"], finished_at=clock.now() - timedelta(days=8))
    worker.prune_media_jobs()
    again = cast.agent.do("enqueue_media", given)
    assert (again["job_id"], [text.split(":")[0] for text in again["warnings"]]) == (first["job_id"], ["job_removed"])


@pytest.mark.parametrize(
    "given",
    [
        {"operation": "delete_everything"},
        {"source": ""},
        {"source": "x" * 2001},
        {"options": []},
        {"scopes": [{"type": "project"}]},
        {"staging_object": "0" * 32},
        {"domain_id": "a b"},
    ],
)
def test_what_does_not_fit_is_refused(cast, importing, given):
    with pytest.raises(InvalidInputError):
        cast.agent.do("enqueue_media", {**wanted(), **given})


def test_whoever_reaches_one_domain_need_not_name_it(cast, importing):
    given = wanted()
    del given["domain_id"]
    job_id = cast.agent.do("enqueue_media", given)["job_id"]
    assert row_of(job_id).domain_id == TEAM


def test_the_fingerprint_is_of_what_was_asked():
    one = jobs.Wanted(TEAM, "add_media", "a", {"x": 1, "y": {"b": [1, 2], "a": None}})
    same = jobs.Wanted(TEAM, "add_media", "a", {"y": {"a": None, "b": [1, 2]}, "x": 1})
    assert one.fingerprint == same.fingerprint
    assert len(one.fingerprint) == 64
