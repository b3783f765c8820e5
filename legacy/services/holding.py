"""Holding a batch of rows against what is known of them: on this side alone, and against the older database."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from django.db.models import Model

from legacy.contracts import Fate, SourceRow
from legacy.contracts.rows import key_of
from legacy.models import MigratedRow
from legacy.selectors.compared import COMPARISONS, OWNER, Comparison, Held, held, mark
from legacy.selectors.links import MODELS, NO_PLACE, faults_of
from legacy.selectors.since import CHANGED, ERASED, Since, changes, departures, made_way
from legacy.selectors.targets import name_of, targets
from legacy.services.evidence import evidence_held, same_entities
from legacy.services.scrubbing import ERASED as ERASED_WITH
from legacy.services.stored_bytes import lost_bytes
from legacy.services.tally import Tally
from legacy.source import Source
from memory.contracts.items import Status
from search.contracts import Kind
from search.selectors.upkeep import without_entry

_FOUND_AS = {
    "memory_items": Kind.MEMORY,
    "messages": Kind.MESSAGE,
    "tool_calls": Kind.MESSAGE,
    "refs": Kind.MESSAGE,
    "source_sections": Kind.SECTION,
}
_RECORD = "its record in the quarantine"


class _Told:
    """What is found of rows of one table here, said of the first row of the source that each came from."""

    def __init__(self, table: str, rows: Sequence[MigratedRow], tally: Tally) -> None:
        self.table, self.tally = table, tally
        self.origins: dict[str, list[MigratedRow]] = defaultdict(list)
        for row in rows:
            self.origins[row.target_id].append(row)

    def tell(self, code: str, target: str, what: str) -> None:
        """Count a row that breaks a rule."""
        origin = self.origins[target][0]
        self.tally.found(code, (origin.source_table, origin.source_id), (self.table, target), what)


def look_at_targets(table: str, rows: Sequence[MigratedRow], tally: Tally) -> None:
    """Are these rows of a table here, do they belong somewhere, can they be found?"""
    told, model = _Told(table, rows, tally), MODELS.get(table)
    if model is None:
        for row in rows:
            told.tell("missing", row.target_id, "It is said to be in no table of ours.")
        return
    there = targets(model, told.origins)
    _tell_gone(told, model, {name: each[0] for name, each in told.origins.items() if name not in there})
    _tell_faults(told, list(there.values()))
    if table in _FOUND_AS:
        findable = [row.pk for row in there.values() if getattr(row, "status", "") != Status.RETRACTED]
        lost = without_entry(model._default_manager.filter(pk__in=findable), _FOUND_AS[table])
        for pk in lost.values_list("pk", flat=True):
            told.tell("not_indexed", str(pk), "No search finds it: run `rebuild_index --full`.")
    if table == "media_objects":
        for target, what in lost_bytes(there).items():
            told.tell("bytes_lost", target, what)


def _tell_gone(told: _Told, model: type[Model], gone: Mapping[str, MigratedRow]) -> None:
    """Name the rows that are not here, each with how it went if anything tells of that."""
    since = departures(told.table, model, gone) if gone else {}
    for target in gone:
        how = since.get(target)
        went = f": {how.what}" if how else ", and nothing tells how it went"
        told.tell(how.code if how else "missing", target, f"It was moved and is not here{went}.")
        for row in told.origins[target]:
            told.tally.gone(row.source_table)


def _tell_faults(told: _Told, rows: Sequence[Any]) -> None:
    """Name the rows that do not belong where they are. An entity may outlive the session that it came from."""
    for fault in faults_of(told.table, rows):
        receipt = told.origins[name_of(fault.row)][0].receipt_id
        if fault.code == NO_PLACE and receipt is not None:
            what = f"The session that it came from was erased: receipt {receipt}."
            told.tell(ERASED, name_of(fault.row), what)
        else:
            told.tell(fault.code, name_of(fault.row), fault.what)
            told.tally.missing[told.table] += fault.code == NO_PLACE


def look_at_records(read: dict[str, int], tally: Tally) -> None:
    """Is there a word of every row that runs say they read, table by table?"""
    for table, many in sorted(read.items()):
        kept = tally.remembered(table)
        if kept < many:
            what = f"A run read {many} rows of it, and what became of {kept} is on record."
            tally.found("not_on_record", (table, ""), ("", ""), what)


def look_at_source_rows(table: str, rows: Sequence[SourceRow], source: Source, tally: Tally) -> int:
    """Were these rows of the source accounted for, are they those that were read, and are they the same here? How many of
    them are known."""
    keys = {key_of(row.id) for row in rows}
    remembered = MigratedRow.objects.filter(source_table=table, source_id__in=keys).select_related("run")
    remembered = remembered.defer("content", "run__figures", "run__origins", "run__options")
    kept = {row.source_id: row for row in remembered}
    known: list[tuple[SourceRow, MigratedRow]] = []
    aside: list[tuple[SourceRow, MigratedRow]] = []
    for row in rows:
        became = kept.get(key_of(row.id))
        if became is None:
            tally.found("not_accounted", (table, key_of(row.id)), ("", ""), "Nothing is known of it here.")
        elif became.digest != row.digest:
            place = (became.target_table, became.target_id)
            tally.found("source_changed", (table, became.source_id), place, "It is not the row that was read.")
        elif became.outcome == Fate.MIGRATED:
            known.append((row, became))
        elif became.outcome == Fate.QUARANTINED:
            aside.append((row, became))
        elif became.receipt_id is None and became.reason != ERASED_WITH:
            what = "It is said to be left out, and no rule leaves it out."
            tally.found("not_accounted", (table, became.source_id), ("", ""), what)
    _compare_records(table, aside, tally)
    if table in COMPARISONS and known:
        _compare(table, known, source, tally)
    return len(kept)


def _compare_records(table: str, aside: Sequence[tuple[SourceRow, MigratedRow]], tally: Tally) -> None:
    """Is what the quarantine keeps of rows what they say there? Of some it keeps nothing."""
    kept = MigratedRow.objects.filter(pk__in=[became.pk for _, became in aside]).values_list("pk", "content")
    contents = dict(kept)
    for row, became in aside:
        if contents.get(became.pk) not in (None, row.shown()):
            what = f"{_RECORD}: it is not what the row says"
            tally.found("value_differs", (table, became.source_id), ("", ""), what)


@dataclass(frozen=True, slots=True)
class _Pair:
    """A row on both sides with what was compared, and what explains each column in which they differ."""

    row: SourceRow
    became: MigratedRow
    target: Any
    values: tuple[Held, ...]

    @property
    def differing(self) -> list[Held]:
        """The values that are not the same."""
        return [each for each in self.values if not each.same]


def _compare(table: str, known: Sequence[tuple[SourceRow, MigratedRow]], source: Source, tally: Tally) -> None:
    pairs = _pairs(table, known, source)
    differing = [pair for pair in pairs if pair.differing]
    since = changes(
        COMPARISONS[table].model._meta.db_table, [(pair.became, pair.target, pair.differing) for pair in differing]
    )
    gave_way = made_way([pair.target for pair in differing]) if table == "memory_items" else set()
    for pair in pairs:
        code = ""
        if pair.differing:
            how = dict(since.get(pair.became.pk, {}))
            code = _verdict(pair, how, gave_way=pair.target.pk in gave_way)
            what = "; ".join(map(_said, pair.differing)) + "".join(sorted({f". {each.what}" for each in how.values()}))
            what += f". {pair.became.note}" if pair.became.note else ""
            place = (pair.became.target_table, pair.became.target_id)
            tally.found(code, (table, pair.became.source_id), place, what)
        if code in ("", "value_differs"):
            tally.compared(table, pair.row.id, [v.there for v in pair.values], [v.here for v in pair.values])


def _pairs(table: str, known: Sequence[tuple[SourceRow, MigratedRow]], source: Source) -> list[_Pair]:
    comparison = COMPARISONS[table]
    there = targets(comparison.model, [became.target_id for _, became in known], comparison.fetched)
    places = _places(comparison, [row for row, _ in known])
    found = []
    for row, became in known:
        if became.target_id in there:
            mine = {**places, OWNER: became.run.owner_id}
            values = held(comparison, row, there[became.target_id], mine)
            found.append(_Pair(row, became, there[became.target_id], tuple(values)))
    if table == "memory_items":
        more = evidence_held([(each.row, each.became, each.target) for each in found], source)
        return [_Pair(p.row, p.became, p.target, (*p.values, more[p.row.id])) for p in found]
    if table == "entity_mentions":
        alike = same_entities(
            {p.target.pk: (places.get(("entities", p.row.columns["entity_id"] or "")), p.target) for p in found}
        )
        return [
            _Pair(p.row, p.became, p.target, tuple(_settled(v, p.target.pk in alike) for v in p.values)) for p in found
        ]
    return found


def _settled(value: Held, alike: bool) -> Held:
    """An entity has a row in each session that mentions it: another row of the same name is the same."""
    return Held(value.column, value.here, value.here) if alike and value.column == "entity_id" else value


def _verdict(pair: _Pair, how: dict[str, Since], *, gave_way: bool) -> str:
    """The check that tells why these columns differ; `value_differs` where one of them may not."""
    comparison, became = COMPARISONS[pair.became.source_table], pair.became
    for each in pair.differing:
        if each.column in how:
            continue
        if each.column == "status" and gave_way:  # it made way, as it would have made way for a commit
            how[each.column] = Since("adjusted", "a newer row of its key came later")
        elif comparison.excused(each.column, became.note) and _as_stored(became, each):
            how[each.column] = Since("adjusted", "")
        else:
            return "value_differs"
    codes = {each.code for each in how.values()}
    return next((code for code in (ERASED, CHANGED) if code in codes), "adjusted")


def _as_stored(became: MigratedRow, value: Held) -> bool:
    """Whether a value is the one that was stored. Rows that an earlier version moved have no marks."""
    return became.stored is None or became.stored.get(value.column) == mark(value.here)


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
