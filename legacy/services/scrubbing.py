"""What the records of moving in quote of what was erased since."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Mapping
from uuid import UUID

from legacy.contracts.outcomes import Fate
from legacy.contracts.rows import key_of
from legacy.models import MigratedRow

# The columns of the older tables by which a row belongs to another, and whose.
_OWNERS = {
    "session_id": "sessions",
    "source_session_id": "sessions",
    "turn_id": "turns",
    "source_turn_id": "turns",
    "message_id": "messages",
    "source_message_id": "messages",
    "memory_item_id": "memory_items",
    "entity_id": "entities",
    "document_id": "source_documents",
    "section_id": "source_sections",
}
_BATCH = 500
ERASED = "erased"  # why a row was left out


def scrub_moved_rows(ids: Collection[UUID], domain_id: str) -> Mapping[str, int]:
    """Take the notes out of the records of rows that became these, and leave the quarantined rows that belonged to them
    out for good, without their content: no later run tries them again. That they were read stays."""
    gone: defaultdict[str, set[str]] = defaultdict(set)
    scrubbed = 0
    wanted = [str(each) for each in ids]
    for start in range(0, len(wanted), _BATCH):
        rows = MigratedRow.objects.filter(target_id__in=wanted[start : start + _BATCH])
        for table, source_id in rows.values_list("source_table", "source_id"):
            gone[table].add(source_id)
        scrubbed += rows.exclude(note="", content=None).update(note="", content=None)
    if not gone:
        return {"migrated_rows": 0}
    while belonged := _belonging(gone):
        for start in range(0, len(belonged), _BATCH):
            rows = MigratedRow.objects.filter(pk__in=belonged[start : start + _BATCH])
            for table, source_id in rows.values_list("source_table", "source_id"):
                gone[table].add(source_id)
            scrubbed += rows.update(outcome=Fate.LEFT_OUT, reason=ERASED, content=None, note="")
    return {"migrated_rows": scrubbed}


def _belonging(gone: Mapping[str, Collection[str]]) -> list[int]:
    """The quarantined rows that named one of these rows of the source as theirs."""
    kept = MigratedRow.objects.filter(outcome=Fate.QUARANTINED, content__isnull=False).values_list("pk", "content")
    return [
        pk
        for pk, content in kept.iterator(chunk_size=_BATCH)
        if content and any(_named(content, column) in gone.get(table, ()) for column, table in _OWNERS.items())
    ]


def _named(content: Mapping[str, str | None], column: str) -> str | None:
    """The row that a column names, as its id is remembered."""
    text = content.get(column)
    return key_of(text) if text else None
