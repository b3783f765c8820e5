"""The columns and indexes that the memory documents promise exist on the database under test."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from django.db import connection

from kernel.db import is_postgres

pytestmark = pytest.mark.django_db

# What each table holds by the documents, under the names that architecture section 4 gives.
COLUMNS = {
    "domains": ["id", "metadata", "created_at", "updated_at"],
    "memory_scopes": [
        "id",
        "domain_id",
        "scope_type",
        "external_id",
        "parent_id",
        "metadata",
        "created_at",
        "updated_at",
    ],
    "session_scope_links": ["session_id", "scope_id", "access_mode", "priority", "created_at"],
    "sessions": ["id", "domain_id", "external_id", "created_at"],
    "turns": ["id", "domain_id", "session_id", "created_at"],
    "messages": ["id", "turn_id", "role", "content", "created_at"],
    "tool_calls": ["id", "turn_id", "name", "args", "result", "status", "created_at"],
    "refs": ["id", "turn_id", "ref_type", "ref_uri", "ref_meta", "created_at"],
    "summaries": ["id", "session_id", "version", "text", "source_from", "source_to"],
    "memory_items": [
        *["id", "domain_id", "scope_id", "type", "key", "value", "confidence", "status", "lifecycle_status"],
        *["source_session_id", "source_turn_id", "source_message_id", "valid_from", "valid_to", "recorded_at"],
    ],
    "memory_chunks": ["id", "item_id", "text", "meta"],
    "entities": ["id", "domain_id", "scope_id", "source_session_id", "kind", "canonical", "name"],
    "entity_aliases": ["entity_id", "alias"],
    "kg_edges": ["id", "domain_id", "scope_id", "source_session_id", "subject", "predicate", "object", "status"],
    "knowledge_events": ["id", "item_id", "kind", "from_status", "to_status", "reason", "created_at"],
}
# Memory scopes 0.2, section 4.2: the first columns of some index.
INDEXES = [
    ("memory_items", ["scope_id", "status", "lifecycle_status"]),
    ("memory_items", ["scope_id", "type", "key"]),
    ("kg_edges", ["scope_id", "status"]),
    ("entities", ["scope_id", "canonical", "kind"]),
    ("sessions", ["domain_id"]),
]
UNIQUE = [
    ("memory_scopes", ["domain_id", "scope_type", "external_id", "partition"]),
    ("sessions", ["scope_id"]),
    ("turns", ["session_id", "seq"]),
    ("session_scope_links", ["session_id", "scope_id"]),
    ("evidence_links", ["item_id", "kind", "ref", "role"]),
    ("entities", ["scope_id", "kind", "canonical_folded"]),
    ("idempotency_records", ["domain", "actor", "action", "key"]),
]


def indexed(table: str, *, unique: bool = False) -> Iterator[list[str]]:
    """The columns of every index of the table, or of those that hold each value once."""
    with connection.cursor() as cursor:
        found = connection.introspection.get_constraints(cursor, table)
    for constraint in found.values():
        if constraint["unique"] or (constraint["index"] and not unique):
            yield list(constraint["columns"])


def test_it_works() -> None:
    assert ["scope_id", "type", "key"] in list(indexed("memory_items"))
    assert ["scope_id", "confidence"] not in list(indexed("memory_items"))


@pytest.mark.parametrize("table", COLUMNS)
def test_a_table_of_the_documents_has_their_columns(table: str) -> None:
    with connection.cursor() as cursor:
        there = {column.name for column in connection.introspection.get_table_description(cursor, table)}
    assert set(COLUMNS[table]) - there == set()


@pytest.mark.parametrize(("table", "columns"), INDEXES)
def test_an_index_of_the_documents_is_there(table: str, columns: list[str]) -> None:
    assert any(found[: len(columns)] == columns for found in indexed(table))


@pytest.mark.parametrize(("table", "columns"), UNIQUE)
def test_what_must_be_one_of_a_kind_is_held_by_the_database(table: str, columns: list[str]) -> None:
    assert any(sorted(found) == sorted(columns) for found in indexed(table, unique=True))


@pytest.mark.parametrize(
    ("table", "name"),
    [
        ("memory_items", "memory_items_current_key"),
        ("memory_items", "memory_items_current_content"),
        ("kg_edges", "kg_edges_current"),
    ],
)
def test_one_current_row_of_a_kind_is_held_by_a_partial_index(table: str, name: str) -> None:
    if is_postgres():
        query = "SELECT indexdef FROM pg_indexes WHERE tablename = %s AND indexname = %s"
    else:
        query = "SELECT sql FROM sqlite_master WHERE tbl_name = %s AND name = %s"
    with connection.cursor() as cursor:
        cursor.execute(query, [table, name])
        (made,) = cursor.fetchone()
    assert "UNIQUE INDEX" in made
    assert "current_until" in made
    assert "IS NULL" in made
