"""Reading stored bytes: which of them are the caller's, and which nobody needs."""

from __future__ import annotations

from collections.abc import Collection
from datetime import datetime, timedelta
from uuid import UUID

from django.db.models import Count, Exists, OuterRef, Q, QuerySet

from governance.selectors.waiting import sources_waiting
from kernel.context import Ctx
from kernel.errors import NotFoundError
from kernel.ids import uuids_in
from media.contracts.documents import UPLOAD
from media.contracts.jobs import Operation
from media.models import MediaJob, MediaObject, MediaObjectReference, SourceDocument

ABANDONED = timedelta(minutes=15)  # after which whoever began to remove an object has died on it


def free_objects(now: datetime) -> QuerySet[MediaObject]:
    """Those that nobody is removing. Where someone died on it, the bytes may be gone while the row is there."""
    return MediaObject.objects.filter(Q(collector=None) | Q(collecting_since__lt=now - ABANDONED))


def _awaited() -> set[UUID]:
    """The uploads that imports name which wait for a person."""
    sources = sources_waiting([*Operation, "enqueue_media"])
    named = [source.removeprefix(UPLOAD).partition(".")[0] for source in sources if source.startswith(UPLOAD)]
    return set(uuids_in(named).values())


def unused_objects(before: datetime, now: datetime) -> QuerySet[MediaObject]:
    """Those that may be removed: no document, no kept job and no waiting import needs them, and nobody meant to use them
    since then."""
    staged = MediaJob.objects.filter(staging_object=OuterRef("pk"))
    referred = MediaObjectReference.objects.filter(media_object=OuterRef("pk"))
    idle = free_objects(now).filter(reference_count=0, touched_at__lt=before)
    idle = idle.filter(~Exists(staged), ~Exists(referred)).exclude(pk__in=_awaited())
    return idle.order_by("touched_at", "pk")


def needed_objects(among: Collection[UUID]) -> set[UUID]:
    """Those of the given ones that a document, a kept job or a waiting import needs."""
    referred = MediaObjectReference.objects.filter(media_object__in=among).values_list("media_object_id", flat=True)
    staged = MediaJob.objects.filter(staging_object__in=among).values_list("staging_object__id", flat=True)
    return {*referred, *staged, *_awaited().intersection(among)}


def own_object(object_id: UUID, domain_id: str, ctx: Ctx) -> MediaObject:
    """Bytes that the caller uploaded for a job of its own, or that a document of its own holds, in this domain. Raises
    NotFoundError: that others have the same bytes is never confirmed."""
    mine = {"domain_id": domain_id, "owner_id": ctx.actor.id}
    held = MediaObjectReference.objects.filter(
        media_object=OuterRef("pk"), domain_id=domain_id, document__owner_id=ctx.actor.id
    )
    staged = MediaJob.objects.filter(staging_object=OuterRef("pk"), **mine)
    row = MediaObject.objects.filter(Exists(held) | Exists(staged), pk=object_id).first()
    if row is None:
        raise NotFoundError(f"No upload {str(object_id)!r} of yours.")
    return row


def object_of(document: SourceDocument) -> MediaObject | None:
    """The stored bytes of a document; None where none are kept."""
    return MediaObject.objects.filter(references__document=document).order_by("-references__id").first()


def counted_objects(shard: str) -> QuerySet[MediaObject]:
    """Those whose hash begins so, each with the true number of its references as `references_found`."""
    rows = MediaObject.objects.filter(content_hash__startswith=shard)
    return rows.annotate(references_found=Count("references")).order_by("content_hash")
