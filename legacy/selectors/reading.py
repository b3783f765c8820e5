"""Runs of the migration, its last validation, and what became of single rows."""

from __future__ import annotations

from collections.abc import Iterable

from kernel.paging import page
from legacy.contracts import REASONS, Fate
from legacy.contracts.reading import (
    GetMigrationResult,
    ListMigratedRowsInput,
    ListMigratedRowsResult,
    MigratedRowView,
    RunView,
)
from legacy.contracts.validating import MigrationReport
from legacy.models import MigratedRow, MigrationCheck, MigrationRun
from legacy.selectors.running import state_of
from scopes.models import Principal

_RUNS = 10


def migration() -> GetMigrationResult:
    """The last runs and the last validation; one that had the older database counts before one that had not."""
    check = MigrationCheck.objects.order_by("-pk").exclude(source="").first() or MigrationCheck.objects.first()
    return GetMigrationResult(
        runs=_runs(),
        report=MigrationReport.model_validate(check.report) if check else None,
        reasons={reason.value: meaning for reason, meaning in REASONS.items()},
    )


def _runs() -> list[RunView]:
    rows = list(MigrationRun.objects.order_by("-pk")[:_RUNS])
    names = owner_names(rows)
    return [_run(row, names.get(row.owner_id, "")) for row in rows]


def owner_names(runs: Iterable[MigrationRun]) -> dict[str, str]:
    """What those are called whose the sessions of these runs became, by their id."""
    ids = {row.owner_id for row in runs} - {""}
    return {str(pk): name for pk, name in Principal.objects.filter(pk__in=ids).values_list("pk", "name")}


def _run(row: MigrationRun, owner: str) -> RunView:
    return RunView(
        id=row.pk,
        source=row.source,
        owner=owner,
        state=state_of(row),
        started_at=row.started_at,
        finished_at=row.finished_at,
        figures=row.figures,
    )


def migrated_rows(given: ListMigratedRowsInput) -> ListMigratedRowsResult:
    """One page of what became of single rows."""
    wanted = {
        name: value
        for name in ("outcome", "source_table", "source_id", "reason")
        if (value := getattr(given, name)) is not None
    }
    found = MigratedRow.objects.filter(**wanted)
    if given.noted is not None:
        found = found.exclude(note="") if given.noted else found.filter(note="")
    rows, cursor = page(found, given, "id", int)
    return ListMigratedRowsResult(rows=[_row(row) for row in rows], next_cursor=cursor)


def _row(row: MigratedRow) -> MigratedRowView:
    return MigratedRowView(
        source_table=row.source_table,
        source_id=row.source_id,
        outcome=Fate(row.outcome),
        target_table=row.target_table,
        target_id=row.target_id,
        reason=row.reason,
        note=row.note,
        content=row.content,
        run_id=row.run_id,
    )
