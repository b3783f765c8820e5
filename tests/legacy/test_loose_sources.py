"""Installations that kept JSON as it was typed, or any bytes at all: NUL, half pairs, broken JSON, text that is no UTF-8."""

from __future__ import annotations

import os

import psycopg
import pytest

from legacy.models import MigratedRow
from memory.models import Message, ToolCall
from tests.conftest import Player
from tests.legacy.judging import faults, move
from tests.legacy.sources import clean, schema
from tests.legacy.sources.brain import message, tool_call
from tests.legacy.sources.databases import database, source
from tests.legacy.sources.manifest import Manifest, bad
from tests.legacy.sources.rows import Raw, store

TRAPS = {
    "NUL": (r'{"text": "a\u0000b"}', "nul"),
    "NUL in a name": (r'{"a\u0000b": 1}', "nul"),
    "half a pair": (r'{"text": "\ud800"}', "bad_encoding"),
}
BROKEN = ("{", "{'single': 1}", '{"n": NaN}', "", "[1,]")


def test_it_works(postgres: str, older: Player) -> None:
    """JSON of the type `json` or in a text column: what no database of ours can hold is kept aside, the rest moves in."""
    rows, talks = clean(1, 2)
    manifest, turn = Manifest(), talks[0].turns[0]
    for why, (text, reason) in TRAPS.items():
        row = tool_call(rows, turn, "shell", Raw(text))
        manifest.seal("tool_calls", row, bad(why, reason))
    tool_call(rows, turn, "shell", Raw(r'{"text": "a\\u0000b \ud83e\udd8a"}'))  # an escaped escape, and a whole pair
    for text in BROKEN:
        row = message(rows, turn, "user", "its meta is broken", meta_json=Raw(text))
        manifest.seal("messages", row, bad(f"meta {text!r}", "bad_json", "missing_value"))
    with source(postgres, rows, manifest, schema.BRAIN_0_1 + schema.LOOSE) as made:
        move(made)
        assert "\n".join(map(str, faults(made))) == ""
    assert ToolCall.objects.filter(args__text="a\\u0000b 🦊").count() == 1
    assert Message.objects.count() == 4


@pytest.mark.parametrize("column", ["content", "role"])
def test_bytes_that_are_no_text_are_kept_aside(postgres: str, older: Player, column: str) -> None:
    """A database of the encoding SQL_ASCII holds any bytes: those of another encoding do not stop the rest."""
    rows, talks = clean(1, 2)
    row = message(rows, talks[0].turns[0], "user", "caf?")
    ascii_only = "ENCODING 'SQL_ASCII' LOCALE_PROVIDER libc LOCALE 'C' TEMPLATE template0"
    with database(postgres, f"legacy_ascii_{os.getpid()}_{column}", ascii_only) as url:
        with psycopg.connect(url, autocommit=True, client_encoding="utf8") as connection:
            connection.execute(schema.BRAIN_0_1)
            store(connection, rows)
            connection.execute(f"UPDATE messages SET {column} = E'caf\\xe9' WHERE id = '{row['id']}'")
        move(url)
    told = MigratedRow.objects.filter(source_table="messages")
    assert told.count() == len(rows["messages"])
    kept = told.get(outcome="quarantined")
    assert (kept.source_id, kept.reason) == (row["id"], "bad_encoding")
    assert "caf" in kept.content[column]
    assert set(Message.objects.values_list("role", flat=True)) == {"user", "assistant"}
