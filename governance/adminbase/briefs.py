"""What a proposal would change, in one line and in fields, from the changes that are kept with it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from governance.adminbase.diff import FieldDiff, Kind, Passage, as_text, brief, compare_rows, compare_values
from governance.contracts import RowChange

TELLING = ("statement", "text", "value", "description", "document", "content", "title", "name")
MOST_ROWS = 50


@dataclass(frozen=True, slots=True)
class RowDiff:
    """One row that would change: what happens to it and its fields."""

    kind: Kind
    table: str
    id: str
    fields: Sequence[FieldDiff]
    title: str = ""

    @property
    def tells(self) -> bool:
        """Whether it holds something that people read, and does not only hold such rows together."""
        return any(field.name in TELLING for field in self.fields)

    @property
    def proposed(self) -> str:
        """The text that it would hold; empty where it has none."""
        texts = {field.name: field.after for field in self.fields if field.after}
        return next((texts[name] or "" for name in TELLING if name in texts), "")


def rows_of(changes: Sequence[Mapping[str, Any]]) -> list[RowDiff]:
    """The rows of some changes, fifty at most, with every field compared."""
    found = []
    for change in changes[:MOST_ROWS]:
        before, after = change.get("before"), change.get("after")
        fields = compare_rows(before, after)
        found.append(RowDiff(_kind(before, after), str(change.get("table")), str(change.get("id")), fields))
    return found


def row_of(row: RowChange) -> RowDiff:
    """One row as an app presents it, compared field by field in the app's order."""
    fields = [compare_values(field.name, field.before, field.after) for field in row.fields]
    return RowDiff(Kind(row.kind), row.table, row.id, fields, row.title)


def one_line(changes: Sequence[Mapping[str, Any]]) -> list[Passage]:
    """The most telling difference among some changes, on one line."""
    told = sorted(enumerate(changes[:MOST_ROWS]), key=lambda pair: (_rank(pair[1]), pair[0]))
    for _, change in told:
        before, after = change.get("before") or {}, change.get("after") or {}
        for name in TELLING:
            old, new = as_text(before.get(name)) or "", as_text(after.get(name)) or ""
            if old != new:
                return brief(old, new)
    for _, change in told:
        if change.get("before") is None:
            continue
        before, after = change["before"], change.get("after") or {}
        for name in sorted({*before, *after}):
            if before.get(name) != after.get(name):
                old, new = as_text(before.get(name)) or "", as_text(after.get(name)) or ""
                return [Passage(Kind.SAME, f"{name}: "), *brief(old, new)]
    return []


def _kind(before: Mapping[str, Any] | None, after: Mapping[str, Any] | None) -> Kind:
    return Kind.ADDED if before is None else Kind.REMOVED if after is None else Kind.CHANGED


def _rank(change: Mapping[str, Any]) -> int:
    """Rows with telling fields first; what a conversation says comes before the rows that only hold it together."""
    row = {**(change.get("before") or {}), **(change.get("after") or {})}
    return next((place for place, name in enumerate(TELLING) if row.get(name)), len(TELLING))
