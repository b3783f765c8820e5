"""Source databases on a real server: made, filled, looked at and dropped."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import count
from typing import Any

import psycopg
from psycopg import Connection, sql

from tests.legacy.sources import schema
from tests.legacy.sources.manifest import Manifest
from tests.legacy.sources.rows import Rows, store

_NUMBERS = count(1)


class Source:
    """One older database. `rows` is what was put in, `manifest` what must become of it."""

    def __init__(self, url: str, rows: Rows, manifest: Manifest) -> None:
        self.url, self.rows, self.manifest = url, rows, manifest

    def connect(self) -> Connection[Any]:
        return psycopg.connect(self.url, autocommit=True)

    def digests(self) -> dict[str, tuple[int, str]]:
        """Rows and SHA-256 of every table, as the server itself writes them."""
        with self.connect() as connection:
            return {table: _digest(connection, table) for table in tables(connection)}

    def ids(self, table: str) -> list[str]:
        """Every primary key as text."""
        keys = schema.KEYS.get(table, ("id",))
        columns = sql.SQL(" || ':' || ").join(sql.SQL("{}::text").format(sql.Identifier(key)) for key in keys)
        with self.connect() as connection:
            found = connection.execute(sql.SQL("SELECT {} FROM {}").format(columns, sql.Identifier(table)))
            return [key for (key,) in found]


@contextmanager
def source(server: str, rows: Rows, manifest: Manifest | None = None, ddl: str = schema.BRAIN_0_1) -> Iterator[Source]:
    """A database of that schema with these rows, on the server at `server` (the address of any database of it)."""
    name = f"legacy_source_{os.getpid()}_{next(_NUMBERS)}"
    with database(server, name) as url:
        with psycopg.connect(url, autocommit=True) as connection:
            connection.execute(ddl)
            store(connection, rows)
            connection.execute("ANALYZE")
        yield Source(url, rows, manifest or Manifest())


@contextmanager
def database(server: str, name: str, options: str = "") -> Iterator[str]:
    """An empty database of that name; whatever happens, it is dropped."""
    address = server.replace("postgres://", "postgresql://")
    quoted = sql.Identifier(name)
    with psycopg.connect(address, autocommit=True) as connection:
        connection.execute(sql.SQL("CREATE DATABASE {} {}").format(quoted, sql.SQL(options)))
        try:
            yield address.rpartition("/")[0] + f"/{name}"
        finally:
            connection.execute(sql.SQL("DROP DATABASE {} WITH (FORCE)").format(quoted))


def tables(connection: Connection[Any]) -> list[str]:
    found = connection.execute("SELECT tablename FROM pg_tables WHERE schemaname = 'public' ORDER BY tablename")
    return [name for (name,) in found]


def _digest(connection: Connection[Any], table: str) -> tuple[int, str]:
    rows, sha = 0, hashlib.sha256()
    for (text,) in connection.execute(
        sql.SQL('SELECT t::text FROM {} AS t ORDER BY t::text COLLATE "C"').format(sql.Identifier(table))
    ):
        rows += 1
        sha.update(text.encode() + b"\n")
    return rows, sha.hexdigest()
