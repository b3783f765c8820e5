"""A start that thousands of tests share: made once for a database as it would be, and put back row by row after that."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

from django.db import connection, transaction

from tests.guards.write_guard import WRITE, unguarded

Made = TypeVar("Made")


@dataclass(frozen=True)
class _Table:
    """The rows of one table, as its INSERT takes them."""

    name: str
    insert: str
    params: list[Any]

    @classmethod
    def read(cls, name: str) -> _Table:
        quote = connection.ops.quote_name
        with connection.cursor() as cursor:
            cursor.execute(f"SELECT * FROM {quote(name)}")
            rows = cursor.fetchall()
            columns = [column[0] for column in cursor.description]
        marks = ", ".join(["(" + ", ".join(["%s"] * len(columns)) + ")"] * len(rows))
        insert = f"INSERT INTO {quote(name)} ({', '.join(map(quote, columns))}) VALUES {marks}"
        return cls(name, insert, [value for row in rows for value in row])


class Kept(Generic[Made]):
    """What `make` answers, with the rows that it writes.

    `learn()` is called once, on a database without them, outside any test: so it is the same whichever test comes first.
    A call where one of the tables has a row already, or where rows around them are gone (a flush takes the groups that a
    migration made), makes everything anew.
    """

    def __init__(self, make: Callable[[], Made]) -> None:
        self._make = make
        self._made: Made | None = None
        self._tables: list[_Table] = []
        self._around: set[str] = set()  # the tables that have rows without it

    def learn(self) -> None:
        """Make it, remember it and take it back."""
        with transaction.atomic():
            self._around = _filled(connection.introspection.table_names())
            with _tables_written() as written:
                self._made = self._make()
            assert not written & self._around, f"Tables that had rows are written: {sorted(written & self._around)}"
            self._tables = [_Table.read(name) for name in sorted(written)]
            transaction.set_rollback(True)

    def __call__(self) -> Made:
        if (
            self._made is None
            or _filled([table.name for table in self._tables] + sorted(self._around)) != self._around
        ):
            return self._make()
        with unguarded(), transaction.atomic(), connection.cursor() as cursor:
            for table in self._tables:
                cursor.execute(table.insert, table.params)
        return self._made


@contextmanager
def _tables_written() -> Iterator[set[str]]:
    """The names of the tables that the block inserts into, changes or deletes from."""
    written: set[str] = set()

    def note(execute: Callable[..., Any], sql: str, params: Any, many: bool, context: dict[str, Any]) -> Any:
        if found := WRITE.match(str(sql)):
            written.add(found["table"])
        return execute(sql, params, many, context)

    with connection.execute_wrapper(note):
        yield written


def _filled(tables: Iterable[str]) -> set[str]:
    """Those of the tables that have a row."""
    quote = connection.ops.quote_name
    rows = " UNION ALL ".join(f"SELECT '{name}' WHERE EXISTS (SELECT 1 FROM {quote(name)})" for name in tables)
    with connection.cursor() as cursor:
        cursor.execute(rows)
        return {name for (name,) in cursor.fetchall()}
