"""Jobs: queued when the transaction commits, scheduled once."""

from __future__ import annotations

import gc
from datetime import timedelta
from multiprocessing import Value
from queue import Queue

import pytest
from django.core.management import call_command
from django.db import transaction
from django_q.models import OrmQ, Schedule
from django_q.worker import worker

from kernel import queue
from kernel.clock import now

JOB = "kernel.clock.now"


@pytest.mark.django_db(transaction=True)
def test_it_works():
    with transaction.atomic():
        queue.enqueue(JOB, 1, "two")
        assert not OrmQ.objects.exists()
    (row,) = OrmQ.objects.all()
    assert (row.task["func"], row.task["args"]) == (JOB, (1, "two"))


@pytest.mark.django_db(transaction=True)
def test_what_is_rolled_back_is_not_queued():
    with transaction.atomic():
        queue.enqueue(JOB)
        transaction.set_rollback(True)
    assert not OrmQ.objects.exists()


@pytest.mark.django_db(transaction=True)
def test_what_is_to_run_later_runs_once_then():
    before = now()
    with transaction.atomic():
        queue.enqueue_later(5, JOB, 1, "two")
        assert not Schedule.objects.filter(func=JOB).exists()
    row = Schedule.objects.get(func=JOB)
    assert (row.schedule_type, row.args) == (Schedule.ONCE, "(1, 'two')")
    assert row.next_run >= before + timedelta(minutes=5)


def test_saying_it_again_changes_nothing(db):
    queue.every(5, JOB)
    queue.every(5, JOB)
    assert Schedule.objects.get(name=JOB).minutes == 5


def test_another_interval_replaces_the_one_before(db):
    queue.every(5, JOB)
    queue.every(10, JOB)
    assert Schedule.objects.get(name=JOB).minutes == 10


def test_what_apps_run_regularly_is_scheduled_by_every_migrate(db):
    Schedule.objects.all().delete()
    call_command("migrate", verbosity=0)
    assert Schedule.objects.get(name="governance.jobs.seal_audit").minutes == 1


def test_a_worker_keeps_what_it_loaded_out_of_the_way_of_the_garbage_collector():
    """The loop of a worker process, with one job that counts what is kept."""
    before = gc.get_freeze_count()
    asked: Queue = Queue()
    answers: Queue = Queue()
    asked.put({"id": "1", "name": "count", "func": "gc.get_freeze_count", "args": (), "kwargs": {}, "sync": True})
    asked.put("STOP")
    try:
        worker(asked, answers, Value("f", -1))
        done = answers.get(timeout=60)
        assert done["success"]
        assert done["result"] > before + 10_000
    finally:
        gc.unfreeze()
