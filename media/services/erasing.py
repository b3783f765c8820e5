"""Erasing documents: their rows, sections and index entries, what jobs quote of them, and bytes that nobody else has."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from datetime import UTC, datetime
from uuid import UUID

from governance.hooks import Erased
from kernel.canonical import digest
from kernel.errors import StaleError
from kernel.queue import enqueue
from kernel.rows import batches
from media.contracts.kinds import FINAL
from media.models import MediaJob, MediaObject, SectionTag, SourceDocument
from media.selectors.erasing import jobs_about
from media.services.documents import remove
from media.services.ingesting.storing import shown
from media.services.sharing import locked

_LONG_AGO = datetime(1970, 1, 1, tzinfo=UTC)  # so that no grace period keeps the bytes


def hold_documents(ids: Collection[UUID]) -> set[int]:
    """Hold documents against other writers until the present transaction ends; no scope is to be locked for them."""
    for batch in batches(sorted(ids)):
        list(SourceDocument.objects.select_for_update().filter(pk__in=batch).order_by("pk").values_list("pk"))
    return set()


def erase_documents(ids: Sequence[UUID]) -> list[Erased]:
    """Delete documents. Bytes that nothing refers to any more are removed by the collection that is started then."""
    found = (SourceDocument.objects.filter(pk__in=batch).order_by("pk") for batch in batches(sorted(ids)))
    done = [_erase(row) for rows in found for row in rows]
    if any(each.counts["stored_files"] for each in done):
        enqueue("media.jobs.collect_media_objects")
    return done


def _erase(document: SourceDocument) -> Erased:
    row, pk = locked(document), document.pk
    sections = list(row.sections.order_by("number").values_list("pk", "title", "content"))
    told = [shown(row), row.metadata, [[str(number), title, content] for number, title, content in sections]]
    jobs = dict(jobs_about(row).select_for_update().order_by("pk").values_list("pk", "staging_object_id"))
    _forget(jobs.keys())
    files = list(MediaObject.objects.filter(references__document=row).values_list("pk", flat=True))
    counts = {
        "sections": len(sections),
        "shares": row.shares.count(),
        "tags": SectionTag.objects.filter(section__document=row).count(),
        "jobs": len(jobs),
    }
    remove(row)
    MediaObject.objects.filter(pk__in=[*files, *filter(None, jobs.values())], reference_count=0).update(
        touched_at=_LONG_AGO
    )
    return Erased(pk, digest(told), {**counts, "stored_files": len(files)})


def _forget(jobs: Collection[UUID]) -> None:
    """Leave of ended jobs that they were, without what they were asked, what came of it, and the uploads that they kept.
    Raises StaleError for one that has not ended: it was started after somebody looked for such."""
    for batch in batches(jobs):
        forgotten = MediaJob.objects.filter(pk__in=batch, status__in=FINAL).update(
            source="",
            options={},
            request_fingerprint="",
            result=None,
            error="",
            note="What it imported was erased.",
            staging_object=None,
        )
        if forgotten < len(batch):
            raise StaleError("A job that would import it again was started at this moment: look at it again.")
