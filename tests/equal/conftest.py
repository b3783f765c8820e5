"""A PostgreSQL beside the SQLite of the suite, and a worker on each."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager

import psycopg
import pytest
from psycopg import sql

from scripts.postgres import temporary_postgres
from tests.equal.pair import Pair, running

GIVEN = "EQUAL_POSTGRES_URL"


@pytest.fixture(scope="session")
def pair(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Pair]:
    """Both databases, made for this run. A PostgreSQL that is up already can be given as EQUAL_POSTGRES_URL; without
    one, a machine that cannot start any fails here."""
    with _postgres() as url, running(url, tmp_path_factory.mktemp("equal")) as both:
        yield both


@contextmanager
def _postgres() -> Iterator[str]:
    given = os.environ.get(GIVEN)
    if given is None:
        with temporary_postgres() as server:
            yield server.url
        return
    name = f"equal_{os.getpid()}"
    with psycopg.connect(given.replace("postgres://", "postgresql://"), autocommit=True) as connection:
        connection.execute(sql.SQL("CREATE DATABASE {}").format(sql.Identifier(name)))
        try:
            yield given.rpartition("/")[0] + f"/{name}"
        finally:
            connection.execute(sql.SQL("DROP DATABASE {} WITH (FORCE)").format(sql.Identifier(name)))
