"""What a step of the migration is: which tables of the source it takes, in which order their rows come, and how a batch of
them is stored here."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any, Protocol, TypeVar, runtime_checkable
from uuid import UUID

from django.db.models import Model

from governance import gate
from kernel.actions import Change
from kernel.canonical import canonical_json
from kernel.context import Actor, Ctx
from kernel.rows import batches, insert
from legacy.contracts import Fate, Outcome, Quarantined, Reason, SourceRow
from legacy.contracts.outcomes import kept_aside
from legacy.contracts.reasons import TakenAway
from legacy.contracts.rows import key_of
from legacy.models import MigratedRow
from legacy.source import Source

EVENT = "migrate_legacy"  # under which the audit log keeps what a run does
T = TypeVar("T")
K = TypeVar("K")
SOME = 5_000  # values in a statement: no database takes any number of them


@dataclass(frozen=True, slots=True)
class Run:
    """A run under way: the snapshot it reads, whose the sessions of no domain become, and the call in whose name it
    writes. `media_root` is the folder of the older system's stored files; None where it was not given. In a `dry_run` no
    bytes are stored. `ready` is what the step itself prepared of the batch at hand.

    `again` is what is remembered of the one row of the batch where that was moved in before and has changed in the source
    since: the row that it became is brought in line with it. `pulse` shows that the run goes on.
    """

    id: UUID
    source: Source
    owner: Actor
    ctx: Ctx
    media_root: Path | None = None
    dry_run: bool = False
    ready: Any = None
    again: MigratedRow | None = None
    pulse: Pulse | None = None

    @property
    def became(self) -> UUID:
        """The id of the row here that the row taken again became."""
        if self.again is None:
            raise LookupError("no row is taken again")
        return UUID(self.again.target_id)

    def told_before(self, words: str) -> bool:
        """Whether the row of the batch is taken again, and its note had these words."""
        return self.again is not None and words in self.again.note


class Pulse(Protocol):
    """How a run shows that it goes on."""

    def due(self) -> bool:
        """Whether it is time to."""

    def beat(self) -> None:
        """Show it, in a transaction. Raises ConflictError where the run was taken for broken off."""


class Step(Protocol):
    """One noun of the older system. Steps come in an order in which whatever a row belongs to came before it.

    `name` is what `--only` takes. `tables` are the source tables whose every row it gives an outcome.
    """

    name: str
    tables: tuple[str, ...]

    def rows(self, source: Source) -> Iterator[SourceRow]:
        """Every row of its tables, in the order of storing."""

    def store(self, rows: Sequence[SourceRow], run: Run) -> list[Outcome]:
        """Store a batch inside the gate's transaction; one outcome for each row. A row that was in the quarantine comes
        again in every run. What the database refuses may be raised: the batch then comes again row by row. Where
        `run.again` is set the batch is that one row: what it became is changed, or Quarantined raised."""


@runtime_checkable
class Preparing(Protocol):
    """A step that does something long before the transaction of a batch, such as storing bytes."""

    def prepare(self, rows: Sequence[SourceRow], run: Run) -> Any:
        """What `store` finds in `run.ready`. No transaction is open, but in a dry run, which undoes all rows."""


def beat(run: Run) -> list[Change]:
    """Show in a transaction that the run goes on: one that was taken for broken off stores nothing more."""
    if run.pulse is not None:
        run.pulse.beat()
    return []


def show_life(run: Run) -> None:
    """Show that the run goes on, where it did not lately, while no transaction is open."""
    if run.pulse is not None and run.pulse.due():
        gate.by_itself(EVENT, lambda: beat(run), run.ctx)


def each(rows: Iterable[SourceRow], take: Callable[[SourceRow], Outcome]) -> list[Outcome]:
    """The outcome of each row; one that cannot be taken goes to the quarantine."""
    return [_taken(row, take) for row in rows]


def _taken(row: SourceRow, take: Callable[[SourceRow], Outcome]) -> Outcome:
    try:
        return take(row)
    except Quarantined as why:
        return kept_aside(row, why)


@dataclass(frozen=True, slots=True)
class Parents:
    """The rows of one table to which those of a batch belong: where each went, by its source id."""

    table: str
    moved: dict[str, str]
    aside: frozenset[str]

    def target(self, source_id: str) -> UUID:
        """The id here of the row there. Raises Quarantined where it is not in the source, or in the quarantine."""
        found = self.moved.get(key_of(source_id))
        if found is not None:
            return UUID(found)
        if key_of(source_id) in self.aside:
            raise Quarantined(Reason.PARENT_QUARANTINED, f"{self.table} {source_id[:80]}")
        raise Quarantined(Reason.ORPHAN, f"no row {source_id[:80]!r} in {self.table}")

    def maybe(self, source_id: str | None) -> UUID | None:
        """The id here, None where the row did not come along."""
        found = self.moved.get(key_of(source_id)) if source_id is not None else None
        return UUID(found) if found is not None else None


def here(found: Mapping[K, T], target: K, what: str) -> T:
    """The row here that a row there became, named for people by `what`. Raises Quarantined where it was taken away."""
    try:
        return found[target]
    except KeyError:
        raise TakenAway(what) from None


def parents(table: str, source_ids: Iterable[str | None]) -> Parents:
    """Where these rows of a source table went."""
    wanted = {key_of(source_id) for source_id in source_ids if source_id is not None}
    moved, aside = {}, set()
    for some in batches(wanted, SOME):
        rows = MigratedRow.objects.filter(source_table=table, source_id__in=some)
        for source_id, outcome, target_id in rows.values_list("source_id", "outcome", "target_id"):
            if outcome == Fate.MIGRATED:
                moved[source_id] = target_id
            else:
                aside.add(source_id)
    return Parents(table, moved, frozenset(aside))


def put(rows: Sequence[Model], run: Run, fields: Sequence[str], fixed: Sequence[str] = ()) -> None:
    """Insert rows, or give the row here that is taken again the values of `fields`; a time that the source does not say
    stays what it was. Raises Quarantined where one of `fixed`, which say whose it is and where it lies, is other than here.
    """
    if run.again is None:
        insert(rows)
        return
    for row in rows:
        there = type(row)._default_manager.get(pk=row.pk)
        stay(row, there, fixed)
        for name in fields:
            if getattr(row, name) == run.ctx.now:
                setattr(row, name, getattr(there, name))
        row._state.adding = False  # noqa: SLF001  Django documents it
        row.save(force_update=True, update_fields=fields)


def take_over(there: Any, metadata: dict[str, Any], created_at: datetime | None) -> tuple[str, tuple[Change, ...]]:
    """Give a row that was here before the run the metadata of its row in the source, and since when it is there, and the
    change of it; unless it has metadata of its own here: then a note of what the source says."""
    if there.metadata not in ({}, metadata):
        return f"there: {canonical_json(metadata)}" if metadata else "", ()
    was = there.metadata, there.created_at
    there.metadata, there.created_at = metadata, created_at or there.created_at
    if (there.metadata, there.created_at) == was:
        return "", ()
    there.save(force_update=True, update_fields=("metadata", "created_at"))
    # The log outlives what it tells of, so it repeats no words of it.
    after = {"created_at": there.created_at.isoformat(), "metadata": "of its row in the source"}
    before = {"created_at": was[1].isoformat()}
    return "", (Change(there._meta.db_table, str(there.id), before, after, incidental=True),)


def stay(row: Model, there: Model, fixed: Sequence[str]) -> None:
    """Raise Quarantined where a row of the source would be elsewhere than the row here that it became."""
    other = [name for name in fixed if getattr(row, name) != getattr(there, name)]
    if other:
        raise Quarantined(Reason.MOVED_THERE, f"{', '.join(other)}: other than when it was moved in")


def own(run: Run, *words: str) -> None:
    """Raise Quarantined for a row taken again of which was said, in one of these words, that it became another's row."""
    if any(run.told_before(each) for each in words):
        raise Quarantined(Reason.SHARED_ROW, run.again.note[:200] if run.again else "")


def free_ids(model: type[Model], rows: Sequence[SourceRow], run: Run, column: str = "pk") -> dict[str, UUID]:
    """The id that each row gets here, by its source id: its own where that is a UUID and nobody has it here; the one that
    it has where it is taken again."""
    if run.again is not None:
        return {row.id: UUID(run.again.target_id) for row in rows if row.table == run.again.source_table}
    wanted = {row.id: row.target_id() for row in rows}
    found = model._default_manager.filter(**{f"{column}__in": list(wanted.values())})
    taken = set(found.values_list(column, flat=True))
    return {row.id: row.target_id(part="again") if wanted[row.id] in taken else wanted[row.id] for row in rows}


def outer_id(row: SourceRow, target: UUID) -> str | None:
    """The id by which callers know a row: its older one, where the id here is not just that."""
    if str(target) == row.id:
        return None
    return row.id if row.key == row.id and row.id.strip() else None


def told_beside(row: SourceRow, known: frozenset[str]) -> str:
    """What the columns say for which there is no place here, as a note."""
    beside = row.beside(known)
    return f"further columns: {canonical_json(beside)}" if beside else ""
