"""What the records of moving in quote of what was erased since."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Mapping
from uuid import UUID

from kernel.rows import batches
from legacy.contracts.outcomes import Fate
from legacy.contracts.rows import key_of
from legacy.models import MigratedRow, MigrationCheck

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
_GONE = "What this said of the row was erased with it."


def scrub_moved_rows(ids: Collection[UUID], domain_id: str, receipt_id: UUID) -> Mapping[str, int]:
    """Take the notes out of the records of rows that became these, and leave the quarantined rows that belonged to them
    out for good, without their content: no later run tries them again. That they were read stays, and under which receipt
    they went. What validations found of either loses its words."""
    gone: defaultdict[str, set[str]] = defaultdict(set)
    scrubbed = 0
    wanted = [str(each) for each in ids]
    for batch in batches(wanted):
        rows = MigratedRow.objects.filter(target_id__in=batch)
        for table, source_id in rows.values_list("source_table", "source_id"):
            gone[table].add(source_id)
        scrubbed += rows.exclude(note="", content=None).update(note="", content=None)
        rows.filter(receipt_id=None).update(receipt_id=receipt_id, stored=None)
    while gone and (belonged := _belonging(gone)):
        for numbers in batches(belonged):
            rows = MigratedRow.objects.filter(pk__in=numbers)
            for table, source_id in rows.values_list("source_table", "source_id"):
                gone[table].add(source_id)
            gone_with = {"outcome": Fate.LEFT_OUT, "reason": ERASED, "receipt_id": receipt_id}
            scrubbed += rows.update(**gone_with, content=None, note="")
    return {"migrated_rows": scrubbed, "migration_checks": _scrub_checks(gone, frozenset(wanted))}


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


def _scrub_checks(gone: Mapping[str, Collection[str]], wanted: Collection[str]) -> int:
    """Take what validations found of these rows out of their reports; of how many. The counts stay."""
    scrubbed = 0
    for row in MigrationCheck.objects.order_by("pk").iterator(chunk_size=1):
        found = [finding for check in row.report["checks"] for finding in check["findings"]]
        quoting = [
            each
            for each in found
            if each["target_id"] in wanted or each["source_id"] in gone.get(each["source_table"], ())
        ]
        for each in quoting:
            each["what"] = _GONE
        if quoting:
            scrubbed += MigrationCheck.objects.filter(pk=row.pk).update(report=row.report)
    return scrubbed
