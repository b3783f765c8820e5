"""What it is to hold a row of the older system against the row that it became: which columns, how they are read, and which
note explains a difference."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from django.db.models import Model

from kernel.canonical import canonical_json
from legacy.contracts import Quarantined, SourceRow

Reader = Callable[[SourceRow], Any]
Seen = Callable[[Any, SourceRow], Any]
Only = Callable[[SourceRow], bool]
Places = Mapping[tuple[str, str], str]
"""Where rows of the source went, by their table and id; under `OWNER` whose what nobody owned there became."""

OWNER = ("", "owner")


def every(row: SourceRow) -> bool:
    """It holds of each row."""
    return True


@dataclass(frozen=True, slots=True)
class Value:
    """A column there and an attribute here that say the same.

    Where the older row leaves the column open it is not compared, unless `empty`: then nothing, or an empty text, must
    stand here too. `seen` says what stands here where that is not the attribute as it is. `label` is what the value is
    called where more than one is read from its column.
    """

    column: str
    attribute: str
    read: Reader
    part: bool = False  # the object there is a part of the object here, where more may stand
    only: Only = every  # the rows of which it holds
    empty: bool = False
    seen: Seen | None = None
    label: str = ""

    @property
    def name(self) -> str:
        """What it is called in a finding, and in the list of excuses."""
        return self.label or self.column


@dataclass(frozen=True, slots=True)
class Parent:
    """A column there that names another row, and the attribute here that names what became of it: `scope.id` is the id of
    the row that `scope` is. Where the column is NULL and `empty`, no row may be named here."""

    column: str
    attribute: str
    source_table: str
    target_table: str
    only: Only = every
    empty: bool = False


@dataclass(frozen=True, slots=True)
class Comparison:
    """How rows of one source table are held against rows of one table here.

    `excuses` gives of a column the words of a note that explain a difference in it, and no other column's. `key` are the
    columns that name a row there, where they are not its `id`. `placed` says that a row lies in a scope and comes from a
    session: what names no scope lies in that of its session. `owner` is the attribute here that names whose it became,
    where the older system had no owner for it. `related` are rows here that are looked at too.
    """

    model: type[Model]
    values: tuple[Value, ...]
    parents: tuple[Parent, ...] = ()
    excuses: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    key: tuple[str, ...] = ()
    placed: bool = False
    owner: str = ""
    related: tuple[str, ...] = ()

    @property
    def fetched(self) -> list[str]:
        """The rows here that are fetched with those that are compared."""
        named = [name for parent in self.parents if (name := parent.attribute.partition(".")[0]) != parent.attribute]
        owning = [self.owner.rpartition(".")[0]] if "." in self.owner else []
        mine = ["source_session"] if self.placed else []
        return [*dict.fromkeys([*named, *mine, *(name.replace(".", "__") for name in owning), *self.related])]

    def excused(self, column: str, note: str) -> bool:
        """Whether a note tells why this column differs."""
        return any(words in note for words in self.excuses.get(column, ()))


@dataclass(frozen=True, slots=True)
class Held:
    """One value on both sides, as canonical JSON."""

    column: str
    there: str
    here: str

    @property
    def same(self) -> bool:
        """Whether both sides say it alike."""
        return self.there == self.here


def text(column: str, attribute: str = "", *, empty: bool = False, only: Only = every) -> Value:
    """A text column."""
    return Value(column, attribute or column, lambda row: row.optional(column), empty=empty, only=only)


def moment(column: str, attribute: str = "", *, empty: bool = False, only: Only = every) -> Value:
    """A moment."""
    return Value(column, attribute or column, lambda row: row.moment(column), empty=empty, only=only)


def number(column: str, attribute: str = "") -> Value:
    """A number."""
    return Value(column, attribute or column, lambda row: row.number(column))


def exactly(column: str, attribute: str) -> Value:
    """A JSON value."""
    return Value(column, attribute, lambda row: row.json(column), empty=True)


def within(column: str, attribute: str) -> Value:
    """A JSON object to which more may have been added here."""
    return Value(column, attribute, lambda row: row.json(column), part=True)


def named(column: str) -> Only:
    """Rows that say anything in the column."""
    return lambda row: bool(row.columns.get(column))


def other_than(column: str, *words: str) -> Only:
    """Rows that say something else than these words in the column."""
    return lambda row: row.columns.get(column) not in (None, "", *words)


def without(column: str, other: str) -> Only:
    """Rows that say something in the column, and nothing in the other."""
    return lambda row: bool(row.columns.get(column)) and not row.columns.get(other)


def held(comparison: Comparison, row: SourceRow, target: Model, places: Places) -> list[Held]:
    """The values of a row that both sides hold. `places` gives, by source table and id, where a row went."""
    found = [_value(value, row, target) for value in comparison.values if _asked(value, row)]
    for parent in comparison.parents:
        if _asked(parent, row):
            went = places.get((parent.source_table, row.columns[parent.column] or ""))
            found.append(Held(parent.column, plain(went), plain(at(target, parent.attribute))))
    if comparison.placed and not row.columns.get("scope_id"):
        its_own = at(target, "source_session.scope_id")
        found.append(Held("scope_id", plain(its_own), plain(at(target, "scope_id"))))
    if comparison.owner and places.get(OWNER) and row.columns.get("principal") in (None, "", "system"):
        found.append(Held("owner", plain(places[OWNER]), plain(at(target, comparison.owner))))
    return found


def _asked(what: Value | Parent, row: SourceRow) -> bool:
    there = row.has(what.column) or (what.empty and what.column in row.columns)
    return there and what.only(row)


def _value(value: Value, row: SourceRow, target: Model) -> Held:
    here = value.seen(target, row) if value.seen else at(target, value.attribute)
    try:
        there = value.read(row)
    except Quarantined as unreadable:
        return Held(value.name, f"unreadable: {unreadable}", plain(here))
    if value.part:
        # What is no object there stands under its column's name in the object here.
        here = here.get(value.column) if isinstance(here, dict) and not isinstance(there, dict) else here
        there, here = _said(there), _part(there, here)
    return Held(value.name, plain(there), plain(here))


def at(target: Any, path: str) -> Any:
    """An attribute of a row, or of the row that one of its attributes is."""
    for name in path.split("."):
        target = getattr(target, name, None)
    return target


def _said(there: Any) -> Any:
    """A value without the members that say nothing."""
    if isinstance(there, dict):
        return {name: _said(value) for name, value in there.items() if value is not None}
    return [_said(value) for value in there] if isinstance(there, list) else there


def _part(there: Any, here: Any) -> Any:
    """Of the value here what the value there says: members that were added, or say nothing there, are left out."""
    if isinstance(there, dict) and isinstance(here, dict):
        return {name: _part(value, here[name]) for name, value in there.items() if value is not None and name in here}
    if isinstance(there, list) and isinstance(here, list) and len(there) == len(here):
        return [_part(*pair) for pair in zip(there, here, strict=True)]
    return here


def plain(value: Any) -> str:
    """Canonical JSON; numbers without a fraction alike, whatever their type, and no value as an empty text."""
    if value is None:
        return '""'
    if isinstance(value, datetime):
        return canonical_json(value.isoformat())
    if isinstance(value, int | float) and not isinstance(value, bool):
        return canonical_json(round(float(value), 6))
    if isinstance(value, str | dict | list | bool):
        return canonical_json(value)
    return canonical_json(str(value))


def mark(text: str) -> str:
    """The mark of a value as it was stored: 16 hexadecimal digits of its SHA-256."""
    return hashlib.sha256(text.encode("utf-8", "surrogateescape")).hexdigest()[:16]
