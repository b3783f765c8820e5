"""Tables of which no row is taken along are named with their rows, those that nobody here knows too."""

from __future__ import annotations

import psycopg
from psycopg import sql

from legacy.services.validating import validate
from legacy.source import opened
from tests.conftest import Player
from tests.legacy.judging import move
from tests.legacy.sources import EVERYTHING, clean
from tests.legacy.sources.databases import source

STRANGE = """
CREATE TABLE bookmarks (id int PRIMARY KEY, url text); INSERT INTO bookmarks VALUES (1, 'a'), (2, 'b');
CREATE TABLE "Odd name; --" (x int); INSERT INTO "Odd name; --" VALUES (1);
CREATE TABLE nothing (x int);
CREATE VIEW shown AS SELECT * FROM bookmarks;
INSERT INTO source_documents (id, title, created_at, updated_at) VALUES (1, 'd', now(), now());
INSERT INTO source_sections (id, document_id, content, section_number, created_at, updated_at)
    VALUES (1, 1, 'c', 1, now(), now());
INSERT INTO embeddings (source_id, vector, created_at) VALUES (1, '{1}', now()), (1, '{2}', now()), (1, '{3}', now());
"""
WANTED = {
    "memory_chunks": (1, "derived"),
    "bookmarks": (2, "unknown table"),
    "Odd name; --": (1, "unknown table"),
    "embeddings": (3, "derived"),
}


def test_it_works(postgres: str, older: Player) -> None:
    """In the figures of every run, a dry one too, and in the report of the validation; empty tables and views hold nothing."""
    with source(postgres, clean(1, 1)[0], ddl=EVERYTHING) as made:
        with made.connect() as connection:
            connection.execute(STRANGE)
        for arguments in (("--dry-run",), ()):
            figures = move(made, *arguments)
            assert {
                table: (figures["tables"][table]["left_out"], why) for table, why in figures["left_out"].items()
            } == WANTED
        with opened(made.url) as there:
            report = validate(there, lambda *told: None)
    told = {each.source_table: (each.count, each.reason) for each in report.reasons if each.outcome == "left_out"}
    assert told == WANTED


def test_one_that_may_not_be_read_is_named(postgres: str, older: Player) -> None:
    with source(postgres, clean(1, 1)[0]) as made, made.connect() as connection:
        role = sql.Identifier(f"reader_{connection.info.dbname}")
        connection.execute("CREATE TABLE secrets (x int)")
        connection.execute(
            sql.SQL("CREATE ROLE {} LOGIN PASSWORD 'reading'; GRANT USAGE ON SCHEMA public TO {}").format(role, role)
        )
        connection.execute(sql.SQL("GRANT SELECT ON ALL TABLES IN SCHEMA public TO {}").format(role))
        connection.execute(sql.SQL("REVOKE ALL ON secrets FROM {}").format(role))
        try:
            url = psycopg.conninfo.conninfo_to_dict(made.url)
            figures = move(
                f"postgresql://{role.as_string()[1:-1]}:reading@{url['host']}:{url['port']}/{url['dbname']}"
            )
        finally:
            connection.execute(sql.SQL("DROP OWNED BY {}; DROP ROLE {}").format(role, role))
    assert figures["left_out"]["secrets"] == "unknown table that may not be read"
