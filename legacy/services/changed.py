"""Rows of the source that changed since they were moved in: what they became follows, where nobody here touched it."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace

from django.db import transaction

from governance.selectors.audit import on_record
from legacy.contracts import Fate, Outcome, Quarantined, Reason, SourceRow
from legacy.models import MigratedRow
from legacy.selectors.links import MODELS
from legacy.selectors.targets import targets
from legacy.steps.base import EVENT, Run, Step
from media.models import MediaObject, SourceSection

Pair = tuple[SourceRow, MigratedRow]


def standing(pairs: Sequence[Pair]) -> dict[int, Quarantined]:
    """Of rows moved in before, by the number of what is remembered of each, why what it became has to stay as it is."""
    by_table: dict[str, list[MigratedRow]] = defaultdict(list)
    found: dict[int, Quarantined] = {}
    for _, before in pairs:
        by_table[before.target_table].append(before)
    for table, rows in by_table.items():
        names = {row.target_id for row in rows}
        there = targets(MODELS[table], names)
        touched = _touched(table, there)
        shared = _shared(table, names)
        for row in rows:
            why = _why(row.target_id, there, touched, shared)
            if why is not None:
                found[row.pk] = why
    return found


def _why(
    name: str, there: Mapping[str, object], touched: Collection[str], shared: Collection[str]
) -> Quarantined | None:
    if name not in there:
        return Quarantined(Reason.TAKEN_AWAY)
    if name in touched:
        return Quarantined(Reason.TOUCHED_HERE, "the audit log tells of it")
    if name in shared:
        return Quarantined(Reason.SHARED_ROW, "other rows of the source became it too")
    return None


def _touched(table: str, there: Mapping[str, object]) -> set[str]:
    """The rows that some call changed since, other than by moving in. Of sections the log tells by their document; bytes
    never change, and what it tells of them is how they came."""
    if table == MediaObject._meta.db_table:
        return set()
    owners = {name: str(row.document_id) for name, row in there.items() if isinstance(row, SourceSection)}
    told = on_record(table, [*there, *set(owners.values())], but=EVENT)
    return told | {name for name, owner in owners.items() if owner in told}


def _shared(table: str, names: Collection[str]) -> set[str]:
    """The rows here that several rows of the source became."""
    rows = MigratedRow.objects.filter(target_table=table, target_id__in=names).values_list("target_id", flat=True)
    return {name for name, many in Counter(rows).items() if many > 1}


def follow(step: Step, row: SourceRow, before: MigratedRow, run: Run) -> Outcome:
    """Bring what a row became in line with it. Raises Quarantined where it has to stay as it is."""
    with transaction.atomic():
        outcome = step.store([row], replace(run, again=before, ready={}))[0]
        if outcome.fate is not Fate.MIGRATED:
            raise Quarantined(Reason(outcome.reason), outcome.note)
        # Looked at again once the row here is locked: whoever changes it from now on waits for this.
        why = standing([(row, before)]).get(before.pk)
        if why is not None:
            raise why
        return outcome
