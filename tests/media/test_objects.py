"""Stored bytes in the books: one row each, and true counts whoever comes at once."""

from __future__ import annotations

import dataclasses
from functools import partial

import pytest

from governance.gate.opening import writing
from governance.models import AuditEntry
from kernel.errors import NotFoundError, StaleError
from kernel.ids import new_id
from media.contracts.kinds import JobStatus
from media.models import MediaObject, MediaObjectReference
from media.services import objects
from media.storage import LocalStore, store
from tests.conftest import TEAM
from tests.guards.write_guard import unguarded
from tests.media.keeping import (
    aged,
    attach,
    collect,
    detach,
    document,
    fresh,
    keep,
    staged,
    system,
    true_counts,
    upload,
)
from tests.threads import at_once

__all__ = ["document", "keep", "upload"]

pytestmark = pytest.mark.usefixtures("media_folder")


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
def test_an_upload_and_a_removal_at_once_lose_nothing(upload, document, keep, monkeypatch):
    """Whoever is first: what a document refers to is there, and what was removed has no row."""
    monkeypatch.setattr(objects, "WAIT_SECONDS", 600)
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
