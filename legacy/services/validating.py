"""Holding a migration to its promises: every row accounted for, whole, in its place and unchanged. It only reads."""

from __future__ import annotations

import time
from collections import defaultdict
from collections.abc import Callable

from kernel import clock
from legacy.contracts import Fate
from legacy.contracts.validating import MigrationReport, MissingCounts
from legacy.models import MigratedRow, MigrationRun
from legacy.selectors.closed import closed_to
from legacy.selectors.running import state_of
from legacy.services.batches import batches
from legacy.services.figures import peak_memory
from legacy.services.holding import (
    key_there,
    look_at_records,
    look_at_source_rows,
    look_at_targets,
    look_for_gone,
)
from legacy.services.left_out import left_out
from legacy.services.same_source import taken_from
from legacy.services.tally import Tally
from legacy.source import Source
from legacy.steps import STEPS

BATCH = 500
Progress = Callable[[str, int, int], None]


def validate(source: Source | None, progress: Progress, batch: int = BATCH) -> MigrationReport:
    """Look at every row that was moved and, where the source is given, at every row there.

    `progress` is told the phase (`here`, or a table there), how many rows of it were looked at, and how many there are.
    What is kept in memory does not grow with the rows.
    """
    tally, started, begun = Tally(), clock.now(), time.monotonic()
    _look_here(tally, progress, batch)
    _look_at_owners(tally)
    if source is not None:
        for table in _tables(source):
            _look_there(source, table, tally, progress, batch)
        for table in sorted(taken_from(source) - source.tables.keys()):
            look_for_gone(source, table, tally, batch)
        _count_left_out(source, tally)
        for table in sorted(tally.tables() - source.tables.keys() - taken_from(source)):
            what = f"{tally.remembered(table)} rows of it came from another database: name that with --from too."
            tally.found("other_source", (table, ""), ("", ""), what)
    checks = tally.checks(with_source=source is not None)
    run = MigrationRun.objects.order_by("-pk").first()
    return MigrationReport(
        run_id=run.pk if run else None,
        run_state=state_of(run) if run else "",
        source=source.label if source else "",
        started_at=started,
        finished_at=clock.now(),
        rows_per_second=round(tally.seen / max(time.monotonic() - begun, 0.001), 1),
        memory_peak_bytes=peak_memory(),
        whole=not any(check.fault and check.count for check in checks),
        missing=MissingCounts(**{table: tally.missing[table] for table in MissingCounts.model_fields}),
        tables=tally.figures(),
        checks=checks,
        reasons=tally.reason_counts(),
        not_made=[check.code for check in checks if not check.made],
    )


def _look_here(tally: Tally, progress: Progress, batch: int) -> None:
    """Every remembered row: is it here, does it belong somewhere, can it be found?"""
    total, after = MigratedRow.objects.count(), 0
    while rows := list(MigratedRow.objects.filter(pk__gt=after).defer("content").order_by("pk")[:batch]):
        after = rows[-1].pk
        tally.seen += len(rows)
        moved: dict[str, list[MigratedRow]] = defaultdict(list)
        for row in rows:
            here = row.outcome == Fate.MIGRATED
            tally.accounted(
                row.source_table, row.outcome, row.target_table, reason=row.reason, adjusted=here and bool(row.note)
            )
            if here:
                moved[row.target_table].append(row)
        for table, each in moved.items():
            look_at_targets(table, each, tally)
        progress("here", tally.seen, total)
    look_at_records(_read_by_runs(), tally)


def _read_by_runs() -> dict[str, int]:
    """The most rows that a finished run says it read, of each table of which rows are remembered one by one."""
    most: dict[str, int] = {}
    taken = {table for step in STEPS for table in step.tables}
    for figures in MigrationRun.objects.filter(state="finished").values_list("figures", flat=True):
        for table, counts in figures.get("tables", {}).items():
            if table in taken:
                most[table] = max(most.get(table, 0), counts.get("read", 0))
    return most


def _look_at_owners(tally: Tally) -> None:
    """Can they whose the sessions became reach them, wherever these lie?"""
    for owner_id in sorted(set(MigrationRun.objects.order_by().values_list("owner_id", flat=True)) - {""}):
        for closed in closed_to(owner_id):
            tally.found("closed_to_owner", ("", ""), ("domains", closed.domain_id), closed.told)


def _count_left_out(source: Source, tally: Tally) -> None:
    """What is left out is counted by table, and nothing is remembered of its rows."""
    for table, reason, count in left_out(source):
        tally.left_out(table, reason, count)


def _tables(source: Source) -> list[str]:
    """The tables of the source of which rows were taken or might have been."""
    remembered = set(MigratedRow.objects.order_by().values_list("source_table", flat=True).distinct())
    taken = {table for step in STEPS for table in step.tables}
    return sorted((remembered | taken) & source.tables.keys())


def _look_there(source: Source, table: str, tally: Tally, progress: Progress, batch: int) -> None:
    total, done, matched = source.count(table), 0, 0
    for rows in batches(source.rows(table, key=key_there(source, table)), batch):
        matched += look_at_source_rows(table, rows, source, tally)
        done += len(rows)
        tally.seen += len(rows)
        progress(table, done, total)
    tally.in_source[table] = done
    if tally.remembered(table) > matched:
        look_for_gone(source, table, tally, batch)
