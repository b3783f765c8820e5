"""Write what was committed here since the migration as rows of the older system."""

from __future__ import annotations

import json
import os
import sys
import tempfile
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from django.core.management.base import CommandParser

from governance.management.base import ActionCommand, usage_error
from kernel.errors import DomainError
from legacy.contracts.exporting import ExportNote, OlderRow
from legacy.management import older_sql

_COME_AGAIN = frozenset({"sessions", "entities"})  # once for each page that needs them


Out = Callable[[str], object]


class Command(ActionCommand):
    help = (
        "Write turns and memories that were committed here since the migration as rows of the older system's tables: "
        "SQL that can be run any number of times and leaves alone what is there, or JSON lines. The older database is "
        "never touched. What its tables cannot hold is named. Exit codes: 0 done, 1 refused, 2 usage or environment."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--domain", default="legacy", help="the domain; `legacy` where left out")
        parser.add_argument("--format", choices=["sql", "jsonl"], default="sql", help="SQL, or one JSON object a line")
        parser.add_argument("--to", metavar="FILE", help="the file to write; standard output where left out")
        parser.add_argument("--batch", type=int, default=200, help="turns or items read at once, 1 to 500")

    def handle(self, **options: Any) -> None:
        counts: Counter[str] = Counter()
        with _opened(options["to"], lambda text: self.stdout.write(text, ending="")) as out:
            writer = _Sql(out) if options["format"] == "sql" else _Lines(out)
            writer.begin()
            self._write(options, writer, counts)
            writer.end()
        self._say(counts)

    def _write(self, options: dict[str, Any], writer: _Sql | _Lines, counts: Counter[str]) -> None:
        cursor: str | None = None
        written: set[tuple[str, str]] = set()
        while True:
            found = self._page(options, cursor)
            for row in map(OlderRow.model_validate, found["rows"]):
                name = (row.table, str(row.values.get("id", "")))
                if name in written:
                    continue
                if row.table in _COME_AGAIN:
                    written.add(name)
                writer.row(row)
                counts[row.table] += 1
            for note in map(ExportNote.model_validate, found["notes"]):
                if (note.code, note.id) in written:
                    continue
                if note.table in _COME_AGAIN:
                    written.add((note.code, note.id))
                writer.note(note)
                counts[f"note {note.code}"] += 1
            counts["looked at"] += found["seen"]
            if sys.stderr.isatty():
                self.stderr.write(f"\r{found['phase']}: {counts['looked at']} rows looked at", ending="")
            cursor = found["next_cursor"]
            if cursor is None:
                return

    def _page(self, options: dict[str, Any], cursor: str | None) -> dict[str, Any]:
        tree = {"domain_id": options["domain"], "limit": options["batch"], "cursor": cursor}
        try:
            return self.ask_as_operator("export_legacy", tree)
        except DomainError as exc:
            self.refuse_plain(exc)

    def _say(self, counts: Counter[str]) -> None:
        seen = counts.pop("looked at", 0)
        rows = ", ".join(f"{count} {table}" for table, count in counts.items() if not table.startswith("note "))
        self.stderr.write(f"{seen} rows looked at. Written: {rows or 'nothing, for nothing is new here'}.")
        for name, count in counts.items():
            if name.startswith("note "):
                self.stderr.write(f"{count} × {name.removeprefix('note ')}: named among the rows.")


class _Sql:
    """One transaction of INSERT statements, notes as comments."""

    def __init__(self, out: Out) -> None:
        self._out = out

    def begin(self) -> None:
        self._out(older_sql.HEAD)

    def row(self, row: OlderRow) -> None:
        self._out(older_sql.statement(row))

    def note(self, note: ExportNote) -> None:
        self._out(older_sql.comment(note))

    def end(self) -> None:
        self._out(older_sql.FOOT)


class _Lines:
    """One JSON object a line: `{"table", "values"}`, or `{"note"}`."""

    def __init__(self, out: Out) -> None:
        self._out = out

    def begin(self) -> None:
        """Nothing stands before the first row."""

    def row(self, row: OlderRow) -> None:
        self._write(row.model_dump(mode="json"))

    def note(self, note: ExportNote) -> None:
        self._write({"note": note.model_dump(mode="json")})

    def end(self) -> None:
        """Nothing stands behind the last row."""

    def _write(self, line: dict[str, Any]) -> None:
        self._out(json.dumps(line, ensure_ascii=False) + "\n")


@contextmanager
def _opened(path: str | None, fallback: Out) -> Iterator[Out]:
    """How to write to the file, which is there complete or not at all and readable by its owner only; or the fallback."""
    if path is None:
        yield fallback
        return
    target = Path(path)
    try:
        handle, name = tempfile.mkstemp(dir=target.parent, prefix=f".{target.name}.")
    except OSError as exc:
        raise usage_error(f"--to: {target} cannot be written ({exc.strerror}).") from exc
    try:
        with os.fdopen(handle, "w", encoding="utf-8") as out:
            yield out.write
        Path(name).replace(target)
    except BaseException:
        Path(name).unlink(missing_ok=True)
        raise
