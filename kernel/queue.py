"""The only module that knows the job queue. Jobs are named by dotted path and take ids, never objects."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta
from importlib import import_module

from django.apps import apps
from django.contrib import admin
from django.db import transaction
from django.db.models import Count, Max, Q
from django.db.models.signals import post_migrate
from django_q.models import OrmQ, Schedule, Task
from django_q.signals import post_spawn
from django_q.tasks import async_task, schedule

from kernel.clock import now
from kernel.loaded import keep_loaded

_regular: dict[str, int] = {}


def regularly(minutes: int, job: str) -> None:
    """Say, when an app starts, that `job` runs every so many minutes: each `migrate` keeps its schedule."""
    _regular[job] = minutes


def schedule_after_migrate() -> None:
    """From now on each `migrate` keeps the schedule of every job that apps named with `regularly`."""
    post_migrate.connect(_schedule_regular, sender=apps.get_app_config("django_q"), dispatch_uid="schedules")


def keep_loaded_in_workers() -> None:
    """From now on each worker process, once it is there, keeps what is loaded out of the garbage collector's way."""
    post_spawn.connect(keep_loaded, dispatch_uid="keep_loaded")


def _schedule_regular(**_: object) -> None:
    for job, minutes in sorted(_regular.items()):
        every(minutes, job)


LATE = timedelta(minutes=15)  # how long a schedule may wait before nobody seems to work


def enqueue(job: str, *ids: int | str) -> None:
    """Run `job` (a dotted path to a function in some `jobs.py`) once the present transaction commits."""
    transaction.on_commit(lambda: async_task(job, *ids))


def enqueue_later(minutes: int, job: str, *ids: int | str) -> None:
    """Run `job` once, so many minutes after the present transaction commits."""

    def plan() -> None:
        due = now() + timedelta(minutes=minutes)
        schedule(job, *ids, schedule_type=Schedule.ONCE, next_run=due)

    transaction.on_commit(plan)


def every(minutes: int, job: str) -> None:
    """Keep one schedule that runs `job` every so many minutes; saying it again changes nothing but the interval."""
    known = Schedule.objects.filter(name=job)
    if not known.exists():
        schedule(job, name=job, schedule_type=Schedule.MINUTES, minutes=minutes)
    known.exclude(minutes=minutes).update(minutes=minutes)


@dataclass(frozen=True, slots=True)
class Health:
    """How the job queue does: jobs that wait, jobs that failed in the last day, schedules that nobody has picked up in
    time, and when a job last ended well (None: none is on record)."""

    waiting: int
    failed: int
    overdue: int
    last_done: datetime | None

    @property
    def well(self) -> bool:
        """Whether nothing needs an operator."""
        return not self.failed and not self.overdue


def health(now: datetime) -> Health:
    """How the queue does at this instant, by what its tables say: true for every host that works on it."""
    ended = Task.objects.aggregate(
        failed=Count("pk", filter=Q(success=False, stopped__gte=now - timedelta(days=1))),
        last_done=Max("stopped", filter=Q(success=True)),
    )
    return Health(
        waiting=OrmQ.objects.count(), overdue=Schedule.objects.filter(next_run__lt=now - LATE).count(), **ended
    )


def hide_admin() -> None:
    """Take the queue's own admin pages away: they would change rows past the gate."""
    import_module("django_q.admin")  # registers its pages, so that nothing does so later
    for model in apps.get_app_config("django_q").get_models():
        if admin.site.is_registered(model):
            admin.site.unregister(model)
