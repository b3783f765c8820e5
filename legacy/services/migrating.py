"""One run of the migration: every step in its order, a batch a transaction, so that it can end anywhere and go on."""

from __future__ import annotations

import logging
import resource
import sys
import time
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any
from uuid import UUID

from django.db import DataError, IntegrityError, InterfaceError, OperationalError, transaction

from governance import gate
from kernel import clock
from kernel.actions import Change
from kernel.context import Actor, Ctx
from kernel.db import rolled_back
from kernel.rows import insert
from legacy.contracts import Fate, Outcome, Quarantined, Reason, SourceRow
from legacy.contracts.outcomes import NOTE, kept_aside
from legacy.models import MigratedRow, MigrationRun
from legacy.services.batches import batches
from legacy.services.same_source import origins, refuse_another
from legacy.source import Source
from legacy.steps import LEFT_OUT, STEPS
from legacy.steps.base import Preparing, Run, Step

logger = logging.getLogger(__name__)

EVENT = "migrate_legacy"
BATCH = 500
_STOPS = (OperationalError, InterfaceError, MemoryError)  # no row's fault: the run ends, and the next one goes on


@dataclass(frozen=True, slots=True)
class Options:
    """How a run goes: which steps (empty: all), rows of a batch, whether all is undone at its end, the folder of the older
    system's stored files, and whether the source is a restored copy of the one read before."""

    only: tuple[str, ...] = ()
    batch: int = BATCH
    dry_run: bool = False
    media_root: Path | None = None
    same_source: bool = False

    def as_json(self) -> dict[str, Any]:
        """As the row of the run keeps them."""
        root = str(self.media_root) if self.media_root else None
        return {"only": list(self.only), "batch": self.batch, "media_root": root}


@dataclass(slots=True)
class Figures:
    """What a run did so far. `tables` counts by source table: `read`, `migrated`, `quarantined`, `left_out`, `unchanged`
    (taken by an earlier run) and `changed` (other in the source since an earlier run took it)."""

    tables: dict[str, dict[str, int]] = field(default_factory=dict)
    reasons: dict[str, int] = field(default_factory=dict)
    rows: int = 0
    started: float = field(default_factory=time.monotonic)

    def count(self, table: str, what: str, many: int = 1) -> None:
        """Add to a count of a table."""
        counts = self.tables.setdefault(table, {})
        counts[what] = counts.get(what, 0) + many

    @property
    def seconds(self) -> float:
        """How long the run has taken."""
        return max(time.monotonic() - self.started, 0.001)

    def as_json(self) -> dict[str, Any]:
        """As the row of the run keeps them, and the command shows them. Memory is in bytes."""
        return {
            "tables": self.tables,
            "reasons": self.reasons,
            "rows": self.rows,
            "seconds": round(self.seconds, 1),
            "rows_per_second": round(self.rows / self.seconds),
            "peak_memory": peak_memory(),
        }


Progress = Callable[[str, int, int, Figures], None]  # step, rows of it done, rows of it there are, all so far


def peak_memory() -> int:
    """The most memory that this process has held, in bytes.

    Linux counts it by itself: what the system says of a process that another started includes the memory of that one.
    """
    told = Path("/proc/self/status")
    if told.exists():
        line = next(line for line in told.read_text("utf-8").splitlines() if line.startswith("VmHWM:"))
        return int(line.split()[1]) * 1024
    most = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return most if sys.platform == "darwin" else most * 1024


def steps_named(only: Sequence[str]) -> list[Step]:
    """The steps of these names in their order; all where none is named."""
    return [step for step in STEPS if not only or step.name in only]


def migrate(source: Source, owner: Actor, options: Options, ctx: Ctx, progress: Progress) -> tuple[UUID, Figures]:
    """Move everything that the source holds and this installation does not; the id of the run and what it did.

    A dry run does the same in one transaction that is undone. However it ends, what was stored stays, and the next run
    goes on from there. Raises ConflictError for another source or owner than those of the rows that are here.
    """
    figures = Figures()
    read = origins(source, [table for step in steps_named(options.only) for table in step.tables])
    refuse_another(read, owner, same_source=options.same_source)
    row = MigrationRun(source=source.label, origins=read, owner_id=owner.id, options=options.as_json())
    run = Run(row.id, source, owner, ctx, options.media_root, options.dry_run)
    whole: AbstractContextManager[None] = rolled_back() if options.dry_run else nullcontext()
    with whole:
        gate.by_itself(EVENT, lambda: _begin(row), ctx)
        state = "interrupted"
        try:
            _count_left_out(source, options, figures)
            for step in steps_named(options.only):
                _migrate_step(step, run, options, figures, progress)
            state = "finished"
        except KeyboardInterrupt:
            raise
        except Exception:
            state = "failed"
            raise
        finally:
            gate.by_itself(EVENT, lambda: _end(row, state, figures), ctx)
    return row.id, figures


def _begin(row: MigrationRun) -> list[Change]:
    """Open the run; one that was killed is called interrupted from now on."""
    MigrationRun.objects.filter(state="running").update(state="interrupted", finished_at=clock.now())
    row.save(force_insert=True)
    return [Change("migration_runs", str(row.id), None, {"source": row.source, "state": row.state})]


def _end(row: MigrationRun, state: str, figures: Figures) -> list[Change]:
    after = {"state": state, "figures": figures.as_json()}
    MigrationRun.objects.filter(pk=row.pk).update(**after, finished_at=clock.now())
    return [Change("migration_runs", str(row.id), {"state": "running"}, {"state": state, "rows": figures.rows})]


