"""The source databases that the migration is judged by are what they say: real, dirty, and the same for the same seed."""

from __future__ import annotations

from pathlib import Path

import psycopg
import pytest

from tests.legacy.sources import EVERYTHING, clean, dirty, everything, schema
from tests.legacy.sources.databases import source
from tests.legacy.sources.library import collect
from tests.legacy.sources.manifest import MIGRATED, QUARANTINED, WHOLE, key_of
from tests.legacy.sources.rows import Rows


def test_it_works(postgres: str) -> None:
    """A clean source has every table of 0.1 filled, in both languages, with every type of memory."""
    rows, talks = clean()
    with source(postgres, rows) as made:
        held = made.digests()
        assert set(held) == set(schema.TABLES_0_1)
        assert all(count for count, _ in held.values())
        assert held["messages"][0] == 4 * 13 * 2
    assert {talk.language for talk in talks} == {"en", "zh"}
    types = {row["type"] for row in rows["memory_items"]}
    assert types == {
        "preferences",
        "goals",
        "tasks",
        "decisions",
        "events",
        "profile",
        "entities",
        "cases",
        "patterns",
    }


def test_the_same_seed_makes_the_same_source_and_another_another(postgres: str) -> None:
    digests = []
    for seed in (1, 1, 2):
        with source(postgres, clean(2, 4, seed)[0]) as made:
            digests.append(made.digests())
    assert digests[0] == digests[1]
    assert digests[0]["messages"] != digests[2]["messages"]


@pytest.mark.parametrize("kind", ["0.1", "everything"])
def test_every_sealed_row_is_in_the_database_and_most_rows_are_whole(postgres: str, tmp_path: Path, kind: str) -> None:
    rows, _, manifest = dirty() if kind == "0.1" else everything(tmp_path)
    with source(postgres, rows, manifest, schema.BRAIN_0_1 if kind == "0.1" else EVERYTHING) as made:
        held = {table: set(made.ids(table)) for table in made.digests()}
    for table, source_id in manifest.rows:
        assert source_id in held[table], (table, source_id)
    for table, ids in held.items():
        assert len(ids) == len(rows[table])
        assert ids == {key_of(table, row) for row in rows[table]}
    whole = sum(manifest.of(table, key) == WHOLE for table, ids in held.items() for key in ids)
    assert whole > sum(map(len, held.values())) / 2


def test_an_expectation_that_asks_for_nothing_does_not_exist(tmp_path: Path) -> None:
    for _, _, manifest in (dirty(1), everything(tmp_path, 1)):
        for place, expected in manifest.rows.items():
            assert expected.fates <= {MIGRATED, QUARANTINED}, place
            assert expected != WHOLE or place[0] == "memory_items", place
            assert expected.reasons or QUARANTINED not in expected.fates or expected.noted, place


def test_an_early_library_has_no_fingerprints(postgres: str) -> None:
    rows = Rows(5)
    collect(rows, 2, 2, None, late=False)
    with source(postgres, rows, ddl=schema.RAG_EARLY) as made, psycopg.connect(made.url) as connection:
        described = connection.execute("SELECT * FROM media_jobs LIMIT 0").description or []
        assert "request_fingerprint" not in {column.name for column in described}
