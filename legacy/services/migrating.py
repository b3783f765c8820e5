"""One run of the migration: every step in its order, a batch a transaction, so that it can end anywhere and go on."""

from __future__ import annotations

import logging
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from uuid import UUID

from governance import gate
from kernel import clock
from kernel.actions import Change
from kernel.context import Actor, Ctx
from kernel.db import interruptible, rolled_back
from legacy.models import MigrationRun
from legacy.selectors.closed import closed_to
from legacy.services.alone import Pulse, open_run, refuse_beside_another, taken_for_broken_off
from legacy.services.batches import batches
from legacy.services.figures import Figures
from legacy.services.joining import JOINED, domains_of, refuse_in_use, refuse_strange
from legacy.services.left_out import left_out
from legacy.services.owning import let_in
from legacy.services.same_source import origins, refuse_another
from legacy.services.storing import migrate_batch
from legacy.source import Source
from legacy.steps import STEPS
from legacy.steps.base import EVENT, Run, Step, show_life

logger = logging.getLogger(__name__)

BATCH = 500


@dataclass(frozen=True, slots=True)
class Options:
    """How a run goes: which steps (empty: all), rows of a batch, whether all is undone at its end, the folder of the older
    system's stored files, whether the source is a restored copy of the one read before, whether the owner is let in to
    every domain where it gets sessions, and which domains of the source are those of the same name here."""

    only: tuple[str, ...] = ()
    batch: int = BATCH
    dry_run: bool = False
    media_root: Path | None = None
    same_source: bool = False
    grant_owner: bool = False
    join_domains: tuple[str, ...] = ()

    def as_json(self) -> dict[str, Any]:
        """As the row of the run keeps them."""
        root = str(self.media_root) if self.media_root else None
        return {"only": list(self.only), "batch": self.batch, "media_root": root, JOINED: list(self.join_domains)}


Progress = Callable[[str, int, int, Figures], None]  # step, rows of it done, rows of it there are, all so far


def steps_named(only: Sequence[str]) -> list[Step]:
    """The steps of these names in their order; all where none is named."""
    return [step for step in STEPS if not only or step.name in only]


def migrate(source: Source, owner: Actor, options: Options, ctx: Ctx, progress: Progress) -> tuple[UUID, Figures]:
    """Move everything that the source holds and this installation does not; the id of the run and what it did.

    A dry run does the same in one transaction that is undone. However it ends, what was stored stays, and the next run
    goes on from there. Raises ConflictError for another source or owner than those of the rows that are here, and for a
    domain that is in use here and is not one to be joined.
    """
    figures = Figures()
    read = origins(source, [table for step in steps_named(options.only) for table in step.tables])
    refuse_another(read, owner, same_source=options.same_source)
    refuse_strange(source, options.join_domains)
    refuse_in_use(domains_of(source, read), options.join_domains)
    row = MigrationRun(source=source.label, origins=read, owner_id=owner.id, options=options.as_json())
    pulse = Pulse(None if options.dry_run else row.id)
    run = Run(row.id, source, owner, ctx, options.media_root, options.dry_run, pulse=pulse)
    whole: AbstractContextManager[None] = rolled_back() if options.dry_run else nullcontext()
    with whole:
        gate.by_itself(EVENT, lambda: _begin(row, dry_run=options.dry_run), ctx)
        state = "interrupted"
        try:
            with interruptible():
                _migrate_steps(run, options, figures, progress)
            state = "finished"
        except KeyboardInterrupt:
            raise
        except Exception:
            state = "failed"
            raise
        finally:
            gate.by_itself(EVENT, lambda: _end(row, state, figures), ctx)
    return row.id, figures


def _begin(row: MigrationRun, *, dry_run: bool) -> list[Change]:
    """Open the run; one that was killed is called interrupted from now on. A dry run says of itself that it is over, so that
    nothing waits for what is undone anyway."""
    if dry_run:
        refuse_beside_another()
        row.state = "finished"
        row.save(force_insert=True)
    else:
        open_run(row)
    return [Change("migration_runs", str(row.id), None, {"source": row.source, "state": row.state})]


def _end(row: MigrationRun, state: str, figures: Figures) -> list[Change]:
    """Write down how the run ended; nothing where it was taken for broken off meanwhile. Raises ConflictError then, unless
    what ends it is an error already."""
    after = {"state": state, "figures": figures.as_json()}
    if not MigrationRun.objects.filter(pk=row.pk, state=row.state).update(**after, finished_at=clock.now()):
        if state == "finished":
            raise taken_for_broken_off()
        return []
    return [Change("migration_runs", str(row.id), {"state": "running"}, {"state": state, "rows": figures.rows})]


def _migrate_steps(run: Run, options: Options, figures: Figures, progress: Progress) -> None:
    _count_left_out(run.source, options, figures)
    for step in steps_named(options.only):
        _migrate_step(step, run, options, figures, progress)
    if options.grant_owner:
        let_in(run.owner, run.ctx)
    figures.closed = [{"domain_id": each.domain_id, "what": each.told} for each in closed_to(run.owner.id)]


def _count_left_out(source: Source, options: Options, figures: Figures) -> None:
    for table, why, many in left_out(source) if not options.only else ():
        figures.count(table, "read", many)
        figures.count(table, "left_out", many)
        figures.left_out[table] = why


def _migrate_step(step: Step, run: Run, options: Options, figures: Figures, progress: Progress) -> None:
    total = sum(run.source.count(table) for table in step.tables)
    done = 0
    progress(step.name, done, total, figures)
    for batch in batches(step.rows(run.source), options.batch):
        migrate_batch(step, batch, run, figures)
        show_life(run)
        done += len(batch)
        figures.rows += len(batch)
        progress(step.name, done, total, figures)
