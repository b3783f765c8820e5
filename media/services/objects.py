"""Stored bytes in the books: a row before the bytes are there, a count of who needs them, and their end.

What keeps both right, whoever else is at it at the same moment:
- Who stores bytes first enters or touches their row, then stores them. So bytes without a row are never ours to keep.
- Who removes bytes first marks their row, which only succeeds while nobody needs or has just touched it, then deletes
  the bytes, then the row. A marked row can neither be touched nor referred to; who wants the same bytes waits.
- Each of these steps is one conditional update, so that of two who try only one succeeds, on both databases.
"""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import partial
from pathlib import Path
from typing import TypeVar
from uuid import UUID, uuid4

from django.db import IntegrityError, transaction
from django.db.models import F, QuerySet

from governance import gate
from kernel import clock
from kernel.actions import Change
from kernel.context import Ctx
from kernel.errors import NotFoundError, StaleError, UnavailableError
from kernel.rows import insert
from media.models import MediaObject, MediaObjectReference, SourceDocument
from media.selectors.objects import free_objects, needed_objects, unused_objects
from media.storage import Measured, measure, store

T = TypeVar("T")

WAIT_SECONDS = 10.0  # how long to wait for the same bytes to be gone before they are stored anew
FRESH = timedelta(minutes=5)  # for how long after marking objects their bytes may be deleted
_PAUSE_SECONDS = 0.05


@dataclass(frozen=True, slots=True)
class Collected:
    """Objects whose bytes were just deleted, by whom; those that it did not come to, and the fault that stopped it."""

    collector: UUID
    objects: tuple[MediaObject, ...] = ()
    left: tuple[MediaObject, ...] = ()
    fault: str = ""


def keep(path: Path, mime: str, ctx: Ctx) -> MediaObject:
    """Store the bytes of the file at `path` and give their row, which no document refers to yet.

    Must not run in a transaction: the row is there for all before the bytes are. If nothing comes of it, they are
    removed after the grace period. Raises UnavailableError where they cannot be stored.
    """
    measured = measure(path)
    until = time.monotonic() + WAIT_SECONDS
    while time.monotonic() < until:
        row = _entered(partial(register, measured, mime), ctx)
        if row is not None:
            store().put(path)
            if _entered(partial(_still_there, row), ctx):
                return row
        time.sleep(_PAUSE_SECONDS)
    raise UnavailableError("The same bytes are being removed at this moment: try again in a minute.")


def _still_there(row: MediaObject) -> tuple[bool, list[Change]]:
    return _touched(MediaObject.objects.filter(pk=row.pk, collector=None)), []


def _entered(write: Callable[[], tuple[T, Sequence[Change]]], ctx: Ctx) -> T:
    given: list[T] = []

    def writing() -> Sequence[Change]:
        result, changes = write()
        given.append(result)
        return changes

    gate.by_itself("register_media_object", writing, ctx)
    return given[0]


def register(measured: Measured, mime: str) -> tuple[MediaObject | None, list[Change]]:
    """Enter or touch the row of these bytes, inside the gate's transaction; None while they are being removed.

    The bytes must be put into the store afterwards, also where the row was there.
    """
    now = clock.now()
    same = MediaObject.objects.filter(content_hash=measured.content_hash)
    if _touched(free_objects(now).filter(content_hash=measured.content_hash)):
        return same.get(), []
    row = MediaObject(
        content_hash=measured.content_hash,
        storage_uri=store().uri(measured.content_hash),
        byte_size=measured.byte_size,
        mime=mime,
        created_at=now,
        touched_at=now,
    )
    try:
        with transaction.atomic():
            row.save(force_insert=True)
    except IntegrityError:
        return None, []
    return row, [Change("media_objects", str(row.pk), None, _seen(row))]


def touch(media_object_id: UUID) -> None:
    """Say, inside the gate's transaction, that these bytes are about to be used, such as by a job that is stored with
    them. Raises StaleError where they were removed or are being removed."""
    if not _touched(MediaObject.objects.filter(pk=media_object_id, collector=None)):
        raise StaleError("These bytes were removed meanwhile: send them again.")


def _touched(rows: QuerySet[MediaObject]) -> bool:
    """Whether the one row is there; then nobody removes it before the grace period has passed again."""
    return rows.update(touched_at=clock.now(), collector=None, collecting_since=None) == 1


def attach(document: SourceDocument, media_object: MediaObject) -> list[Change]:
    """Make these the bytes of the document, in place of those it had. Inside the gate's transaction.

    Raises StaleError where they were removed meanwhile.
    """
    _lock(document)
    held = list(MediaObjectReference.objects.filter(document=document))
    gone = [reference for reference in held if reference.media_object_id != media_object.pk]
    if len(gone) < len(held):
        touch(media_object.pk)
        return _release(gone)
    # In the order of their ids, so that two who exchange the same bytes do not wait for each other for ever.
    steps = [(reference.media_object_id, partial(_release, [reference])) for reference in gone]
    steps.append((media_object.pk, partial(_refer, document, media_object)))
    return [change for _, step in sorted(steps, key=lambda each: each[0]) for change in step()]


