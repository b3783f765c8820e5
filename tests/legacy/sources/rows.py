"""Rows of a source before they are stored, and storing them."""

from __future__ import annotations

import json
import random
from collections import defaultdict
from collections.abc import Iterable, Mapping
from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import UUID

from psycopg import Connection, sql

from tests.legacy.sources.schema import ORDER

START = datetime(2025, 3, 1, 8, 0, tzinfo=UTC)
Row = dict[str, Any]


class Raw(str):
    """A value as PostgreSQL reads it: JSON text that Python could not write, `infinity`, an array."""

    __slots__ = ()


class Rows:
    """Rows by table. `draw` is the one source of chance and ids, so that a seed gives the same source again."""

    def __init__(self, seed: int) -> None:
        self.draw = random.Random(seed)
        self.by_table: dict[str, list[Row]] = defaultdict(list)
        self.clock = START

    def add(self, table: str, **columns: Any) -> Row:
        self.by_table[table].append(columns)
        return columns

    def id(self) -> str:
        return str(UUID(int=self.draw.getrandbits(128), version=4))

    def number(self, table: str) -> int:
        """The next id of a table that counts."""
        return len(self.by_table[table]) + 1

    def tick(self, seconds: float = 7.25) -> datetime:
        """The next instant of this history."""
        self.clock += timedelta(seconds=seconds)
        return self.clock

    def __getitem__(self, table: str) -> list[Row]:
        return self.by_table[table]


def store(connection: Connection[Any], rows: Rows) -> None:
    """All rows, by COPY, in the order that foreign keys ask for."""
    for table in ORDER:
        kinds: dict[tuple[str, ...], list[Row]] = defaultdict(list)
        for row in rows.by_table.get(table, ()):
            kinds[tuple(row)].append(row)
        for columns, alike in kinds.items():
            _copy(connection, table, columns, alike)


def _copy(
    connection: Connection[Any], table: str, columns: tuple[str, ...], alike: Iterable[Mapping[str, Any]]
) -> None:
    statement = sql.SQL("COPY {} ({}) FROM STDIN").format(
        sql.Identifier(table), sql.SQL(", ").join(map(sql.Identifier, columns))
    )
    with connection.cursor() as cursor, cursor.copy(statement) as copy:
        for row in alike:
            copy.write_row([_written(value) for value in row.values()])


def _written(value: Any) -> Any:
    return json.dumps(value, ensure_ascii=False) if isinstance(value, dict | list) else value
