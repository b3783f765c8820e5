"""Recorded contexts that showed what was erased."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from uuid import UUID

from kernel.ids import names_any, oldest
from kernel.rows import batches
from memory.models import ContextRecord, ContextShown


def scrub_contexts(ids: Collection[UUID], domain_id: str) -> Mapping[str, int]:
    """Delete the recorded contexts of a domain that name any of these: their text is that of what is gone. None that is
    older than the oldest of them is read."""
    wanted = {str(each) for each in ids}
    later = ContextRecord.objects.filter(domain_id=domain_id, pk__gt=oldest(ids)).values_list("pk", "package")
    found = [pk for pk, package in later.iterator(chunk_size=200) if names_any(package, wanted)]
    return {"contexts": delete_contexts(found)}


def delete_contexts(ids: Collection[UUID]) -> int:
    """Delete recorded contexts; how many."""
    for batch in batches(ids):
        ContextShown.objects.filter(record__in=batch).delete()
        ContextRecord.objects.filter(pk__in=batch).delete()
    return len(ids)
