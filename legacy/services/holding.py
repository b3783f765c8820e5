"""Holding a batch of rows against what is known of them: on this side alone, and against the older database."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence

from django.db.models import Model

from governance.selectors.audit import on_record
from legacy.contracts import Fate, SourceRow
from legacy.contracts.rows import key_of
from legacy.models import MigratedRow
from legacy.selectors.compared import COMPARISONS, Comparison, Held, held
from legacy.selectors.links import MODELS, NO_PLACE, faults_of
from legacy.selectors.targets import gone_with_an_end, name_of, targets
from legacy.services.tally import Tally
from legacy.source import Source
from memory.contracts.items import Status
from memory.models import KnowledgeEvent
from search.contracts import Kind
from search.selectors.upkeep import without_entry

_FOUND_AS = {
    "memory_items": Kind.MEMORY,
    "messages": Kind.MESSAGE,
    "tool_calls": Kind.MESSAGE,
    "refs": Kind.MESSAGE,
    "source_sections": Kind.SECTION,
}


def look_at_targets(table: str, rows: Sequence[MigratedRow], tally: Tally) -> None:
    """Are these rows of a table here, do they belong somewhere, can they be found?"""
    model = MODELS.get(table)
    if model is None:
        return
    origins: dict[str, list[MigratedRow]] = defaultdict(list)
    for row in rows:
        origins[row.target_id].append(row)
    there = targets(model, origins)
    gone = [target for target in origins if target not in there]
    recorded = on_record(table, gone) | gone_with_an_end(table, model, gone)

    def tell(code: str, target: str, what: str) -> None:
        origin = origins[target][0]
        tally.found(code, (origin.source_table, origin.source_id), (table, target), what)

    if model is KnowledgeEvent and tally.removed["memory_items"]:
        recorded.update(gone)  # an event goes with its memory, and only the event itself said with which
    for target in gone:
        tell("removed_here" if target in recorded else "missing", target, "It was moved and is not here.")
        tally.removed[table] += target in recorded
        for row in origins[target]:
            tally.gone(row.source_table)
    for fault in faults_of(table, list(there.values())):
        tell(fault.code, name_of(fault.row), fault.what)
        tally.missing[table] += fault.code == NO_PLACE
    if table in _FOUND_AS:
        findable = [row.pk for row in there.values() if getattr(row, "status", "") != Status.RETRACTED]
        lost = without_entry(model._default_manager.filter(pk__in=findable), _FOUND_AS[table])
        for pk in lost.values_list("pk", flat=True):
            tell("not_indexed", str(pk), "No search finds it: run `rebuild_index --full`.")


def look_at_source_rows(table: str, rows: Sequence[SourceRow], tally: Tally) -> int:
    """Were these rows of the source accounted for, are they those that were read, and are they the same here? How many of
    them are known."""
    keys = {key_of(row.id) for row in rows}
    remembered = MigratedRow.objects.filter(source_table=table, source_id__in=keys).defer("content")
    kept = {row.source_id: row for row in remembered}
    known: list[tuple[SourceRow, MigratedRow]] = []
    for row in rows:
        became = kept.get(key_of(row.id))
        if became is None:
            tally.found("not_accounted", (table, key_of(row.id)), ("", ""), "Nothing is known of it here.")
        elif became.digest != row.digest:
            place = (became.target_table, became.target_id)
            tally.found("source_changed", (table, became.source_id), place, "It is not the row that was read.")
        elif became.outcome == Fate.MIGRATED:
            known.append((row, became))
    if table in COMPARISONS:
        _compare(table, known, tally)
    return len(kept)


def _compare(table: str, known: Sequence[tuple[SourceRow, MigratedRow]], tally: Tally) -> None:
    comparison = COMPARISONS[table]
    there = targets(comparison.model, [became.target_id for _, became in known], comparison.related)
    places = _places(comparison, [row for row, _ in known])
    values = [
        (row, became, held(comparison, row, there[became.target_id], places))
        for row, became in known
        if became.target_id in there
    ]
    differing = [became.target_id for _, became, found in values if not all(each.same for each in found)]
    recorded = on_record(comparison.model._meta.db_table, differing)
    for row, became, found in values:
        other = [each for each in found if not each.same]
        excuse = _excuse({each.column for each in other}, became, there[became.target_id], recorded) if other else ""
        if other:
            what = "; ".join(map(_said, other)) + (f". {became.note}" if became.note else "")
            place = (became.target_table, became.target_id)
            tally.found(excuse or "value_differs", (table, became.source_id), place, what)
        if not excuse:
            tally.compared(table, row.id, [each.there for each in found], [each.here for each in found])


def _excuse(columns: set[str], became: MigratedRow, target: Model, recorded: set[str]) -> str:
    """The check that tells why these columns may differ; empty: they may not."""
    if became.target_id in recorded:
        return "changed_here"
    # A later run brought a newer row of its key: the older one made way, as it would have made way for a commit.
    if columns == {"status"} and getattr(target, "successor_id", None):
        return "adjusted"
    return "adjusted" if COMPARISONS[became.source_table].excused(columns, became.note) else ""


def _places(comparison: Comparison, rows: Sequence[SourceRow]) -> dict[tuple[str, str], str]:
    """Where the rows that these name went, by source table and id."""
    found: dict[tuple[str, str], str] = {}
    for parent in comparison.parents:
        named = {text: key_of(text) for row in rows if (text := row.columns.get(parent.column))}
        went = MigratedRow.objects.filter(source_table=parent.source_table, source_id__in=set(named.values()))
        by_key = dict(went.filter(outcome=Fate.MIGRATED).values_list("source_id", "target_id"))
        found |= {(parent.source_table, text): by_key[key] for text, key in named.items() if key in by_key}
    return found


def key_there(source: Source, table: str) -> tuple[str, ...]:
    """The columns that name a row of a table there, empty where its primary key does."""
    key = COMPARISONS[table].key if table in COMPARISONS else ()
    return key if all(source.has(table, column) for column in key) else ()


def look_for_gone(source: Source, table: str, tally: Tally, batch: int) -> None:
    """Name what was read and is there no more. An id so long that only its digest is remembered cannot be asked for, and
    is not named."""
    after = 0
    rows = MigratedRow.objects.filter(source_table=table).order_by("pk").defer("content")
    while page := list(rows.filter(pk__gt=after)[:batch]):
        after = page[-1].pk
        there = source.among(table, [row.source_id for row in page], key_there(source, table))
        for row in page:
            if row.source_id not in there and not _abridged(row.source_id):
                place = (row.target_table, row.target_id)
                tally.found("gone_from_source", (table, row.source_id), place, "It was read and is there no more.")


def _abridged(source_id: str) -> bool:
    return source_id[-65:-64] == "#"


def _said(value: Held) -> str:
    return f"{value.column}: there {_short(value.there)}, here {_short(value.here)}"


def _short(text: str) -> str:
    return text if len(text) <= 80 else f"{text[:60]}… ({len(text)} characters)"
