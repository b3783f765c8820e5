"""Stored bytes in the books: true counts, and an end for what nobody needs (cases 102 to 104)."""

from __future__ import annotations

import dataclasses
from datetime import timedelta
from functools import partial
from io import StringIO
from pathlib import Path

import pytest
from django.core.management import call_command
from django.db import transaction

from governance import gate
from governance.gate import system_ctx
from governance.gate.opening import writing
from governance.models import AuditEntry
from kernel import clock
from kernel.conf import conf
from kernel.context import Door
from kernel.errors import NotFoundError, StaleError, UnavailableError
from kernel.ids import new_id
from media import jobs
from media.contracts.kinds import JobStatus
from media.models import MediaJob, MediaObject, MediaObjectReference, SourceDocument
from media.services import objects
from media.storage import LocalStore, store
from scopes.models import Domain
from tests.conftest import TEAM
from tests.guards.write_guard import unguarded
from tests.threads import at_once

pytestmark = pytest.mark.usefixtures("media_folder")
DAY = timedelta(days=1)


def system():
    """The system's own context, of this moment."""
    return system_ctx("tests", Door.PYTHON)


@pytest.fixture
def upload(tmp_path):
    """A file with these bytes."""

    def make(content: bytes = b"minutes of the meeting"):
        path = tmp_path / f"upload-{new_id().hex}"
        path.write_bytes(content)
        return path

    return make


@pytest.fixture
def keep(upload, db):
    return lambda content=b"minutes of the meeting": objects.keep(upload(content), "text/plain", system())


@pytest.fixture
def document(db):
    """A new document each time."""

    def make(owner: str = "alice") -> SourceDocument:
        with unguarded():
            domain, _ = Domain.objects.get_or_create(pk=TEAM)
            return SourceDocument.objects.create(
                domain=domain, owner_id=owner, owner_name=owner, title="Minutes", media_type="document",
                source_type="file", source_uri=f"https://example.org/{new_id()}", content_hash="0" * 64, state="completed",
            )  # fmt: skip

    return make


def root() -> Path:
    """The folder of stored bytes."""
    return conf().data_dir / "media"


def attach(document, row):
    with writing():
        return objects.attach(document, row)


def detach(document):
    with writing():
        return objects.detach(document)


def collect(hours: int = 24, **fields: object) -> dict:
    return gate.call("garbage_collect_media_objects", {"min_age_hours": hours, **fields}, ctx=system()).body()


def aged(row: MediaObject, by: timedelta = 2 * DAY) -> MediaObject:
    with unguarded():
        MediaObject.objects.filter(pk=row.pk).update(touched_at=clock.now() - by)
    return row


def fresh(row):
    return type(row).objects.get(pk=row.pk)


def true_counts() -> bool:
    return all(
        row.reference_count == MediaObjectReference.objects.filter(media_object=row).count()
        for row in MediaObject.objects.all()
    )


def test_it_works(keep, document):
    row, minutes = keep(), document()
    assert (row.reference_count, row.mime, store().exists(row.content_hash)) == (0, "text/plain", True)
    changes = attach(minutes, row)
    assert [(change.table, change.after["document_id"]) for change in changes] == [
        ("media_object_references", str(minutes.pk))
    ]
    assert fresh(row).reference_count == 1
    detach(minutes)
    aged(row)
    assert collect() == {"removed": 1, "freed_bytes": row.byte_size, "more": False, "warnings": []}
    assert not store().exists(row.content_hash)
    assert not MediaObject.objects.exists()


def test_a_row_is_there_before_the_bytes(upload, db, monkeypatch):
    """A crash between the two leaves something to collect (case 104), never bytes that nobody knows of."""
    monkeypatch.setattr(LocalStore, "put", _crash)
    with pytest.raises(KeyboardInterrupt):
        objects.keep(upload(), "text/plain", system())
    row = MediaObject.objects.get()
    assert row.reference_count == 0
    aged(row)
    assert collect()["removed"] == 1


def _crash(self, path):
    raise KeyboardInterrupt


def test_keeping_leaves_its_entry_once(keep):
    keep()
    keep()
    entry = AuditEntry.objects.get(action="register_media_object")
    assert (entry.outcome, entry.actor_name) == ("allowed", "tests")


