"""A PostgreSQL on which older systems' databases can be made, whatever the suite itself runs on."""

from __future__ import annotations

import os
from collections.abc import Iterator

import pytest

from kernel.db import is_postgres
from scripts.postgres import temporary_postgres


@pytest.fixture(scope="session")
def postgres() -> Iterator[str]:
    """The address of any database of it. On PostgreSQL it is the suite's own server; on SQLite one is started, or that of
    EQUAL_POSTGRES_URL taken. A machine that cannot start any fails here."""
    given = os.environ["DATABASE_URL"] if is_postgres() else os.environ.get("EQUAL_POSTGRES_URL")
    if given is not None:
        yield given
        return
    with temporary_postgres() as server:
        yield server.url
