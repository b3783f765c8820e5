"""A media job has one worker at a time: claims, heartbeats, stolen leases and lost workers."""

from __future__ import annotations

import time
from datetime import timedelta
from uuid import uuid4

import pytest
from django_q.models import OrmQ

from governance.models import AuditEntry
from kernel import clock
from media.actions import working as worker
from media.models import SourceDocument
from media.services import leases
from tests.conftest import make_agent
from tests.media.jobbing import enqueue, later, put, row_of, taken
from tests.threads import at_once

pytestmark = pytest.mark.usefixtures("midday")


def test_a_job_is_claimed_once(cast, importing):
    job_id = row_of(enqueue(cast.agent)).pk
    assert leases.claim(job_id, clock.now()) is not None
    assert leases.claim(job_id, clock.now()) is None
    assert leases.claim_next(clock.now()) is None


@pytest.mark.django_db(transaction=True)
def test_of_many_workers_each_job_has_one(importing):
    agent = make_agent("agent")
    made = {row_of(enqueue(agent, f"https://example.org/{number}")).pk for number in range(6)}
    now = clock.now()
    taken = at_once([lambda: leases.claim_next(now) for _ in range(8)])
    while (late := leases.claim_next(now)) is not None:  # who met a locked row went away with nothing
        taken.append(late)
    assert sorted(lease.job_id for lease in taken) == sorted(made)


def test_the_one_that_waits_longest_comes_first(cast, importing):
    first, second = enqueue(cast.agent), enqueue(cast.agent, "https://example.org/b")
    put(second, available_at=clock.now() - timedelta(hours=1))
    assert [str(taken().job_id) for _ in range(2)] == [second, first]


def test_a_stolen_lease_stores_nothing(cast, importing):
    job_id = enqueue(cast.agent)
    importing.before = lambda given, ctx: put(job_id, lease_token=uuid4())
    worker.run_media_job(job_id)
    assert (row_of(job_id).status, SourceDocument.objects.count()) == ("processing", 0)
    assert row_of(job_id).error == ""


def test_a_lease_that_is_stolen_while_storing_takes_all_back(cast, importing):
    job_id = enqueue(cast.agent)
    importing.during = lambda given, ctx: put(job_id, lease_token=uuid4())
    worker.run_media_job(job_id)
    assert SourceDocument.objects.count() == 0


def test_a_heartbeat_needs_the_lease(cast, importing):
    lease = taken(enqueue(cast.agent))
    moment = clock.now() + timedelta(seconds=30)
    assert leases.beat(lease, moment)
    assert row_of(str(lease.job_id)).heartbeat_at == moment
    put(str(lease.job_id), lease_token=uuid4())
    assert not leases.beat(lease, clock.now())
    assert not leases.give_back(lease, clock.now(), "lost")


@pytest.mark.django_db(transaction=True)
def test_a_worker_shows_that_it_lives(importing, settings, monkeypatch):
    monkeypatch.setattr(leases, "HEARTBEAT_SECONDS", 0.02)
    seen: list[object] = []
    job_id = enqueue(make_agent("agent"))

    def wait(given, ctx):
        first, until = row_of(job_id).heartbeat_at, time.monotonic() + 120
        while row_of(job_id).heartbeat_at == first and time.monotonic() < until:
            time.sleep(0.01)
        seen.append(row_of(job_id).heartbeat_at != first)

    importing.before = wait
    worker.run_media_job(job_id)
    assert (seen, row_of(job_id).status) == ([True], "completed")


def test_given_back_it_waits_or_is_left_to_recovery_which_is_on_record(cast, importing):
    lease = taken(enqueue(cast.agent))
    assert leases.give_back(lease, clock.now(), "no database")
    again = taken(str(lease.job_id))
    put(str(lease.job_id), max_attempts=2)
    assert not leases.give_back(again, clock.now(), "no database")
    assert row_of(str(lease.job_id)).status == "processing"
    put(str(lease.job_id), heartbeat_at=clock.now() - timedelta(seconds=1000))
    worker.recover_media_jobs()
    assert row_of(str(lease.job_id)).status == "failed"
    entry = AuditEntry.objects.filter(action="recover_media_jobs").get()
    assert [change["id"] for change in entry.changes] == [str(lease.job_id)]


# Lost workers


@pytest.mark.parametrize(("beat", "status"), [(10, "processing"), (1000, "queued"), (None, "queued")])
def test_a_worker_without_life_loses_its_job(cast, importing, beat, status):
    job_id = enqueue(cast.agent)
    leases.claim(row_of(job_id).pk, clock.now())
    heartbeat = None if beat is None else clock.now() - timedelta(seconds=beat)
    put(job_id, started_at=clock.now() - timedelta(seconds=1000), heartbeat_at=heartbeat)
    worker.recover_media_jobs()
    assert row_of(job_id).status == status
    assert bool(row_of(job_id).note) == (status == "queued")


def test_a_job_that_ends_its_workers_ends_too(cast, importing):
    job_id = enqueue(cast.agent)
    put(job_id, attempts=2)
    leases.claim(row_of(job_id).pk, clock.now())
    with later(1000):
        worker.recover_media_jobs()
    assert (row_of(job_id).status, row_of(job_id).attempts) == ("failed", 3)


def test_a_job_without_message_is_found(cast, importing):
    jobs_made = [enqueue(cast.agent, f"https://example.org/{number}") for number in range(3)]
    OrmQ.objects.all().delete()
    assert worker.resume_media_jobs() == 3
    assert {row_of(job_id).status for job_id in jobs_made} == {"completed"}
