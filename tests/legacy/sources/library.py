"""A library of SmartRAG: documents with sections, tags, topics, jobs, and objects with their bytes on disk."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path
from typing import Any

from tests.legacy.sources.rows import Raw, Row, Rows

TEXTS = (
    ("Runbook of the harbor", "en", "Restart the crane service before the tide table is read."),
    ("码头手册", "zh", "读取潮汐表之前，先重新启动起重机服务。"),
    ("Notes on kilns", "en", "Cones bend at cone six when the kiln holds its heat for twenty minutes."),
    ("窑炉笔记", "zh", "窑炉保温二十分钟后，六号测温锥会弯曲。"),
)


def collect(rows: Rows, documents: int, sections: int, media: Path | None, *, late: bool = True) -> None:
    """So many documents; every second one has bytes under `media`, laid out as the older store did. `late`: with the
    columns of migrations 015 to 017."""
    tags = [tag(rows, name) for name in ("harbor", "窑炉", "safety")]
    tag(rows, "cranes", parent_id=tags[0]["id"])
    topics = [topic(rows, "Maintenance", "What keeps running"), topic(rows, "陶艺", None)]
    rows.add("research_topic_tags", research_topic_id=topics[0]["id"], tag_id=tags[0]["id"], created_at=rows.tick(1))
    for number in range(documents):
        title, language, text = TEXTS[number % len(TEXTS)]
        made = document(rows, f"{title} {number}", text=f"{text} {number}", language=language, late=late)
        for place in range(1, sections + 1):
            part = section(rows, made, place, f"{text} {number}.{place}")
            if place == 1:
                rows.add("section_tags", section_id=part["id"], tag_id=tags[number % 3]["id"], created_at=rows.tick(1))
                rows.add(
                    "research_topic_sections", research_topic_id=topics[number % 2]["id"], section_id=part["id"],
                    created_at=rows.tick(1),
                )  # fmt: skip
        if media is not None and number % 2 == 0:
            keep(rows, made, f"{text} {number}\n".encode(), media)
    _local(rows)
    for status in ("queued", "completed", "partial", "failed", "canceled"):
        job(rows, f"https://docs.example.org/{status}.md", status, late=late)


def document(rows: Rows, title: str, *, text: str, language: str = "en", late: bool = True, **columns: Any) -> Row:
    number, at = rows.number("source_documents"), rows.tick(3)
    given = {
        "url": None, "author": "Ada", "publication_date": "2024-11-05", "description": None, "download_state": 1,
        "created_at": at, "updated_at": at, "metadata": {"media_type": "document", "pages": 3}, "source_type": "file",
        "source_uri": f"/srv/docs/{number}.md", "content_hash": hashlib.sha256(text.encode()).hexdigest(),
        **({"principal": "system"} if late else {}), **columns,
    }  # fmt: skip
    return rows.add("source_documents", id=number, title=title, language=language, **given)


def section(rows: Rows, of: Row, place: int, content: str, **columns: Any) -> Row:
    number, at = rows.number("source_sections"), rows.tick(1)
    given = {
        "section_title": f"Part {place}",
        "created_at": at,
        "updated_at": at,
        "metadata": {"page": place},
        **columns,
    }
    return rows.add("source_sections", id=number, document_id=of["id"], content=content, section_number=place, **given)


def tag(rows: Rows, name: str, parent_id: int | None = None) -> Row:
    return rows.add("tags", id=rows.number("tags"), name=name, parent_id=parent_id, created_at=rows.tick(1))


def topic(rows: Rows, name: str, description: str | None) -> Row:
    number = rows.number("research_topics")
    return rows.add("research_topics", id=number, name=name, description=description, created_at=rows.tick(1))


def keep(rows: Rows, of: Row | None, content: bytes, media: Path, *, suffix: str = ".md", **columns: Any) -> Row:
    """An object with its bytes at `aa/bb/<sha256><suffix>`, as content that a document refers to."""
    digest = hashlib.sha256(content).hexdigest()
    path = media / digest[:2] / digest[2:4] / f"{digest}{suffix}"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content)
    at = rows.tick(1)
    given = {
        "content_hash": digest, "storage_uri": str(path), "byte_size": len(content),
        "reference_count": int(of is not None), "created_at": at, "updated_at": at, **columns,
    }  # fmt: skip
    row = rows.add("media_objects", id=rows.number("media_objects"), **given)
    if of is not None:
        refer(rows, row, of)
    return row


def refer(rows: Rows, media_object: Row, of: Row) -> Row:
    return rows.add(
        "media_object_references", id=rows.number("media_object_references"), media_object_id=media_object["id"],
        document_id=of["id"], created_at=rows.tick(1),
    )  # fmt: skip


def job(rows: Rows, source: str, status: str, *, late: bool = True, **columns: Any) -> Row:
    at, done = rows.tick(5), status not in ("queued", "processing")
    given = {
        "operation": "add_document", "options": {"title": source.rpartition("/")[2], "tags": ["b", "a"]},
        "attempts": int(status != "queued"), "max_attempts": 3, "result": {"document_id": 1} if done else None,
        "error": "Net::OpenTimeout: execution expired" if status == "failed" else None, "available_at": at,
        "started_at": at if status != "queued" else None, "finished_at": rows.tick(9) if done else None,
        "created_at": at, "updated_at": at, **columns,
    }  # fmt: skip
    row = {"id": rows.number("media_jobs"), "source": source, "status": status, **given}
    if late:
        defaults = {"idempotency_key": None, "principal": "system", "lease_token": None, "heartbeat_at": None}
        row = {**row, **defaults, "staging_media_object_id": None, "request_fingerprint": fingerprint(row), **columns}
    rows["media_jobs"].append(row)
    return row


def fingerprint(row: Row) -> str:
    """As the older system made it: SHA-256 over compact JSON, mapping keys sorted, arrays as they are."""
    asked = {name: row[name] for name in ("operation", "source", "options")}
    text = json.dumps(asked, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
    return hashlib.sha256(text.encode()).hexdigest()


def _local(rows: Rows) -> None:
    """What is derived or local, and stays behind."""
    at = rows.tick(1)
    rows.add("text_search_configs", language_code="zh", config_name="jiebacfg", is_installed=True)
    first = rows["source_sections"][0]
    rows.add("section_fts", section_id=first["id"], document_id=first["document_id"], language="en")
    rows.add("embeddings", id=1, source_id=first["id"], vector=Raw("{0.5,0.25}"), created_at=at)
    rows.add(
        "search_logs", id=1, query="crane", search_type="hybrid", execution_time_ms=4, results_count=1, created_at=at
    )
    rows.add("api_rate_limits", id=1, principal="system", period="minute", window_start=at, updated_at=at)
