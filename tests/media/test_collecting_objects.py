"""Stored bytes that nobody needs come to an end, and no others (cases 102 to 104)."""

from __future__ import annotations

from datetime import timedelta

import pytest

from governance import gate
from governance.gate.opening import writing
from kernel import clock
from kernel.errors import StaleError, UnavailableError
from kernel.ids import new_id
from media import jobs
from media.contracts.kinds import JobStatus
from media.models import MediaObject
from media.services import objects
from media.storage import LocalStore, store
from tests.guards.write_guard import unguarded
from tests.media.keeping import DAY, aged, attach, collect, document, fresh, keep, root, staged, system, upload

__all__ = ["document", "keep", "upload"]

pytestmark = pytest.mark.usefixtures("media_folder")


def test_within_the_grace_period_nothing_is_removed(keep):
    row = keep()
    assert collect(hours=1)["removed"] == 0
    aged(row, timedelta(minutes=59))
    assert collect(hours=1)["removed"] == 0
    aged(row, timedelta(minutes=61))
    assert collect(hours=1)["removed"] == 1


def test_the_operators_setting_is_the_grace_period(keep, set_conf):
    aged(keep(), timedelta(hours=23))
    assert gate.call("garbage_collect_media_objects", {}, ctx=system()).body()["removed"] == 0
    set_conf(media_grace_hours=22, data_dir=root().parent)
    assert gate.call("garbage_collect_media_objects", {}, ctx=system()).body()["removed"] == 1


def test_an_upload_of_the_same_bytes_begins_the_grace_period_anew(keep):
    aged(keep())
    keep()
    assert collect()["removed"] == 0


def test_a_run_removes_no_more_than_its_limit(keep):
    for number in range(3):
        aged(keep(str(number).encode()))
    assert collect(limit=2) == {"removed": 2, "freed_bytes": 2, "more": True, "warnings": []}
    assert collect(limit=2)["removed"] == 1


def test_the_hourly_job_goes_on_until_nothing_is_left(keep, monkeypatch):
    for number in range(3):
        aged(keep(str(number).encode()))
    assert jobs.collect_media_objects() == 3
    assert jobs.collect_media_objects() == 0


@pytest.mark.parametrize("status", list(JobStatus))
def test_the_bytes_of_a_kept_job_stay(keep, status):
    """Whatever its state, for a failed one may be tried again (case 103)."""
    row = aged(keep())
    job = staged(row, status)
    assert collect(hours=0)["removed"] == 0
    with unguarded():
        job.delete()
    assert collect(hours=0)["removed"] == 1


def test_a_job_that_is_stored_while_bytes_are_chosen_keeps_them(keep, monkeypatch):
    """Chosen for removal, then needed before they are marked: they stay, whatever the clocks say."""
    row = aged(keep())
    monkeypatch.setattr(objects, "needed_objects", lambda among: {row.pk})
    assert collect()["removed"] == 0
    assert fresh(row).collector is None


def test_a_store_that_fails_removes_no_row(keep, monkeypatch):
    rows = [aged(keep(str(number).encode()), (9 - number) * DAY) for number in range(3)]
    real, calls = LocalStore.delete, []

    def delete(self, content_hash):
        calls.append(content_hash)
        if len(calls) == 2:
            raise UnavailableError("The bucket of media cannot be reached.")
        return real(self, content_hash)

    monkeypatch.setattr(LocalStore, "delete", delete)
    answer = collect()
    assert answer["removed"] == 1
    assert answer["warnings"] == ["store_unavailable:The bucket of media cannot be reached."]
    left = {row.content_hash: row.collector for row in MediaObject.objects.all()}
    assert set(left) == {row.content_hash for row in rows} - {calls[0]}
    assert left.pop(calls[1]) is not None  # nobody knows whether these bytes are gone
    assert list(left.values()) == [None]


def test_bytes_that_are_being_removed_are_waited_for(keep, upload, monkeypatch):
    row = aged(keep())
    monkeypatch.setattr(objects, "WAIT_SECONDS", 0.2)
    mark(row, clock.now())
    with pytest.raises(UnavailableError, match="try again"):
        objects.keep(upload(), "text/plain", system())
    with pytest.raises(StaleError), writing():
        objects.touch(row.pk)


def mark(row, since):
    with unguarded():
        MediaObject.objects.filter(pk=row.pk).update(collector=new_id(), collecting_since=since)


def test_what_a_dead_collector_left_is_taken_over(keep, document):
    row = aged(keep())
    store().delete(row.content_hash)
    mark(row, clock.now() - timedelta(minutes=16))
    with pytest.raises(StaleError):  # its bytes may be gone
        attach(document(), row)
    again = keep()
    assert (again.pk, again.collector, store().exists(row.content_hash)) == (row.pk, None, True)
    mark(aged(row), clock.now() - timedelta(minutes=16))
    assert collect()["removed"] == 1


def test_a_collector_that_is_late_deletes_nothing(keep, monkeypatch):
    row = aged(keep())
    monkeypatch.setattr(objects, "FRESH", timedelta(0))
    assert collect()["warnings"] == ["store_unavailable:The store is slow: the next run goes on."]
    assert (fresh(row).collector, store().exists(row.content_hash)) == (None, True)


@pytest.mark.parametrize("given", [{"limit": 0}, {"limit": 1001}, {"min_age_hours": -1}, {"storage_uri": "x"}])
def test_bad_input_is_refused(cast, given):
    with pytest.raises(Exception, match=next(iter(given))):
        cast.operator.do("garbage_collect_media_objects", given)


@pytest.mark.parametrize("action", ["garbage_collect_media_objects", "check_media"])
def test_only_operators_look_after_the_store(cast, action):
    for player in (cast.agent, cast.reviewer, cast.stranger):
        with pytest.raises(Exception, match="operate"):
            player.do(action)