def hold_many(ids: Collection[UUID]) -> set[UUID]:
    """Touch these objects, inside the gate's transaction, and keep others from changing them until it ends; those of them
    that are there and that nobody is removing."""
    there = MediaObject.objects.select_for_update().filter(pk__in=ids, collector=None).order_by("pk")
    held = set(there.values_list("pk", flat=True))
    MediaObject.objects.filter(pk__in=held).update(touched_at=clock.now())
    return held


def refer_many(references: Sequence[MediaObjectReference]) -> None:
    """Store references to objects that are held, and count them. A document may come to have several."""
    insert(references)
    counts = Counter(reference.media_object_id for reference in references)
    for media_object_id, many in sorted(counts.items()):
        MediaObject.objects.filter(pk=media_object_id).update(reference_count=F("reference_count") + many)


def detach(document: SourceDocument) -> list[Change]:
    """Let go of the bytes of a document; before it is deleted, or its references would go without being counted."""
    _lock(document)
    return _release(list(MediaObjectReference.objects.filter(document=document).order_by("media_object")))


def _lock(document: SourceDocument) -> None:
    if SourceDocument.objects.select_for_update().filter(pk=document.pk).first() is None:
        raise NotFoundError


def _refer(document: SourceDocument, media_object: MediaObject) -> list[Change]:
    touch(media_object.pk)
    MediaObject.objects.filter(pk=media_object.pk).update(reference_count=F("reference_count") + 1)
    made = MediaObjectReference.objects.create(
        domain_id=document.domain_id, media_object=media_object, document=document
    )
    return [Change("media_object_references", str(made.pk), None, _link(made))]


def _release(references: Sequence[MediaObjectReference]) -> list[Change]:
    changes = []
    for reference in references:
        if MediaObjectReference.objects.filter(pk=reference.pk).delete()[0]:
            MediaObject.objects.filter(pk=reference.media_object_id).update(
                reference_count=F("reference_count") - 1, touched_at=clock.now()
            )
            changes.append(Change("media_object_references", str(reference.pk), _link(reference), None))
    return changes


def delete_unused(limit: int, grace: timedelta, ctx: Ctx) -> Collected:
    """Mark at most `limit` objects that nobody needs and delete their bytes; `forget` removes their rows afterwards.

    Must not run in a transaction. Where the store fails, it stops: what it had not come to is free again.
    """
    collector = uuid4()
    marked: list[MediaObject] = []
    if unused_objects(ctx.now - grace, clock.now()).exists():
        gate.by_itself("mark_media_objects", lambda: _mark(marked, collector, limit, ctx.now - grace), ctx)
    deleted: list[MediaObject] = []
    for number, row in enumerate(marked):
        if clock.now() - (row.collecting_since or ctx.now) > FRESH:
            return Collected(
                collector, tuple(deleted), tuple(marked[number:]), "The store is slow: the next run goes on."
            )
        try:
            store().delete(row.content_hash)
        except UnavailableError as exc:  # of this one nobody knows whether it is gone: it stays marked for a while
            return Collected(collector, tuple(deleted), tuple(marked[number + 1 :]), exc.message)
        deleted.append(row)
    return Collected(collector, tuple(deleted))


def _mark(marked: list[MediaObject], collector: UUID, limit: int, before: datetime) -> Sequence[Change]:
    now = clock.now()
    chosen = list(unused_objects(before, now).values_list("pk", flat=True)[:limit])
    free_objects(now).filter(pk__in=chosen, reference_count=0, touched_at__lt=before).update(
        collector=collector, collecting_since=now
    )
    # Who needs an object touches its row in the same transaction: it either was there before the mark, and is seen
    # now, or it waits for the mark and finds it.
    needed = needed_objects(chosen)
    MediaObject.objects.filter(collector=collector, pk__in=needed).update(collector=None, collecting_since=None)
    marked.extend(MediaObject.objects.filter(collector=collector))
    return []


def forget(collected: Collected) -> list[Change]:
    """Remove the rows of objects whose bytes were deleted, inside the gate's transaction."""
    mine = MediaObject.objects.filter(collector=collected.collector)
    mine.filter(pk__in=[row.pk for row in collected.left]).update(collector=None, collecting_since=None)
    changes = []
    for row in collected.objects:
        if mine.filter(pk=row.pk).delete()[0]:
            changes.append(Change("media_objects", str(row.pk), _seen(row), None))
    return changes


def _seen(row: MediaObject) -> dict[str, object]:
    return {"content_hash": row.content_hash, "byte_size": row.byte_size, "mime": row.mime}


def _link(row: MediaObjectReference) -> dict[str, object]:
    return {"media_object_id": str(row.media_object_id), "document_id": str(row.document_id)}
