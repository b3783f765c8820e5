"""A large source: memory stays where it is, the source is untouched, and every row is told of (`make soak`)."""

from __future__ import annotations

from pathlib import Path

import pytest

from legacy.models import MigratedRow
from memory.models import Message
from scopes.contracts import LEGACY_DOMAIN
from tests.conftest import make_agent
from tests.legacy.judging import OWNER, faults
from tests.legacy.runs import run, start_over
from tests.legacy.sources import dirty
from tests.legacy.sources.databases import source

pytestmark = [pytest.mark.soak, pytest.mark.django_db(transaction=True)]

SESSIONS, TURNS = 1_000, 50  # of two messages each: 100,000
MIB = 1_048_576
GROWTH = 48 * MIB  # what ten times the rows may take more: caches of the databases, not rows


def test_a_hundred_thousand_messages(postgres: str, tmp_path: Path) -> None:
    """Ten times the rows take no more memory, a second run finds everything known, and no row is lost."""
    make_agent(OWNER, LEGACY_DOMAIN)
    with source(postgres, *_dirty(SESSIONS // 10, seed=21)) as made:
        small = run(made, tmp_path)
    start_over()
    with source(postgres, *_dirty(SESSIONS, seed=22)) as made:
        before = made.digests()
        large = run(made, tmp_path)
        assert made.digests() == before
        assert faults(made) == []
        told = MigratedRow.objects.filter(source_table="messages").count()
        again = run(made, tmp_path)
    assert Message.objects.count() > SESSIONS * TURNS * 2
    assert large["peak_memory"] - small["peak_memory"] < GROWTH
    assert sum(counts.get("migrated", 0) for counts in again["tables"].values()) == 0
    assert MigratedRow.objects.filter(source_table="messages").count() == told


def _dirty(sessions: int, seed: int):
    rows, _, manifest = dirty(sessions, TURNS, seed)
    return rows, manifest