def test_the_same_bytes_have_one_row(keep):
    assert keep() == keep()
    assert keep(b"others") != keep()
    assert MediaObject.objects.count() == 2


def test_bytes_that_were_lost_come_back_with_the_next_upload(keep):
    row = keep()
    store().delete(row.content_hash)
    keep()
    assert store().exists(row.content_hash)


def test_two_documents_share_bytes(keep, document):
    row, one, two = keep(), document("alice"), document("bob")
    attach(one, row)
    attach(two, row)
    assert fresh(row).reference_count == 2
    detach(one)
    assert fresh(row).reference_count == 1
    aged(row)
    assert collect()["removed"] == 0
    assert store().exists(row.content_hash)


def test_attaching_again_counts_once(keep, document):
    row, minutes = keep(), document()
    attach(minutes, row)
    assert attach(minutes, row) == []
    assert fresh(row).reference_count == 1


def test_new_bytes_take_the_place_of_the_older_ones(keep, document):
    older, newer, minutes = keep(b"older"), keep(b"newer"), document()
    attach(minutes, older)
    changes = attach(minutes, newer)
    assert sorted((change.before is None, change.after is None) for change in changes) == [
        (False, True),
        (True, False),
    ]
    assert (fresh(older).reference_count, fresh(newer).reference_count) == (0, 1)
    assert MediaObjectReference.objects.filter(document=minutes).count() == 1


def test_letting_go_twice_counts_once(keep, document):
    row, minutes = keep(), document()
    attach(minutes, row)
    assert len(detach(minutes)) == 1
    assert detach(minutes) == []
    assert fresh(row).reference_count == 0


def test_bytes_of_a_document_that_is_gone_are_refused(keep, document):
    row, minutes = keep(), document()
    with unguarded():
        minutes.delete()
    minutes.pk = new_id()
    with pytest.raises(NotFoundError):
        attach(minutes, row)
    with pytest.raises(NotFoundError):
        detach(minutes)


def test_bytes_that_were_removed_meanwhile_are_refused(keep, document):
    row = aged(keep())
    collect()
    with pytest.raises(StaleError, match="send them again"):
        attach(document(), row)
    with pytest.raises(StaleError), writing():
        objects.touch(row.pk)


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


def staged(row: MediaObject, status: JobStatus) -> MediaJob:
    with unguarded():
        Domain.objects.get_or_create(pk=TEAM)
        return MediaJob.objects.create(
            domain_id=TEAM, owner_id="alice", owner_name="alice", operation="add_media", status=status,
            request_fingerprint="0" * 64, staging_object=row,
        )  # fmt: skip


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


@pytest.mark.django_db(transaction=True)
def test_counts_are_true_whoever_comes_at_once(keep, document):
    rows, documents = [keep(b"one"), keep(b"two"), keep(b"three")], [document(str(number)) for number in range(4)]
    works = [partial(attach, documents[number % 4], rows[(number * 7) % 3]) for number in range(16)]
    works += [partial(detach, documents[number]) for number in range(2)]
    outcomes = at_once(works)
    assert not [found for found in outcomes if isinstance(found, Exception)]
    assert true_counts()
    assert all(MediaObjectReference.objects.filter(document=each).count() <= 1 for each in documents)


@pytest.mark.django_db(transaction=True)
def test_an_upload_and_a_removal_at_once_lose_nothing(upload, document, keep):
    """Whoever is first: what a document refers to is there, and what was removed has no row."""
    documents = [document(str(number)) for number in range(4)]
    aged(keep(b"wanted again"))

    def bring(target):
        row = objects.keep(upload(b"wanted again"), "text/plain", system())
        attach(target, row)
        return row

    works = [partial(bring, target) for target in documents]
    works += [partial(collect, 24), partial(collect, 0), partial(collect, 0), partial(collect, 0)]
    outcomes = at_once(works)
    kept = [found for found in outcomes if isinstance(found, MediaObject)]
    faults = [found for found in outcomes if isinstance(found, Exception)]
    assert all(isinstance(fault, StaleError) for fault in faults)
    assert len(kept) + len(faults) == len(documents)
    assert true_counts()
    for row in MediaObject.objects.filter(reference_count__gt=0):
        assert store().exists(row.content_hash)
    assert MediaObjectReference.objects.count() == len(kept)
    assert isinstance(bring(documents[0]), MediaObject)
    collect(0)
    assert MediaObject.objects.count() == 1
    assert {row.content_hash for row in MediaObject.objects.all()} == {file.content_hash for file in store().iterate()}


