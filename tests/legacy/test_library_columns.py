"""Every column of SmartRAG's tables, one by one: what it says here, or that it stays behind on purpose."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime
from pathlib import Path
from typing import Any

import psycopg
import pytest
from django.db.models import Model
from psycopg.rows import dict_row

from legacy.models import MigratedRow
from media.models import MediaJob, MediaObject, MediaObjectReference, SourceDocument, SourceSection, Tag, Topic
from tests.conftest import Player
from tests.legacy.judging import OWNER, move
from tests.legacy.sources import library, schema
from tests.legacy.sources.databases import source
from tests.legacy.sources.rows import Rows

STATES = {"pending": 0, "completed": 1, "failed": 2}
LEFT_BEHIND = object()  # what a worker, a folder or a counter of the older system alone could use
Here = Callable[[Any], Any]


def there_of(table: str, target: object) -> int:
    """The older id of a row here."""
    return int(MigratedRow.objects.get(target_table=table, target_id=str(target)).source_id)


def provenance(row: Any) -> dict[str, Any]:
    found: dict[str, Any] = row.metadata["provenance"]
    return found


def principal(row: Any) -> str:
    return "system" if row.owner_name == OWNER else row.owner_name


# Of each column what the row here says in the words of the older one.
COLUMNS: dict[str, tuple[type[Model], dict[str, Any]]] = {
    "source_documents": (SourceDocument, {
        "id": lambda row: int(provenance(row)["id"]), "title": "title", "url": lambda row: provenance(row)["url"],
        "author": "author", "publication_date": "publication_date", "language": "language",
        "description": "description", "download_state": lambda row: STATES[row.state], "created_at": "created_at",
        "updated_at": "updated_at", "source_type": "source_type", "source_uri": "source_uri",
        "content_hash": "content_hash", "principal": principal,
        "metadata": lambda row: {
            **{name: row.metadata[name] for name in ("media_type", "shelf", "path") if name in row.metadata}, **provenance(row).get("metadata", {})
        },
    }),
    "source_sections": (SourceSection, {
        "id": lambda row: there_of("source_sections", row.pk),
        "document_id": lambda row: there_of("source_documents", row.document_id), "content": "content",
        "section_title": "title", "section_number": "number", "created_at": "created_at",
        "updated_at": lambda row: parsed(row.metadata["updated_at"]),
        "metadata": lambda row: {name: told for name, told in row.metadata.items() if name != "updated_at"},
    }),
    "tags": (Tag, {
        "id": lambda row: there_of("tags", row.pk), "name": "name",
        "parent_id": lambda row: there_of("tags", row.parent_id) if row.parent_id else None, "created_at": LEFT_BEHIND,
    }),
    "research_topics": (Topic, {
        "id": lambda row: there_of("research_topics", row.pk), "name": "name", "description": "description",
        "created_at": "created_at",
    }),
    "media_jobs": (MediaJob, {
        "id": lambda row: there_of("media_jobs", row.pk), "operation": "operation", "source": "source",
        "options": "options", "status": "status", "attempts": "attempts", "max_attempts": "max_attempts",
        "result": lambda row: {"document_id": row.result["older_document_id"]} if row.result else None,
        "error": lambda row: row.error or None, "available_at": "available_at", "started_at": "started_at",
        "finished_at": "finished_at", "created_at": "created_at", "idempotency_key": "idempotency_key",
        "principal": principal, "staging_media_object_id": lambda row: there_of("media_objects", row.staging_object_id)
        if row.staging_object_id else None,
        "updated_at": LEFT_BEHIND, "lease_token": LEFT_BEHIND, "heartbeat_at": LEFT_BEHIND,
        "request_fingerprint": LEFT_BEHIND,
    }),
    "media_objects": (MediaObject, {
        "id": lambda row: there_of("media_objects", row.pk), "content_hash": "content_hash", "byte_size": "byte_size",
        "created_at": "created_at", "reference_count": lambda row: row.references.count(),
        "storage_uri": LEFT_BEHIND, "updated_at": LEFT_BEHIND,
    }),
    "media_object_references": (MediaObjectReference, {
        "id": lambda row: there_of("media_object_references", row.pk),
        "media_object_id": lambda row: there_of("media_objects", row.media_object_id),
        "document_id": lambda row: there_of("source_documents", row.document_id), "created_at": "created_at",
    }),
}  # fmt: skip


def parsed(text: str) -> datetime:
    return datetime.fromisoformat(text)


@pytest.fixture
def rows(tmp_path: Path) -> Rows:
    """A document with every column filled, its parts, its bytes, and a job of each end."""
    rows = Rows(9)
    text = "# Kilns\n\nCones bend 六号测温锥."
    made = library.document(
        rows, "Kilns 窑炉", text=text, url="https://example.org/kilns", description="How hot", source_type="file",
        metadata={"media_type": "document", "shelf": {"row": 3}, "path": "/srv/k.md", "semantic": {"odd": 1}},
        principal="ada", download_state=2,
    )  # fmt: skip
    rows["source_documents"][0]["updated_at"] = rows.tick(50)
    library.document(rows, "Second", text="second", url="https://example.org/second", description="d",
                     metadata={"media_type": "image", "shelf": None})  # fmt: skip
    part = library.section(rows, made, 4, text, metadata={"page": 2, "at": [1, 2]})
    part["updated_at"] = rows.tick(60)
    library.tag(rows, "heat")
    library.tag(rows, "kilns", parent_id=1)
    library.topic(rows, "Firing", "What the fire does")
    kept = library.keep(rows, made, text.encode(), tmp_path / "media")
    given: dict[str, Any] = {
        "idempotency_key": "k-{}",
        "principal": "ada",
        "options": {"title": "T", "nested": {"b": [2, 1]}},
    }
    for number, status in enumerate(("queued", "completed", "failed", "canceled")):
        columns = {**given, "idempotency_key": f"k-{number}", "attempts": number, "max_attempts": 5 + number}
        library.job(rows, f"https://example.org/{status}", status, **columns)
    rows["media_jobs"][0]["staging_media_object_id"] = kept["id"]
    rows["media_jobs"][0]["source"] = kept["storage_uri"]
    return rows


def test_it_works(postgres: str, older: Player, rows: Rows, tmp_path: Path) -> None:
    """No column of these tables is forgotten here, and each says the same on both sides."""
    with source(postgres, rows, ddl=schema.RAG_EARLY + schema.RAG_LATE) as made:
        figures = move(made, media=tmp_path / "media")
        assert figures["reasons"] == {}
        with psycopg.connect(made.url, row_factory=dict_row) as connection:
            for table, (model, columns) in COLUMNS.items():
                found = connection.execute(f"SELECT * FROM {table} ORDER BY id").fetchall()
                assert found, table
                assert set(found[0]) == set(columns), table
                for row in found:
                    told = MigratedRow.objects.get(source_table=table, source_id=str(row["id"]))
                    target = model._default_manager.get(pk=told.target_id)
                    for column, there in row.items():
                        same(table, column, there, columns[column], target)


def same(table: str, column: str, there: Any, how: Any, target: Any) -> None:
    if how is LEFT_BEHIND:
        return
    here = how(target) if callable(how) else getattr(target, how)
    if table == "media_jobs" and column == "source" and target.staging_object_id:
        assert there in MigratedRow.objects.get(target_id=str(target.pk)).note
        return
    if column == "available_at" and target.status == "queued":  # it waits from when it came here
        assert here > there
        return
    assert here == (there if there is not None or here is None else ""), (table, column)
