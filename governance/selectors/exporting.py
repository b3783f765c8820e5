"""Reading a domain out, table by table, in an order and a form that are the same each time and on each database."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime
from typing import Any
from uuid import UUID

from governance.contracts.exporting import ExportDomainInput
from governance.hooks import Exporter, exporters
from kernel.canonical import canonical_json
from kernel.context import Ctx
from kernel.paging import bad_cursor, decode, encode

_START = "-"  # the place before the first row of a table
_ENOUGH = 8_000_000  # bytes: a page ends with the row that reaches it
_READ = 50  # rows that are read at a time


@dataclass(frozen=True, slots=True)
class ExportPage:
    """Lines of one table, and where to go on."""

    table: str
    tables: Sequence[str]
    lines: Sequence[str]
    cursor: str | None


def page_of_export(given: ExportDomainInput, ctx: Ctx) -> ExportPage:
    """The next lines; tables without a visible row are passed over. Raises InvalidInputError for a cursor of others."""
    known = exporters()
    tables = list(known)
    table, after = decode(given, 2) or (tables[0], _START)
    if table not in known:
        raise bad_cursor()
    for name in tables[tables.index(table) :]:
        rows = _rows(known[name], given, after if name == table else _START, ctx)
        lines, last = _lines(name, rows, given.limit)
        if lines:
            following = tables[tables.index(name) + 1 :]
            place = [name, last] if last else [following[0], _START] if following else None
            return ExportPage(name, tables, lines, encode(place, given) if place else None)
    return ExportPage("", tables, [], None)


def _lines(table: str, rows: Iterable[Mapping[str, Any]], limit: int) -> tuple[list[str], str]:
    """As many rows as a page holds, as lines; the id of the last of them, empty where no row is left."""
    lines: list[str] = []
    size, last = 0, ""
    for row in rows:
        if len(lines) == limit or size >= _ENOUGH:
            return lines, last
        lines.append(canonical_json({"table": table, "row": _plain(row)}))
        size, last = size + len(lines[-1].encode()), str(row["id"])
    return lines, ""


def _rows(exporter: Exporter, given: ExportDomainInput, after: str, ctx: Ctx) -> Iterator[dict[str, Any]]:
    rows = exporter.rows(given.domain_id, ctx)
    if after != _START:
        try:
            rows = rows.filter(pk__gt=UUID(after))
        except ValueError as exc:
            raise bad_cursor() from exc
    columns = {"id": "pk", **exporter.columns}
    found = rows.order_by("pk").values_list(*columns.values())[: given.limit + 1]
    return (dict(zip(columns, row, strict=True)) for row in found.iterator(chunk_size=_READ))


def _plain(value: Any) -> Any:
    """Plain JSON; instants in UTC to the microsecond."""
    if isinstance(value, dict):
        return {name: _plain(inner) for name, inner in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(inner) for inner in value]
    if isinstance(value, datetime):
        return value.astimezone(UTC).isoformat(timespec="microseconds")
    if isinstance(value, date):
        return value.isoformat()
    return str(value) if isinstance(value, UUID) else value
