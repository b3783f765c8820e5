"""Rows of the older schema as SQL that can be run any number of times."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from typing import Any

from kernel.text import show_invisible
from legacy.contracts.exporting import ExportNote, OlderRow

HEAD = "SET standard_conforming_strings = on;\nSET client_encoding = 'UTF8';\nBEGIN;\n"
FOOT = "COMMIT;\n"

_JSON = frozenset(
    {"metadata_json", "meta_json", "args_json", "result_json", "ref_meta_json", "value_json", "evidence_refs"}
    | {"span_json", "summary_source_turn_range"}
)
_TIMES = frozenset({"created_at", "updated_at", "summary_generated_at"})


def statement(row: OlderRow) -> str:
    """One INSERT that leaves alone what is there."""
    columns = ", ".join(row.values)
    if row.table == "turns":
        source = f"SELECT {', '.join(_turn_values(row.values))}"
    else:
        source = f"VALUES ({', '.join(_values(row.values))})"
    return f"INSERT INTO {row.table} ({columns}) {source} ON CONFLICT DO NOTHING;\n"


def comment(note: ExportNote) -> str:
    """A note as comment lines; its statement too, for a person to decide."""
    lines = [f"{note.code} {note.table} {note.id}: {note.what}", *([note.statement] if note.statement else [])]
    return "".join(f"-- {_on_one_line(line)}\n" for line in lines)


def _values(values: Mapping[str, Any]) -> Iterable[str]:
    return (_literal(column, value) for column, value in values.items())


def _turn_values(values: Mapping[str, Any]) -> Iterable[str]:
    """A turn takes the next free place of its session: the older system may have gone on meanwhile."""
    session = _quoted(values["session_id"])
    taken = f"(SELECT coalesce(max(seq), -1) + 1 FROM turns WHERE session_id = {session})"  # noqa: S608  quoted
    for column, value in values.items():
        yield f"greatest({value}, {taken})" if column == "seq" else _literal(column, value)


def _literal(column: str, value: Any) -> str:
    if column in _JSON:  # null as a JSON value, for the columns take no NULL
        return f"{_quoted(json.dumps(value, ensure_ascii=False, allow_nan=False))}::jsonb"
    if value is None:
        return "NULL"
    if column in _TIMES:
        return f"{_quoted(str(value))}::timestamptz"
    return repr(value) if isinstance(value, int | float) else _quoted(str(value))


def _quoted(text: str) -> str:
    return "'" + text.replace("'", "''") + "'"


def _on_one_line(text: str) -> str:
    """Nothing in a name may end the comment."""
    return show_invisible(" ".join(text.splitlines()))
