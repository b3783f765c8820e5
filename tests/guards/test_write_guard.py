"""The guard bites: nobody writes a domain-owned table but through the gate."""

from __future__ import annotations

from threading import Thread

import pytest
from django.contrib.auth import get_user_model
from django.db import connection, connections, transaction

from kernel import clock
from media.models import MediaJob
from media.services import leases
from memory.models import Turn
from scopes.models import Domain, Principal
from tests.conftest import a_turn
from tests.guards.write_guard import OutsideTheGateError, guarded_tables, unguarded, written_table
from tests.media.jobbing import a_job


def test_it_works(cast):
    assert cast.agent.do("commit_turn", a_turn())["seq"] == 1


def test_a_raw_insert_fails(db):
    with pytest.raises(OutsideTheGateError, match="domains"), transaction.atomic():
        Domain.objects.create(pk="raw")
    assert not Domain.objects.filter(pk="raw").exists()


def test_a_raw_bulk_insert_fails(db):
    with pytest.raises(OutsideTheGateError, match="domains"), transaction.atomic():
        Domain.objects.bulk_create([Domain(pk="raw")], ignore_conflicts=True)


def test_a_raw_update_fails(cast):
    with pytest.raises(OutsideTheGateError, match="principals"), transaction.atomic():
        Principal.objects.update(active=False)
    assert Principal.objects.filter(active=True).exists()


def test_a_raw_delete_fails(cast):
    cast.agent.do("commit_turn", a_turn())
    with pytest.raises(OutsideTheGateError), transaction.atomic():
        Turn.objects.all()._raw_delete("default")
    with pytest.raises(OutsideTheGateError), connection.cursor() as cursor:
        cursor.execute("DELETE FROM turns")
    assert Turn.objects.count() == 1


@pytest.mark.django_db(transaction=True)
def test_another_thread_is_watched_too():
    caught: list[BaseException] = []

    def write() -> None:
        try:
            Domain.objects.create(pk="thread")
        except OutsideTheGateError as exc:
            caught.append(exc)
        finally:
            connections.close_all()

    thread = Thread(target=write)
    thread.start()
    thread.join()
    assert len(caught) == 1
    assert not Domain.objects.filter(pk="thread").exists()


def test_a_lease_changes_the_row_of_a_job_and_nothing_else(cast):
    row = a_job(cast.agent)
    assert leases.claim(row.pk, clock.now()) is not None
    with pytest.raises(OutsideTheGateError, match="media_jobs"), transaction.atomic():
        MediaJob.objects.update(status="completed")
    with leases._leasing():
        for write in (
            lambda: MediaJob.objects.all()._raw_delete("default"),
            lambda: Principal.objects.update(active=False),
        ):
            with pytest.raises(OutsideTheGateError):
                write()


def test_set_up_by_hand_is_explicit(db):
    with unguarded():
        Domain.objects.create(pk="by-hand")
    with pytest.raises(OutsideTheGateError), transaction.atomic():
        Domain.objects.create(pk="again")


def test_accounts_are_not_domain_owned(db):
    assert get_user_model().objects.create_user("someone").pk


@pytest.mark.parametrize("model", ["domains", "audit_entries", "index_postings", "turns", "sessions", "proposals"])
def test_the_tables_of_every_app_are_guarded(model):
    assert model in guarded_tables()


@pytest.mark.parametrize(
    ("sql", "table"),
    [
        ('INSERT INTO "turns" ("id") VALUES (1)', "turns"),
        ("insert or ignore into turns values (1)", "turns"),
        ('UPDATE "turns" SET seq = 1', "turns"),
        ("  DELETE FROM turns", "turns"),
        ("TRUNCATE turns", "turns"),
        ('SELECT * FROM "turns"', None),
        ('INSERT INTO "django_session" VALUES (1)', None),
        ('UPDATE "django_q_ormq" SET lock = 1', None),
    ],
)
def test_statements_are_recognised(sql, table):
    assert written_table(sql) == table
