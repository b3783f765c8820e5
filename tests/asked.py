"""What a block of a test asked the database for, and how the database carries it out."""

from __future__ import annotations

from collections.abc import Callable

from django.db import connection
from django.test.utils import CaptureQueriesContext

from kernel.db import is_postgres


def texts(captured: CaptureQueriesContext) -> list[str]:
    """The statements in order. PostgreSQL's driver forgets the text of some that it has prepared: they are empty here,
    so that they count, and what they say is looked at on SQLite."""
    return [query["sql"] or "" for query in captured.captured_queries]


def plan_of(asked: Callable[[], object], table: str, *, without: tuple[str, ...] = ("seqscan", "bitmapscan")) -> str:
    """How the database carries out the first statement on a table, inside a test's transaction.

    The table is empty. PostgreSQL is told to do it `without` what it would prefer there, and to think of the table as one
    that nobody has counted yet: of a table known to be empty every index is as good as the next.
    """
    with CaptureQueriesContext(connection) as captured:
        asked()
    sql = next(sql for sql in texts(captured) if f'"{table}"' in sql)
    with connection.cursor() as cursor:
        if is_postgres():
            cursor.execute("UPDATE pg_class SET reltuples = -1, relpages = 0 WHERE oid = %s::regclass", [table])
            for way in without:
                cursor.execute(f"SET LOCAL enable_{way} = off")
        cursor.execute(f"{'EXPLAIN' if is_postgres() else 'EXPLAIN QUERY PLAN'} {sql}")
        return " ".join(str(line) for line in cursor.fetchall())
