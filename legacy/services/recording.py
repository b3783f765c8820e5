"""Keeping what a validation found, so that people read it without making it again."""

from __future__ import annotations

from governance import gate
from kernel.actions import Change
from kernel.context import Ctx
from kernel.rows import insert
from legacy.contracts.validating import MigrationReport
from legacy.models import MigrationCheck

EVENT = "validate_migration"


def keep(report: MigrationReport, ctx: Ctx) -> None:
    """Keep a report, and enter into the audit log that it was made."""

    def write() -> list[Change]:
        row = MigrationCheck(
            source=report.source,
            whole=report.whole,
            report=report.model_dump(mode="json"),
            finished_at=report.finished_at,
        )
        insert([row])
        after = {"source": report.source, "whole": report.whole}
        return [Change("migration_checks", str(row.pk), None, after)]

    gate.by_itself(EVENT, write, ctx)
