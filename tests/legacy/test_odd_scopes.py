"""Rows of 0.2 whose scopes, domains and sessions do not agree: each is stored as far as it is whole, and none stops the run."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from legacy.models import MigratedRow
from scopes.models import MemoryScope
from tests.conftest import Player
from tests.legacy.judging import move
from tests.legacy.sources import schema
from tests.legacy.sources.databases import Source, source
from tests.legacy.sources.rows import Rows

PLACES = """
INSERT INTO domains VALUES ('d1', '{}', now(), now()), ('d2', '{}', now(), now());
INSERT INTO sessions (id, created_at, domain_id) VALUES ('s1', now(), 'd1'), ('s2', now(), 'd2');
INSERT INTO memory_scopes VALUES ('p1', 'd1', 'project', 'p', NULL, '{}', now(), now()),
    ('own', 'd1', 'session', 's1', NULL, '{}', now(), now());
INSERT INTO turns VALUES ('t1', 's1', 1, now()), ('t2', 's2', 1, now());
INSERT INTO messages VALUES ('m1', 't1', 'user', 'Otters', NULL, now(), '{}'),
    ('m2', 't2', 'user', 'Herons', NULL, now(), '{}');
"""


@pytest.fixture
def made(postgres: str, older: Player) -> Iterator[Source]:
    """A 0.2 of two domains with a session in each."""
    with source(postgres, Rows(1), ddl=schema.BRAIN_0_1 + schema.BRAIN_0_2) as there:
        add(there, PLACES)
        yield there


def add(there: Source, statements: str) -> None:
    with there.connect() as connection:
        connection.execute(statements)


def told(source_id: str) -> MigratedRow:
    return MigratedRow.objects.get(source_id=source_id)


def test_it_works(made: Source) -> None:
    """A scope that lies under one of another domain stands at the top of its own."""
    add(made, "INSERT INTO memory_scopes VALUES ('p2', 'd2', 'project', 'q', 'p1', '{}', now(), now())")
    move(made)
    assert MemoryScope.objects.get(external_id="q").parent is None
    assert told("p2").note == "lay under p1, which is not in this domain here"
