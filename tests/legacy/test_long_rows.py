"""What a run holds does not grow with the number of long rows, nor with how much belongs to one row."""

from __future__ import annotations

from pathlib import Path

import pytest

from legacy.steps import entities
from memory.models import Entity, EntityMention, Ref, Turn
from scopes.contracts import LEGACY_DOMAIN
from tests.conftest import Player, make_agent
from tests.legacy.judging import OWNER, move
from tests.legacy.runs import run, start_over
from tests.legacy.sources import schema
from tests.legacy.sources.databases import source
from tests.legacy.sources.rows import Rows

MIB = 1_048_576
FEW, MANY = 20, 200  # rows of half a megabyte, all of one turn: 10 and 100 MB of text
GROWTH = 40 * MIB  # a run that held them all, or all of a turn, would grow by hundreds


@pytest.mark.django_db(transaction=True)
def test_it_works(postgres: str, tmp_path: Path) -> None:
    """In a process of its own, ten times the long rows take no more memory."""
    peaks: list[int] = []
    for many in (FEW, MANY):
        start_over() if peaks else make_agent(OWNER, LEGACY_DOMAIN)
        with source(postgres, Rows(1)) as made:
            with made.connect() as connection:
                connection.execute("INSERT INTO sessions (id, created_at) VALUES ('s', now())")
                connection.execute("INSERT INTO turns VALUES ('t', 's', 1, now())")
                connection.execute(
                    "INSERT INTO refs SELECT 'r' || n, 't', 'file', 'file:///' || n, "
                    "jsonb_build_object('text', repeat(md5(n::text) || ' ', 15000)), now() FROM generate_series(1, %s) n",
                    [many],
                )
            peaks.append(run(made, tmp_path)["peak_memory"])
        assert Ref.objects.count() == many
    assert peaks[1] - peaks[0] < GROWTH, [peak // MIB for peak in peaks]


def test_an_entity_of_more_sessions_than_a_batch_holds_is_in_each(
    postgres: str, older: Player, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The first ones come with the entity, the others with its mentions, under the same ids as if all had come at once."""
    with source(postgres, Rows(1), ddl=schema.BRAIN_0_1) as made:
        with made.connect() as connection:
            connection.execute(
                """
                INSERT INTO sessions (id, created_at) SELECT 's' || n, now() FROM generate_series(1, 7) n;
                INSERT INTO turns SELECT 't' || n, 's' || n, 1, now() FROM generate_series(1, 7) n;
                INSERT INTO entities VALUES ('e1', 'Postgres', 'topic', NULL), ('e2', 'PG', 'topic', 'e1');
                INSERT INTO entity_mentions SELECT 'n' || e || n, 'e' || e, 't' || n, NULL, '{}', now()
                    FROM generate_series(1, 7) n, generate_series(1, 2) e;
                """
            )
        for most in (entities.SESSIONS, 2):
            monkeypatch.setattr(entities, "SESSIONS", most)
            move(made, "--dry-run")
        move(made)
    found = list(Entity.objects.values_list("source_session__external_id", "canonical", "aliases__alias"))
    assert sorted(found) == [(f"s{n}", "Postgres", "PG") for n in range(1, 8)]
    assert EntityMention.objects.count() == 7
    assert {tuple(turn.entity_names) for turn in Turn.objects.all()} == {("postgres",)}
