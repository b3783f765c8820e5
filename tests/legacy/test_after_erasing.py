"""After something that was moved in was erased here, further runs go on, and none of its words comes back."""

from __future__ import annotations

from collections.abc import Iterator
from importlib import import_module

import pytest
from django.apps import apps

from kernel.ids import new_id
from legacy.models import MigratedRow, MigrationRun
from legacy.services.scrubbing import scrub_moved_rows
from memory.models import Message, Session, Turn
from tests.conftest import Player
from tests.guards.write_guard import unguarded
from tests.legacy.judging import move
from tests.legacy.sources import schema
from tests.legacy.sources.databases import Source, source
from tests.legacy.sources.rows import Rows

FIRST = """
INSERT INTO sessions (id, created_at) VALUES ('kept', now()), ('gone', now());
INSERT INTO turns VALUES ('k1', 'kept', 1, now()), ('g1', 'gone', 1, now()), ('g0', 'gone', -3, now());
INSERT INTO messages VALUES ('m1', 'g1', 'user', 'hello', NULL, now(), '{}'),
    ('late', 'g1', 'user', 'secret words', NULL, 'infinity', '{}'), ('m0', 'g0', 'user', 'secret too', NULL, now(), '{}');
INSERT INTO memory_items (id, session_id, type, key, value_json, updated_at)
    VALUES ('i1', 'gone', 'decisions', 'bad key', '{"decision": "secret choice"}', now()),
        ('i2', 'kept', 'decisions', 'bad key', '{"decision": "open choice"}', now());
INSERT INTO entities VALUES ('e1', 'Secretbird', 'topic');
"""
AFTER = """
INSERT INTO turns VALUES ('g2', 'gone', 2, now()), ('k2', 'kept', 2, now());
INSERT INTO messages VALUES ('m2', 'g1', 'user', 'secret reply', NULL, now(), '{}'),
    ('m3', 'k2', 'user', 'still heard', NULL, now(), '{}');
INSERT INTO memory_items (id, session_id, type, key, value_json, updated_at)
    VALUES ('i3', 'gone', 'decisions', 'decision:a:b', '{"decision": "secret choice"}', now());
INSERT INTO summaries VALUES ('gone', 'secret summary', 1, '{"from": 1, "to": 1}', now());
INSERT INTO entity_mentions VALUES ('n1', 'e1', 'g1', NULL, '{}', now());
"""


@pytest.fixture
def made(postgres: str, older: Player) -> Iterator[Source]:
    """A source of two sessions that was moved in, and of which one was erased here."""
    with source(postgres, Rows(1), ddl=schema.BRAIN_0_1) as there:
        with there.connect() as connection:
            connection.execute(FIRST)
        move(there)
        _erase("gone")
        yield there


def _erase(name: str) -> None:
    session = Session.objects.get(external_id=name)
    ids = [session.pk, *session.turns.values_list("pk", flat=True)]
    ids += Message.objects.filter(turn__session=session).values_list("pk", flat=True)
    with unguarded():
        Message.objects.filter(turn__session=session).delete()
        Turn.objects.filter(session=session).delete()
        session.delete()
        scrub_moved_rows(ids, "legacy", new_id())


def test_it_works(made: Source) -> None:
    """What came to the source since is taken; what belonged to the erased is told of without its words."""
    with made.connect() as connection:
        connection.execute(AFTER)
    move(made)
    assert MigrationRun.objects.order_by("-id")[0].state == "finished"
    assert list(Message.objects.values_list("content", flat=True)) == ["still heard"]
    told = dict(MigratedRow.objects.filter(source_id__in=["g2", "m2", "i3"]).values_list("source_id", "reason"))
    assert told == dict.fromkeys(("g2", "m2", "i3"), "orphan")
    assert MigratedRow.objects.get(source_table="summaries").reason == "orphan"
    assert "secret" not in str(list(MigratedRow.objects.values("content", "note")))


def test_what_was_scrubbed_is_never_tried_again(made: Source) -> None:
    for _ in range(2):
        scrubbed = MigratedRow.objects.filter(reason="erased")
        assert {row.source_id for row in scrubbed} == {"g0", "late", "m0", "i1"}
        assert set(scrubbed.values_list("outcome", "content", "note")) == {("left_out", None, "")}
        assert MigratedRow.objects.get(source_id="i2").content["value_json"] == '{"decision": "open choice"}'
        with made.connect() as connection:  # mended there, it would move in
            connection.execute("UPDATE messages SET created_at = now(); UPDATE turns SET seq = 7 WHERE id = 'g0'")
        move(made)
        assert not Message.objects.exists()


def test_what_a_run_told_of_rows_that_stay_goes_with_them(made: Source) -> None:
    """The note of a row that stays is shown once and kept with its row only, so nothing of it is left in the run."""
    with unguarded():
        MigratedRow.objects.filter(source_id="kept").update(
            note='a session of that id was here already; there: "secret"'
        )
    with made.connect() as connection:
        connection.execute("""UPDATE sessions SET metadata_json = '{"mood": "secret"}' WHERE id = 'kept'""")
    (told,) = [each for each in move(made)["kept"] if each["table"] == "sessions"]
    assert (told["reason"], "secret" in told["note"]) == ("shared_row", True)
    _erase("kept")
    assert "secret" not in str(list(MigrationRun.objects.values()))
    assert [each["reason"] for each in MigrationRun.objects.latest("pk").figures["kept"] if each["id"] == "kept"]


def test_runs_of_before_lose_their_notes(made: Source) -> None:
    run = MigrationRun.objects.latest("pk")
    drop_notes = import_module("legacy.migrations.0007_no_notes_in_figures").drop_notes
    with unguarded():
        MigrationRun.objects.update(
            figures={"kept": [{"table": "turns", "id": "k1", "reason": "x", "note": "secret"}]}
        )
        drop_notes(apps, None)
    run.refresh_from_db()
    assert run.figures == {"kept": [{"table": "turns", "id": "k1", "reason": "x"}]}