def _count_left_out(source: Source, options: Options, figures: Figures) -> None:
    for table in LEFT_OUT if not options.only else ():
        many = source.count(table)
        if many:
            figures.count(table, "read", many)
            figures.count(table, "left_out", many)


def _migrate_step(step: Step, run: Run, options: Options, figures: Figures, progress: Progress) -> None:
    total = sum(run.source.count(table) for table in step.tables)
    done = 0
    progress(step.name, done, total, figures)
    for batch in batches(step.rows(run.source), options.batch):
        _migrate_batch(step, batch, run, figures)
        done += len(batch)
        figures.rows += len(batch)
        progress(step.name, done, total, figures)


def _migrate_batch(step: Step, batch: Sequence[SourceRow], run: Run, figures: Figures) -> None:
    """Store the rows of a batch that are new or were in the quarantine, and what became of each, in one transaction."""
    known = _known(batch)
    fresh = []
    for row in batch:
        figures.count(row.table, "read")
        before = known.get((row.table, row.key))
        if before is None or before.outcome == Fate.QUARANTINED:
            fresh.append(row)
        else:
            figures.count(row.table, "unchanged" if before.digest == row.digest else "changed")
    if fresh:
        outcomes: list[Outcome] = []
        if isinstance(step, Preparing):
            run = replace(run, ready=step.prepare(fresh, run))

        def write() -> list[Change]:
            outcomes[:] = _stored(step, fresh, run)
            _remember(outcomes, known, run)
            return _summed(outcomes, run)

        gate.by_itself(EVENT, write, run.ctx)
        for outcome in outcomes:
            figures.count(outcome.row.table, outcome.fate.value)
            if outcome.fate is Fate.QUARANTINED:
                figures.reasons[outcome.reason] = figures.reasons.get(outcome.reason, 0) + 1


_Known = dict[tuple[str, str], MigratedRow]


def _known(batch: Sequence[SourceRow]) -> _Known:
    found: _Known = {}
    for table in {row.table for row in batch}:
        keys = [row.key for row in batch if row.table == table]
        for row in MigratedRow.objects.filter(source_table=table, source_id__in=keys):
            found[table, row.source_id] = row
    return found


def _stored(step: Step, rows: Sequence[SourceRow], run: Run) -> list[Outcome]:
    """Store rows together; where they cannot be, one by one, so that one bad row takes no other with it."""
    try:
        with transaction.atomic():
            return step.store(rows, run)
    except _STOPS:
        raise
    except Exception:
        logger.warning("a batch of %s is stored row by row", step.name, exc_info=True)
        return [_stored_alone(step, row, run) for row in rows]


def _stored_alone(step: Step, row: SourceRow, run: Run) -> Outcome:
    try:
        with transaction.atomic():
            return step.store([row], run)[0]
    except (IntegrityError, DataError) as exc:
        why = str(exc).splitlines()[0][:200]
        return kept_aside(row, Quarantined(Reason.NOT_STORABLE, f"{type(exc).__name__}: {why}"))
    except _STOPS:
        raise
    except Exception as exc:
        logger.exception("%s %s cannot be stored", row.table, row.key)
        return kept_aside(
            row, Quarantined(Reason.NOT_STORABLE, f"{type(exc).__name__}: the log of the run tells more")
        )


def _remember(outcomes: Sequence[Outcome], known: _Known, run: Run) -> None:
    """Keep what became of each row, the columns of those that need them with it."""
    fresh = []
    for outcome in outcomes:
        kept = _as_row(outcome, run)
        before = known.get((kept.source_table, kept.source_id))
        if before is None:
            fresh.append(kept)
        elif (before.outcome, before.digest, before.reason, before.note) != (
            kept.outcome, kept.digest, kept.reason, kept.note,
        ):  # fmt: skip
            kept.pk = before.pk
            kept.save(force_update=True)
    insert(fresh)


def _as_row(outcome: Outcome, run: Run) -> MigratedRow:
    row = outcome.row
    return MigratedRow(
        source_table=row.table,
        source_id=row.key,
        digest=row.digest,
        outcome=outcome.fate.value,
        target_table=outcome.target_table,
        target_id=outcome.target_id,
        reason=outcome.reason,
        note=outcome.note[:NOTE],
        content=row.shown() if _shown(outcome) else None,
        run_id=run.id,
    )


def _shown(outcome: Outcome) -> bool:
    """Whether a row's columns are kept: in the quarantine, and where its note cannot say all that has no other place."""
    return not outcome.bare and (outcome.fate is Fate.QUARANTINED or len(outcome.note) > NOTE)


def _summed(outcomes: Sequence[Outcome], run: Run) -> list[Change]:
    """What the audit log keeps of a batch: how many rows of each table had which fate, and of which source ids."""
    counts: dict[str, dict[str, int]] = {}
    for outcome in outcomes:
        fates = counts.setdefault(outcome.row.table, {})
        fates[outcome.fate.value] = fates.get(outcome.fate.value, 0) + 1
    first, last = outcomes[0].row, outcomes[-1].row
    after = {"rows": counts, "first": f"{first.table}:{first.key}", "last": f"{last.table}:{last.key}"}
    return [Change("migration_runs", str(run.id), None, after, incidental=True)]
