"""SmartRAG's tables held against ours."""

from __future__ import annotations

from typing import Any

from django.db.models import Model

from legacy.contracts import SourceRow
from legacy.contracts.dated import day
from legacy.selectors.compared.shapes import (
    Comparison,
    Parent,
    Value,
    moment,
    number,
    other_than,
    text,
    within,
)
from media.models import (
    MediaJob,
    MediaObject,
    MediaObjectReference,
    SectionTag,
    SourceDocument,
    SourceSection,
    Tag,
    Topic,
    TopicSection,
    TopicTag,
)

_SECTION = Parent("section_id", "section_id", "source_sections", "source_sections")
_TAG = Parent("tag_id", "tag_id", "tags", "tags")
_TOPIC = Parent("research_topic_id", "topic_id", "research_topics", "research_topics")
# A run is the owner of what belonged to the older system itself.
_OWNER = text("principal", "owner_name", only=other_than("principal", "system"))
_STATES = {"0": "pending", "1": "completed", "2": "failed"}
_SHA256 = 64  # hexadecimal digits
_OF_DOCUMENT = ("document_id", "older_document_id")  # what a job's answer says of the document that it made


def _filed(model: type[Model], one: Parent, other: Parent) -> Comparison:
    """Links between two rows: no other value of them is kept here."""
    return Comparison(model, (), (one, other), key=(one.column, other.column))


def _hash(row: SourceRow) -> str:
    """A SHA-256 as it is written here; anything else as it is there."""
    given = row.text("content_hash").strip()
    digits = given.lower().removeprefix("sha256:")
    return digits if len(digits) == _SHA256 and set(digits) <= set("0123456789abcdef") else given


def _address(row: SourceRow) -> str:
    return row.text("source_uri").strip() or row.text("url").strip()


def _state(row: SourceRow) -> str:
    return _STATES.get(row.columns.get("download_state") or "0", "")


def _status(row: SourceRow) -> str:
    """What was in work waits again."""
    return "queued" if row.text("status") == "processing" else row.text("status")


def _status_here(target: Any, row: SourceRow) -> str:
    """A job that waited may be in work by now: no entry tells of it before it has ended."""
    return "queued" if target.status == "processing" and target.lease_token else str(target.status)


def _result(row: SourceRow) -> Any:
    return _beside_document(row.json("result"))


def _beside_document(result: Any) -> Any:
    if not isinstance(result, dict):
        return result
    return {name: value for name, value in result.items() if name not in _OF_DOCUMENT}


def _day(row: SourceRow) -> str | None:
    found = day(row, "publication_date")
    return found.isoformat() if found else None


LIBRARY: dict[str, Comparison] = {
    "source_documents": Comparison(
        SourceDocument,
        (text("title", empty=True), text("author", empty=True), text("description", empty=True),
         Value("language", "language", lambda row: row.text("language") or "en", empty=True),
         Value("publication_date", "publication_date", _day, empty=True),
         Value("download_state", "state", _state, empty=True),
         Value("source_type", "source_type", lambda row: row.text("source_type").strip(),
               only=lambda row: bool(row.text("source_type").strip())),
         Value("source_uri", "source_uri", _address, empty=True),
         Value("url", "source_uri", _address, empty=True, only=lambda row: "source_uri" not in row.columns),
         Value("content_hash", "content_hash", _hash, empty=True), within("metadata", "metadata"),
         moment("created_at"), moment("updated_at"), _OWNER),
        excuses={
            "title": ("it had no title",), "content_hash": ("its content_hash is no SHA-256",),
            "metadata": ("of its metadata,",),
            **dict.fromkeys(("source_uri", "url"),
                            ("another document has its address", "it is known by its older id")),
        },
        owner="owner_id",
    ),
    "source_sections": Comparison(
        SourceSection,
        (text("content"), text("section_title", "title", empty=True), number("section_number", "number"),
         within("metadata", "metadata"), moment("created_at")),
        (Parent("document_id", "document_id", "source_documents", "source_documents"),),
        excuses={"section_number": ("another section holds number",)},
    ),
    "tags": Comparison(
        Tag,
        (text("name"),),
        (Parent("parent_id", "parent_id", "tags", "tags", empty=True),),
        excuses={
            "name": ("it was written", "the same word as the tag"),
            "parent_id": ("it stands at the top", "the same word as the tag"),
        },
    ),
    "research_topics": Comparison(
        Topic,
        (text("name"), text("description", empty=True), moment("created_at")),
        excuses={"name": ("another topic has its name",)},
        owner="owner_id",
    ),
    "section_tags": _filed(SectionTag, _SECTION, _TAG),
    "research_topic_sections": _filed(TopicSection, _TOPIC, _SECTION),
    "research_topic_tags": _filed(TopicTag, _TOPIC, _TAG),
    "media_jobs": Comparison(
        MediaJob,
        (text("operation"), text("source", empty=True),
         Value("options", "options", lambda row: row.json("options") or {}, empty=True),
         text("idempotency_key", empty=True), number("max_attempts"),
         Value("status", "status", _status, seen=_status_here),
         Value("result", "result", _result, empty=True,
               seen=lambda target, row: _beside_document(target.result)),
         text("error", empty=True), moment("created_at"), _OWNER),
        excuses={
            "source": ("its source was",), "options": ("options left out:",),
            "idempotency_key": ("white space around its key", "another job has its key"),
        },
        owner="owner_id",
    ),
    "media_objects": Comparison(
        MediaObject,
        (Value("content_hash", "content_hash", _hash), number("byte_size")),
        excuses={"byte_size": ("byte_size was",)},
    ),
    "media_object_references": Comparison(
        MediaObjectReference,
        (moment("created_at"),),
        (Parent("media_object_id", "media_object_id", "media_objects", "media_objects"),
         Parent("document_id", "document_id", "source_documents", "source_documents")),
        excuses={"created_at": ("the document has these bytes already",)},
    ),
}  # fmt: skip
