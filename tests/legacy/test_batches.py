"""A batch ends after so many rows, or where they are long: what a run holds does not grow with the length of rows."""

from __future__ import annotations

import os

import psycopg
import pytest

from legacy.contracts import SourceRow
from legacy.services.batches import MOST, batches
from legacy.source import FETCH, LENGTH, opened
from tests.legacy.sources.databases import database


def row(length: int, named: int = 0) -> SourceRow:
    return SourceRow("messages", "1", {"id": "1", "content": "x" * length, "model": None}, ("", ["s"] * named))


@pytest.mark.parametrize(
    ("rows", "sizes"),
    [
        ([row(1)] * 7, [3, 3, 1]),
        ([row(MOST), row(1), row(MOST // 2), row(MOST // 2)], [1, 3]),
        ([row(1, named=MOST // 1000), row(1, named=2)], [1, 1]),
        ([], []),
    ],
)
def test_it_works(rows: list[SourceRow], sizes: list[int]) -> None:
    assert [len(batch) for batch in batches(iter(rows), 3)] == sizes


def test_long_rows_are_fetched_a_few_at_a_time(postgres: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """However long rows are, what the server sent at once is bounded; all come, in their order."""
    asked: list[int] = []
    plain = psycopg.ServerCursor.fetchmany

    def watched(cursor: psycopg.ServerCursor, size: int = 0) -> list[tuple[object, ...]]:
        asked.append(size)
        return plain(cursor, size)

    monkeypatch.setattr(psycopg.ServerCursor, "fetchmany", watched)
    with database(postgres, f"legacy_long_rows_{os.getpid()}") as url:
        with psycopg.connect(url, autocommit=True) as connection:
            connection.execute("CREATE TABLE messages (id int PRIMARY KEY, content text)")
            statement = "INSERT INTO messages SELECT n, repeat('x', %s) FROM generate_series(%s::int, %s) n"
            connection.execute(statement, [10, 100, 299])
            connection.execute(statement, [LENGTH // 4, 300, 340])
        with opened(url) as source:
            ids = [row.id for row in source.rows("messages", order=("r.id",))]
    assert ids == [str(n) for n in range(100, 341)]
    assert max(asked) == FETCH
    assert asked[-1] <= 4
