"""One batch of rows of the source: those that are new are stored, those that changed are followed, and of each is kept what
became of it, in one transaction."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from dataclasses import replace

from django.db import DataError, IntegrityError, InterfaceError, OperationalError, transaction

from governance import gate
from kernel.actions import Change
from kernel.rows import insert
from legacy.contracts import Fate, Outcome, Quarantined, Reason, SourceRow
from legacy.contracts.outcomes import NOTE, kept_aside
from legacy.models import MigratedRow
from legacy.services.changed import Pair, follow, standing
from legacy.services.figures import Figures
from legacy.services.marking import beside_of
from legacy.steps.base import EVENT, Preparing, Run, Step, beat

logger = logging.getLogger(__name__)

_STOPS = (OperationalError, InterfaceError, MemoryError)  # no row's fault: the run ends, and the next one goes on
_REPEATED = Quarantined(Reason.DUPLICATE, "the source holds its id more than once: the first row of them was taken")
_Known = dict[tuple[str, str], MigratedRow]


def migrate_batch(step: Step, batch: Sequence[SourceRow], run: Run, figures: Figures) -> None:
    """Store the rows of a batch that are new or were in the quarantine, and what became of each, in one transaction."""
    known = _known(batch)
    fresh, changed, same_again = _sorted(batch, known, figures)
    again = [kept_aside(row, _REPEATED) for row in fresh if row.repeat > 1]
    fresh = [row for row in fresh if row.repeat == 1]
    if fresh or again:
        outcomes: list[Outcome] = []
        if fresh and isinstance(step, Preparing):
            run = replace(run, ready=step.prepare(fresh, run))

        def write() -> list[Change]:
            beat(run)
            outcomes[:] = [*(_stored(step, fresh, run) if fresh else []), *again]
            _remember(outcomes, known, run)
            return [*_summed(outcomes, run), *(change for outcome in outcomes for change in outcome.told)]

        gate.by_itself(EVENT, write, run.ctx)
        for outcome in outcomes:
            figures.count(outcome.row.table, outcome.fate.value)
            if outcome.fate is Fate.QUARANTINED:
                figures.aside(outcome.reason, outcome.note)

    if changed:
        _follow_batch(step, changed, run, figures)
    if same_again:
        gate.by_itself(EVENT, lambda: _settle(same_again, run), run.ctx)


def _sorted(
    batch: Sequence[SourceRow], known: _Known, figures: Figures
) -> tuple[list[SourceRow], list[Pair], list[MigratedRow]]:
    """The rows to be stored, those that changed since they were, and those that did, stayed as they are here, and are again
    what was read."""
    fresh: list[SourceRow] = []
    changed: list[Pair] = []
    same_again: list[MigratedRow] = []
    for row in batch:
        figures.count(row.table, "read")
        before = known.get((row.table, row.key))
        if before is None or before.outcome == Fate.QUARANTINED:
            fresh.append(row)
        elif before.digest == row.digest:
            figures.count(row.table, "unchanged")
            if before.outcome == Fate.MIGRATED and before.reason:
                same_again.append(before)
        elif before.outcome == Fate.LEFT_OUT:
            figures.keep(row, before.reason, "")
        else:
            changed.append((row, before))
    return fresh, changed, same_again


def _settle(rows: Sequence[MigratedRow], run: Run) -> list[Change]:
    """Forget why rows stayed as they are here: their rows in the source are again those that were read."""
    beat(run)
    MigratedRow.objects.filter(pk__in=[row.pk for row in rows]).update(reason="")
    return [_stays(row, "") for row in rows]


def _stays(row: MigratedRow, reason: str) -> Change:
    """That there is another reason by now why a row stays as it is here, or none any more."""
    return Change("migrated_rows", str(row.pk), {"reason": row.reason}, {"reason": reason}, incidental=True)


def _follow_batch(step: Step, pairs: Sequence[Pair], run: Run, figures: Figures) -> None:
    """Let what changed rows became follow them where it may, in one transaction; what has to stay is told of."""
    kept = standing(pairs)
    followed: list[Outcome] = []

    def write() -> list[Change]:
        told = []
        beat(run)
        for row, before in pairs:
            try:
                if before.pk in kept:
                    raise kept[before.pk]
                outcome = _followed(step, row, before, run)
            except Quarantined as why:
                kept[before.pk] = why
                if before.reason != why.reason.value:
                    MigratedRow.objects.filter(pk=before.pk).update(reason=why.reason.value)
                    told.append(_stays(before, why.reason.value))
                continue
            followed.append(outcome)
        _remember(followed, {(before.source_table, before.source_id): before for _, before in pairs}, run)
        return [*(_summed(followed, run, "changed") if followed else []), *told]

    gate.by_itself(EVENT, write, run.ctx)
    for row, before in pairs:
        if before.pk in kept:
            figures.keep(row, kept[before.pk].reason.value, kept[before.pk].note)
        else:
            figures.count(row.table, "changed")


def _followed(step: Step, row: SourceRow, before: MigratedRow, run: Run) -> Outcome:
    try:
        return follow(step, row, before, run)
    except Quarantined:
        raise
    except (IntegrityError, DataError) as exc:
        raise _refused(exc) from exc
    except _STOPS:
        raise
    except Exception as exc:
        logger.exception("%s %s cannot follow the source", row.table, row.key)
        raise _failed(exc) from exc


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
        return kept_aside(row, _refused(exc))
    except _STOPS:
        raise
    except Exception as exc:
        logger.exception("%s %s cannot be stored", row.table, row.key)
        return kept_aside(row, _failed(exc))


def _refused(exc: Exception) -> Quarantined:
    """What the database said of a row."""
    return Quarantined(Reason.NOT_STORABLE, f"{type(exc).__name__}: {str(exc).splitlines()[0][:200]}")


def _failed(exc: Exception) -> Quarantined:
    """What nobody foresaw of a row; the log has it whole."""
    return Quarantined(Reason.NOT_STORABLE, f"{type(exc).__name__}: the log of the run tells more")


def _remember(outcomes: Sequence[Outcome], known: _Known, run: Run) -> None:
    """Keep what became of each row, the columns of those that need them with it."""
    fresh, beside = [], beside_of(outcomes, run.owner.id)
    for outcome in outcomes:
        kept = _as_row(outcome, run)
        kept.stored, kept.part_of = beside[kept.source_table, kept.source_id]
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


def _summed(outcomes: Sequence[Outcome], run: Run, how: str = "") -> list[Change]:
    """What the audit log keeps of a batch: how many rows of each table had which fate (or were taken again, in the word
    `how`), and of which source ids."""
    counts: dict[str, dict[str, int]] = {}
    for outcome in outcomes:
        fates = counts.setdefault(outcome.row.table, {})
        fate = how or outcome.fate.value
        fates[fate] = fates.get(fate, 0) + 1
    first, last = outcomes[0].row, outcomes[-1].row
    after = {"rows": counts, "first": f"{first.table}:{first.key}", "last": f"{last.table}:{last.key}"}
    return [Change("migration_runs", str(run.id), None, after, incidental=True)]
