"""A validation report as text for a terminal."""

from __future__ import annotations

from collections.abc import Iterator

from kernel.text import show_invisible
from legacy.contracts.validating import Check, MigrationReport, TableFigures

_SHOWN = 10
UNFINISHED = {
    "running": "The last run goes on at this moment.",
    "failed": "The last run failed.",
    "interrupted": "The last run was broken off.",
}


def as_text(report: MigrationReport) -> str:
    """The report, the verdict at its end."""
    return "\n".join(_lines(report))


def _lines(report: MigrationReport) -> Iterator[str]:
    where = f"against {report.source}" if report.source else "on this side alone"
    yield f"Migration validated {where}, {report.finished_at:%Y-%m-%d %H:%M:%S} UTC."
    if report.run_state not in ("", "finished"):
        yield f"{UNFINISHED[report.run_state]} Not every row may have been looked at: run migrate_legacy to its end."
    yield ""
    yield "Without scope or source session (each must be 0):"
    for name, count in report.missing.model_dump().items():
        yield f"  {name:13} {count}"
    yield ""
    yield f"{'table':26}{'there':>9}{'moved':>9}{'adjusted':>9}{'aside':>9}{'left out':>9}  values"
    for table in report.tables:
        yield _table(table)
    if report.reasons:
        yield ""
        yield "Not moved as they were:"
        for reason in report.reasons:
            yield f"  {reason.count:>8}  {reason.source_table} {reason.outcome} {reason.reason}"
    yield ""
    for check in report.checks:
        yield from _check(check)
    yield ""
    mib = report.memory_peak_bytes / 2**20
    yield f"{report.rows_per_second:,.0f} rows a second, at most {mib:,.0f} MiB of memory."
    if report.not_made:
        yield f"Not made without --from: {', '.join(report.not_made)}."
    faults = sum(check.count for check in report.checks if check.fault)
    if not report.tables:
        yield "Nothing was moved in yet, so there was nothing to hold against anything."
    else:
        yield "Whole: every check that was made holds." if report.whole else f"WRONG: {faults} faults."


def _table(table: TableFigures) -> str:
    there = "?" if table.in_source is None else str(table.in_source)
    values = "not compared"
    if table.source_digest is not None and table.target_digest is not None:
        same = table.source_digest == table.target_digest
        values = (
            f"{table.compared} {'equal' if same else 'DIFFER'} {table.source_digest[:12]} {table.target_digest[:12]}"
        )
    counts = (there, table.migrated, table.adjusted, table.quarantined, table.left_out)
    return f"{table.source_table:26}{''.join(f'{count:>9}' for count in counts)}  {values}"


def _check(check: Check) -> Iterator[str]:
    if not check.made:
        yield f"[ – ] {check.code}: {check.title}"
        return
    mark = "[ ok ]" if not check.count else "[WRONG]" if check.fault else "[ told ]"
    yield f"{mark} {check.code}: {check.title}{f' {check.count}' if check.count else ''}"
    for finding in check.findings[:_SHOWN]:
        names = [(finding.source_table, finding.source_id), (finding.target_table, finding.target_id)]
        place = " → ".join(f"{table} {row}" for table, row in names if table)
        yield show_invisible(f"    {place}: {finding.what}")
    if check.count > _SHOWN:
        yield f"    and {check.count - min(_SHOWN, len(check.findings))} more"