def check(**fields: object) -> list[dict]:
    faults, cursor = [], None
    while True:
        found = gate.call("check_media", {"cursor": cursor, **fields}, ctx=system()).body()
        faults += found["faults"]
        cursor = found["next_cursor"]
        if cursor is None:
            return faults


def test_a_store_that_is_well_has_no_faults(keep, document):
    attach(document(), keep())
    keep(b"nobody's yet")
    assert check(deep=True) == []


def spoil_bytes(row):
    path = root() / store().uri(row.content_hash).removeprefix("local:")
    path.chmod(0o640)
    path.write_bytes(b"x" * row.byte_size)


def spoil_count(row):
    with unguarded():
        MediaObject.objects.filter(pk=row.pk).update(reference_count=7)


def spoil_size(row):
    with unguarded():
        MediaObject.objects.filter(pk=row.pk).update(byte_size=7)


def leave_file(row):
    (root() / "aa").mkdir(exist_ok=True)
    (root() / "aa" / "note.txt").touch()


def forget_row(row):
    with unguarded(), transaction.atomic():
        MediaObjectReference.objects.all().delete()
        MediaObject.objects.all().delete()


@pytest.mark.parametrize(
    ("spoil", "kind"),
    [
        (lambda row: store().delete(row.content_hash), "missing_bytes"),
        (spoil_size, "wrong_size"),
        (spoil_count, "wrong_count"),
        (spoil_bytes, "wrong_content"),
        (forget_row, "unknown_file"),
        (lambda row: (root() / "note.txt").write_text("mine"), None),
        (leave_file, "stray_file"),
    ],
)
def test_what_is_wrong_is_told(keep, document, spoil, kind):
    row = keep()
    attach(document(), row)
    spoil(row)
    assert [fault["kind"] for fault in check(deep=True)] == ([kind] if kind else [])


def test_bytes_are_read_only_when_asked_for(keep, document):
    row = keep()
    attach(document(), row)
    spoil_bytes(row)
    assert check() == []


def test_a_broken_write_is_told_once_it_is_old(keep, monkeypatch):
    keep()
    (root() / "incoming" / "half").write_bytes(b"half")
    assert check() == []
    monkeypatch.setattr("media.storage.local._WRITING_SECONDS", -1)
    assert [(fault["kind"], fault["name"]) for fault in check()] == [("stray_file", "incoming/half")]


def test_a_missing_upload_that_nobody_needs_is_no_fault(keep):
    store().delete(keep().content_hash)
    assert check() == []


def run_check(*options: str) -> tuple[int, str]:
    out = StringIO()
    try:
        call_command("check_media", *options, stdout=out)
    except SystemExit as end:
        return int(end.code or 0), out.getvalue()
    return 0, out.getvalue()


def test_the_command_says_that_all_is_well(keep):
    keep()
    assert run_check("--deep") == (0, "1 objects and 1 files checked. All is well.\n")


def test_the_command_fails_where_something_is_wrong(keep, document):
    row = keep()
    attach(document(), row)
    spoil_bytes(row)
    code, said = run_check("--deep")
    assert code == 1
    assert f"wrong_content {row.content_hash}: Its bytes are not" in said
    assert "WRONG: 1 faults." in said


def test_what_was_staged_is_the_owners_alone(keep):
    from media.selectors.objects import own_object

    row = keep()
    staged(row, JobStatus.FAILED)
    anyone = system()
    alice = dataclasses.replace(anyone, actor=dataclasses.replace(anyone.actor, id="alice"))
    assert own_object(row.pk, TEAM, alice) == row
    for ctx, domain in ((anyone, TEAM), (alice, "elsewhere")):
        with pytest.raises(NotFoundError):
            own_object(row.pk, domain, ctx)
