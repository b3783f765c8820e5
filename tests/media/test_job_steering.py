"""Media jobs are steered only as their state allows, listed, counted and pruned."""

from __future__ import annotations

from datetime import timedelta
from uuid import uuid4

import pytest

from kernel import clock
from kernel.errors import ForbiddenError, InvalidInputError, TooLargeError, TransitionError
from media.actions import working as worker
from media.models import MediaJob, SourceDocument
from media.services import leases
from tests.conftest import TEAM, make_person
from tests.media.jobbing import PROJECT, enqueue, put, raising, row_of

pytestmark = pytest.mark.usefixtures("midday")


def test_only_a_queued_job_is_canceled(cast, importing):
    job_id = enqueue(cast.agent)
    assert cast.agent.do("cancel_media_job", id=job_id)["status"] == "canceled"
    assert not worker.run_media_job(job_id)
    for action in ("cancel_media_job", "retry_media_job"):
        with pytest.raises(TransitionError):
            cast.agent.do(action, id=job_id)
    running = row_of(enqueue(cast.agent)).pk
    leases.claim(running, clock.now())
    with pytest.raises(TransitionError, match="processing"):
        cast.agent.do("cancel_media_job", id=str(running))


def test_a_failed_job_is_retried_from_the_start(cast, importing):
    job_id = enqueue(cast.agent)
    importing.before = raising(TooLargeError("over"))
    worker.run_media_job(job_id)
    job = cast.agent.do("retry_media_job", id=job_id)
    assert (job["status"], job["attempts"], job["error"], job["result"]) == ("queued", 0, "", None)
    importing.before = lambda given, ctx: None
    worker.run_media_job(job_id)
    assert row_of(job_id).status == "completed"
    with pytest.raises(TransitionError):
        cast.agent.do("retry_media_job", id=job_id)
    assert SourceDocument.objects.count() == 1


def _failed(player, number: int) -> str:
    job_id = enqueue(player, f"https://example.org/{number}")
    put(job_id, status="failed", finished_at=clock.now())
    return job_id


def test_all_failed_jobs_are_retried_or_those_named(cast, importing):
    failed, done = [_failed(cast.agent, number) for number in range(3)], enqueue(cast.agent)
    worker.run_media_job(done)
    unknown = str(uuid4())
    told = cast.agent.do("retry_media_jobs", ids=[failed[0], done, unknown])
    assert told["retried"] == [failed[0]]
    assert {each["id"] for each in told["refused"]} == {done, unknown}
    told = cast.agent.do("retry_media_jobs")
    assert (told["retried"], told["refused"], told["remaining"]) == (failed[1:], [], 0)
    assert cast.stranger.do("retry_media_jobs")["retried"] == []


def test_all_failed_jobs_are_those_that_nobody_took_note_of(cast, importing):
    noted, other = _failed(cast.agent, 1), _failed(cast.agent, 2)
    cast.agent.do("acknowledge_media_job", id=noted)
    told = cast.agent.do("retry_media_jobs")
    assert (told["retried"], told["refused"], told["remaining"]) == ([other], [], 0)
    assert row_of(noted).status == "failed"
    assert cast.agent.do("retry_media_jobs")["retried"] == []
    assert cast.agent.do("retry_media_jobs", ids=[noted])["retried"] == [noted]  # who names it means it


def test_a_job_that_waits_for_its_time_waits_for_nobody(cast, importing):
    put(enqueue(cast.agent), available_at=clock.now() + timedelta(hours=1))
    assert cast.agent.do("media_job_stats")["oldest_queued_age_seconds"] == 0


def test_what_is_taken_note_of_asks_for_nothing_more(cast, importing):
    job_id = _failed(cast.agent, 1)
    assert cast.agent.do("media_job_stats")["unacknowledged"] == 1
    for _ in range(2):
        assert cast.agent.do("acknowledge_media_job", id=job_id)["acknowledged_at"]
    assert cast.agent.do("media_job_stats")["unacknowledged"] == 0
    assert cast.agent.do("list_media_jobs", unacknowledged=True)["jobs"] == []
    with pytest.raises(TransitionError):
        cast.agent.do("acknowledge_media_job", id=enqueue(cast.agent))


def test_a_reader_steers_nothing(cast, importing):
    job_id = enqueue(cast.agent, scopes=[PROJECT])
    auditor = make_person("looker", TEAM)
    assert auditor.do("cancel_media_job", id=job_id)["status"] == "canceled"
    put(job_id, owner_id=cast.reader.identity.actor.id, status="queued")
    with pytest.raises(ForbiddenError):
        cast.reader.do("cancel_media_job", id=job_id)


# Lists and counts


def test_lists_are_narrowed_and_paged(cast, importing):
    made = [enqueue(cast.agent, f"https://example.org/{number}") for number in range(5)]
    put(made[0], status="failed")
    put(made[1], status="partial")
    newest_first = list(reversed(made))
    found, cursor = [], None
    while True:
        told = cast.agent.do("list_media_jobs", limit=2, cursor=cursor)
        found += [job["id"] for job in told["jobs"]]
        cursor = told["next_cursor"]
        if cursor is None:
            break
    assert found == newest_first
    for offset in range(7):
        told = cast.agent.do("list_media_jobs", limit=2, offset=offset)
        assert [job["id"] for job in told["jobs"]] == newest_first[offset : offset + 2]
    chosen = cast.agent.do("list_media_jobs", status=["failed", "partial"])["jobs"]
    assert [job["id"] for job in chosen] == [made[1], made[0]]
    with pytest.raises(InvalidInputError):
        cast.agent.do("list_media_jobs", status=["lost"])


def test_counts_are_those_of_the_list(cast, importing):
    put(enqueue(cast.agent), status="failed")
    waiting = enqueue(cast.agent, "https://example.org/b")
    put(waiting, created_at=clock.now() - timedelta(days=2), available_at=clock.now() - timedelta(seconds=90))
    running = enqueue(cast.agent, "https://example.org/c")
    put(running, status="processing", started_at=clock.now() - timedelta(hours=1))
    told = cast.agent.do("media_job_stats", domain_id=TEAM)
    counts = {"queued": 1, "processing": 1, "completed": 0, "partial": 0, "failed": 1, "canceled": 0}
    assert (told["counts"], told["total"], told["stale_processing"]) == (counts, 3, 1)
    assert 90 <= told["oldest_queued_age_seconds"] < 120
    for status, number in counts.items():
        assert len(cast.agent.do("list_media_jobs", status=[status])["jobs"]) == number


def test_old_jobs_are_pruned(cast, importing):
    old, new, waiting = _failed(cast.agent, 1), _failed(cast.agent, 2), enqueue(cast.agent)
    put(old, finished_at=clock.now() - timedelta(days=8))
    worker.prune_media_jobs()
    assert {str(row.pk) for row in MediaJob.objects.all()} == {new, waiting}
    with pytest.raises(ForbiddenError):
        cast.agent.do("prune_media_jobs", days=0)
