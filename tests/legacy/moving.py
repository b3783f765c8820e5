"""Rows that were moved in, made by hand where how they came is not the point."""

from __future__ import annotations

from legacy.models import MigratedRow, MigrationRun
from tests.guards.write_guard import unguarded


def came(table: str, pk: object, source_id: str = "", *, source_table: str = "", **fields: object) -> MigratedRow:
    """Say of a row here that it came from the older system."""
    with unguarded():
        run = MigrationRun.objects.first() or MigrationRun.objects.create(source="older:5432/brain", state="finished")
        return MigratedRow.objects.create(
            source_table=source_table or table,
            source_id=source_id or str(pk),
            digest="0" * 64,
            outcome="migrated",
            target_table=table,
            target_id=str(pk),
            run=run,
            **fields,
        )


def aside(source_table: str, source_id: str, reason: str, **fields: object) -> MigratedRow:
    """Say of a row of the older system that it is in the quarantine."""
    with unguarded():
        run = MigrationRun.objects.first() or MigrationRun.objects.create(source="older:5432/brain", state="finished")
        return MigratedRow.objects.create(
            source_table=source_table,
            source_id=source_id,
            digest="0" * 64,
            outcome="quarantined",
            reason=reason,
            run=run,
            **fields,
        )
