from __future__ import annotations

from pathlib import Path
from urllib.parse import urlsplit

import psycopg
import pytest

from scripts import postgres
from scripts.postgres import PostgresMissingError, temporary_postgres


def test_it_works():
    with temporary_postgres() as server:
        place = server.url.replace("postgres://", "postgresql://")
        with psycopg.connect(place) as connection:
            [(folder, order)] = connection.execute(
                "SELECT current_setting('data_directory'), string_agg(x, '' ORDER BY x)"
                " FROM (VALUES ('a'), ('B')) AS v(x) GROUP BY 1"
            ).fetchall()
        assert order == "aB" or "unnoticed" in server.collation
        with pytest.raises(psycopg.OperationalError, match="password"):
            psycopg.connect(place.replace(str(urlsplit(place).password), "wrong"))
    with pytest.raises(psycopg.OperationalError):
        psycopg.connect(place)
    assert not Path(folder).parent.exists()


def test_a_failure_inside_leaves_nothing_running():
    seen: list[str] = []
    with pytest.raises(ZeroDivisionError):
        fail_with_a_server(seen)
    with pytest.raises(psycopg.OperationalError):
        psycopg.connect(seen[0].replace("postgres://", "postgresql://"))


def fail_with_a_server(seen: list[str]) -> None:
    with temporary_postgres() as server:
        seen.append(server.url)
        raise ZeroDivisionError


def test_a_missing_postgresql_is_an_error(monkeypatch):
    monkeypatch.setattr(postgres, "candidates", list)
    with pytest.raises(PostgresMissingError, match="no initdb"), temporary_postgres():
        pass
