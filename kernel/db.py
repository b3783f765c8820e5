"""Every difference between SQLite and PostgreSQL lives in this file."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from django.db import DatabaseError, OperationalError, connection, transaction
from django.db.models import F
from django.db.models.functions import Collate


def is_postgres() -> bool:
    """Whether the default database is PostgreSQL."""
    return connection.vendor == "postgresql"


def sqlite_options(busy_timeout_seconds: float) -> dict[str, Any]:
    """Connection options for SQLite: write-ahead log, immediate transactions, a busy timeout, enforced foreign keys."""
    return {
        "timeout": busy_timeout_seconds,
        "transaction_mode": "IMMEDIATE",
        "init_command": "PRAGMA journal_mode=WAL; PRAGMA synchronous=NORMAL; PRAGMA foreign_keys=ON;",
    }


def is_outage(error: OperationalError) -> bool:
    """Whether the database is busy or out of reach; SQLite says OperationalError for a wrong statement too."""
    if is_postgres():
        return True
    return any(sign in str(error) for sign in ("locked", "busy", "unable to open", "disk"))


def ping() -> bool:
    """Whether the database answers."""
    try:
        with connection.cursor() as cursor:
            cursor.execute("SELECT 1")
            return bool(cursor.fetchone() == (1,))
    except DatabaseError:
        return False


def byte_order(column: str) -> Collate:
    """Text ordered and compared by its bytes, whatever the database's own collation."""
    return Collate(F(column), "C" if is_postgres() else "BINARY")


@contextmanager
def rolled_back() -> Iterator[None]:
    """A transaction whose every write is undone at the end of the block."""
    with transaction.atomic():
        yield
        transaction.set_rollback(True)
