"""Recorded contexts that showed what was erased."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from uuid import UUID

from kernel.ids import names_any, oldest
from kernel.rows import batches
from memory.models import ContextRecord, ContextShown


def quoting_contexts(ids: Collection[UUID], domain_id: str) -> Collection[UUID]:
    """The recorded contexts of a domain that name any of these: their text is that of what is to go. None that is older
    than the oldest of them is read, but every later one is."""
    wanted = {str(each) for each in ids}
    later = ContextRecord.objects.filter(domain_id=domain_id, pk__gt=oldest(ids)).values_list("pk", "package")
    return [pk for pk, package in later.iterator(chunk_size=200) if names_any(package, wanted)]


def scrub_contexts(ids: Collection[UUID], found: Collection[UUID], domain_id: str) -> Mapping[str, int]:
    """Delete the contexts that were found, and those that were recorded since and are known to have shown any of these."""
    shown = {
        pk
        for batch in batches(ids)
        for pk in ContextShown.objects.filter(object_id__in=batch, domain_id=domain_id).values_list(
            "record", flat=True
        )
    }
    return {"contexts": delete_contexts(sorted(shown.union(found)))}


def delete_contexts(ids: Collection[UUID]) -> int:
    """Delete recorded contexts; how many were still there."""
    gone = 0
    for batch in batches(ids):
        ContextShown.objects.filter(record__in=batch).delete()
        gone += ContextRecord.objects.filter(pk__in=batch).delete()[0]
    return gone
