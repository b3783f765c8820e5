"""What rows of SmartRAG say: their mapping alone, without a database."""

from __future__ import annotations

import json
from datetime import UTC, date, datetime
from pathlib import Path
from typing import Any
from uuid import RFC_4122

import pytest

from legacy.contracts import Quarantined, Reason, SourceRow
from legacy.contracts.dated import dated_id, day
from legacy.services import batches
from legacy.steps import documents, jobs, objects, sections, tags, topics
from legacy.steps.metadata import document_metadata
from legacy.steps.principals import principal_of
from media.contracts.metadata import CONTENT, DocumentMetadata
from media.contracts.retrieval.pack import PackMetadata

HASH = "ab" * 32
AT = datetime(2025, 4, 2, 9, 30, tzinfo=UTC)


def a_row(table: str, row_id: str = "7", place: tuple = (), **columns: str | None) -> SourceRow:
    return SourceRow(table, row_id, {"id": row_id, **columns}, place)


def a_document(**columns: str | None) -> SourceRow:
    given: dict[str, Any] = {
        "title": "Kilns", "url": None, "author": "Ada", "publication_date": "2024-11-05", "language": "zh_cn",
        "description": "On kilns", "download_state": "1", "created_at": "2025-04-02 09:30:00+00",
        "updated_at": "2025-04-03 09:30:00+00", "metadata": "{}", "source_type": "file",
        "source_uri": "/srv/docs/7.md", "content_hash": HASH, "principal": "system",
    }  # fmt: skip
    return a_row("source_documents", **{**given, **columns})


def a_job(**columns: str | None) -> SourceRow:
    given: dict[str, Any] = {
        "operation": "add_document", "source": "https://example.org/a.md", "options": '{"title": "A"}',
        "status": "completed", "attempts": "1", "max_attempts": "3", "result": '{"document_id": 4}', "error": None,
        "available_at": "2025-04-02 09:30:00+00", "started_at": "2025-04-02 09:30:01+00",
        "finished_at": "2025-04-02 09:30:02+00", "created_at": "2025-04-02 09:30:00+00",
        "updated_at": "2025-04-02 09:30:02+00", "idempotency_key": "k", "principal": "system",
    }  # fmt: skip
    return a_row("media_jobs", **{**given, **columns})


def why(mapping, row: SourceRow) -> Reason:
    with pytest.raises(Quarantined) as caught:
        mapping(row)
    return caught.value.reason


def test_it_works():
    said = documents.mapped(a_document())
    assert (said.title, said.author, said.language, said.published) == ("Kilns", "Ada", "zh_cn", date(2024, 11, 5))
    assert (said.uri, said.content_hash, said.state) == ("/srv/docs/7.md", HASH, "completed")
    assert (said.created_at, said.notes) == (AT, ())


@pytest.mark.parametrize(
    ("columns", "reason"),
    [
        ({"download_state": "7"}, Reason.UNKNOWN_STATUS),
        ({"download_state": "-1"}, Reason.UNKNOWN_STATUS),
        ({"download_state": "x"}, Reason.BAD_NUMBER),
        ({"source_type": "telegraph"}, Reason.UNKNOWN_TYPE),
        ({"source_uri": "u" * 2_001}, Reason.TEXT_TOO_LONG),
        ({"title": "t" * 256}, Reason.TEXT_TOO_LONG),
        ({"title": "a\x00b"}, Reason.NUL),
        ({"author": "\udc80"}, Reason.BAD_ENCODING),
        ({"metadata": "[1]"}, Reason.NOT_AN_OBJECT),
        ({"metadata": '{"n": 1e400}'}, Reason.BAD_JSON),
        ({"publication_date": "infinity"}, Reason.BAD_TIME),
        ({"publication_date": "0044-03-15 BC"}, Reason.BAD_TIME),
        ({"created_at": "-infinity"}, Reason.BAD_TIME),
        ({"principal": " ada"}, Reason.BAD_ID),
        ({"principal": "a" * 101}, Reason.BAD_ID),
        ({"principal": "ad\u200ba"}, Reason.BAD_ID),
    ],
)
def test_a_document_that_cannot_be_taken_says_why(columns, reason):
    assert why(documents.mapped, a_document(**columns)) is reason


def test_a_document_of_the_first_migrations_has_defaults():
    row = a_row("source_documents", title="Old", url="https://example.org/old", language="en", download_state="2")
    said = documents.mapped(row)
    assert (said.principal, said.uri, said.source_type) == ("system", "https://example.org/old", "url")
    assert (said.state, said.content_hash, said.metadata) == ("failed", "", {})
    assert documents.mapped(a_row("source_documents", title="  ")).title == "Untitled"


@pytest.mark.parametrize(
    ("text", "found"),
    [(HASH, HASH), (f"sha256:{HASH.upper()}", HASH), ("", ""), ("ab" * 16, ""), ("zz" * 32, ""), ("../" + HASH, "")],
)
def test_only_a_sha256_is_a_hash(text, found):
    assert documents.sha256_of(text) == found


def test_what_a_document_says_beside_is_kept():
    said = documents.mapped(a_document(url="https://example.org/7", content_hash="md5:1", more="x"))
    aside = {"content_hash": "md5:1", "more": "x", "principal": "system", "url": "https://example.org/7"}
    assert said.provenance == aside
    assert said.notes == ("its content_hash is no SHA-256",)
    assert documents.mapped(a_document(content_hash=HASH.upper())).notes == ("content_hash is written otherwise",)


FIRST = {"path": "/srv/in/plan.md", "size": 120, "type": "text/markdown", "mtime": "2025-01-01", "keywords": ["a"]}
SECOND = {
    "schema_version": 1, "media_type": "video", "principal": "ada", "content_hash": HASH, "storage_uri": "/srv/x",
    "media": {"format": "mp4", "width": 640, "height": None, "exif": {}, "fps": 25.0, "aspect": "4:3"},
    "semantic": {"description": None, "captions": ["hello"], "tags": ["a"], "mood": "calm"},
    "content": "hello", "file_name": "a.mp4", "mine": {"x": 1},
}  # fmt: skip


def test_metadata_of_the_first_shape():
    told = document_metadata(FIRST, {"id": "7"})
    assert DocumentMetadata.parse(told).media_type == "document"
    assert (told["file_name"], told["file_size"], told["file_type"]) == ("plan.md", 120, "text/markdown")
    assert told["keywords"] == ["a"]
    assert told["provenance"] == {"id": "7"}


def test_metadata_of_the_shape_of_media():
    told = document_metadata(SECOND, {"id": "7"})
    assert told["media"] == {"format": "mp4", "width": 640, "height": None, "exif": {}, "fps": 25.0}
    assert told["semantic"] == {"description": None, "captions": ["hello"], "tags": ["a"]}
    assert (told["media_type"], told["content"], told["file_name"], told["mine"]) == (
        "video",
        "hello",
        "a.mp4",
        {"x": 1},
    )
    assert told["provenance"]["metadata"] == {
        "principal": "ada",
        "content_hash": HASH,
        "storage_uri": "/srv/x",
        "media": {"aspect": "4:3"},
        "semantic": {"mood": "calm"},
    }


@pytest.mark.parametrize(
    "old",
    [
        {"media_type": "hologram"},
        {"media_type": ["image"]},
        {"media": "big"},
        {"media": {"width": "wide", "exif": {"gps": {"lat": 300, "lon": 0}}}},
        {"semantic": {"captions": "one", "tags": [1]}},
        {"schema_version": "one", "file_size": "big", "content": 7, "file_name": None},
        {"provenance": "mine", "owner": "x", "title": "t"},
        {"content": "c" * (CONTENT + 1)},
    ],
)
def test_nothing_of_metadata_that_does_not_fit_is_lost(old):
    told = document_metadata(old, {})
    DocumentMetadata.parse(told)
    assert told["provenance"]["metadata"] == old


def test_metadata_nested_too_deep_is_refused():
    deep: dict = {}
    for _ in range(600):
        deep = {"a": deep}
    with pytest.raises(Quarantined) as caught:
        document_metadata({"mine": deep}, {})
    assert caught.value.reason is Reason.BAD_JSON


def test_a_section_is_whole():
    row = a_row(
        "source_sections", document_id="3", content="The kiln", section_title="Heat", section_number="2", more="x",
        metadata='{"page": 4, "start_ms": 1500, "speaker": "Ada"}', created_at="2025-04-02 09:30:00+00",
    )  # fmt: skip
    said = sections.mapped(row)
    assert (said.document, said.number, said.title, said.content, said.note) == ("3", 2, "Heat", "The kiln", "")
    assert said.metadata == {"page": 4, "start_ms": 1500, "speaker": "Ada", "more": "x"}
    PackMetadata.model_validate({"page": said.metadata["page"], "start_ms": said.metadata["start_ms"]})


@pytest.mark.parametrize(
    ("given", "place", "number", "note"),
    [
        ("2", (3, 2), 2, ""),
        ("2", (3, 9), 9, "another section holds number 2: it has 9"),
        (None, (3, 9), 9, "it had no number: it has 9"),
    ],
)
def test_a_number_held_by_another_section_is_given_anew(given, place, number, note):
    row = a_row("source_sections", place=place, document_id="3", content="", section_number=given)
    said = sections.mapped(row)
    assert (said.number, said.note) == (number, note)


@pytest.mark.parametrize(
    ("columns", "reason"),
    [
        ({"content": None}, Reason.MISSING_VALUE),
        ({"document_id": None}, Reason.MISSING_VALUE),
        ({"section_number": "-1"}, Reason.BAD_NUMBER),
        ({"section_number": None}, Reason.BAD_NUMBER),
        ({"section_title": "t" * 501}, Reason.TEXT_TOO_LONG),
        ({"metadata": '"x"'}, Reason.NOT_AN_OBJECT),
        ({"created_at": "infinity"}, Reason.BAD_TIME),
        ({"content": "a\x00"}, Reason.NUL),
    ],
)
def test_a_section_that_cannot_be_taken_says_why(columns, reason):
    given = {"document_id": "3", "content": "x", "section_number": "1", **columns}
    assert why(sections.mapped, a_row("source_sections", **given)) is reason


def a_tree(*pairs: tuple[str, str | None]) -> list[SourceRow]:
    return [a_row("tags", row_id, (None,), name=row_id, parent_id=parent) for row_id, parent in pairs]


@pytest.mark.parametrize(
    ("pairs", "order"),
    [
        ((("1", "2"), ("2", "1")), "12"),
        ((("1", "1"),), "1"),
        ((("1", "3"), ("2", "3"), ("3", "4"), ("4", "3")), "3124"),
        ((("1", "2"), ("2", "9")), "21"),
        ((("5", "6"), ("6", "5"), ("7", "8"), ("8", "7")), "5678"),
        ((), ""),
    ],
)
def test_a_circle_of_tags_is_opened_and_every_tag_comes_once(pairs, order):
    assert "".join(row.id for row in tags.opened_circles(a_tree(*pairs))) == order


def test_a_long_circle_is_opened_in_time():
    many = 20_000
    rows = a_tree(*((str(n), str((n + 1) % many)) for n in range(many)))
    assert len(tags.opened_circles(rows)) == many


@pytest.mark.parametrize(("name", "reason"), [(None, Reason.MISSING_VALUE), ("  ", Reason.MISSING_VALUE)])
def test_a_tag_or_topic_without_a_name_says_why(name, reason):
    assert why(tags.mapped, a_row("tags", name=name)) is reason
    assert why(topics.mapped, a_row("research_topics", name=name)) is reason


def test_a_tag_is_compared_folded():
    assert tags.mapped(a_row("tags", name=" ＨＡＲ  bor ")).folded == "har bor"


def test_a_job_is_whole():
    said = jobs.mapped(a_job())
    assert (said.operation, said.source, said.options) == ("add_document", "https://example.org/a.md", {"title": "A"})
    assert (said.was, said.status, said.key, said.document, said.notes) == ("completed", "completed", "k", "4", ())


def test_a_job_in_work_waits_again():
    said = jobs.mapped(a_job(status="processing", finished_at=None, result=None))
    assert (said.status, said.finished_at) == ("queued", None)
    assert said.notes == ("it was processing: it waits again",)


def test_how_a_job_was_called_is_no_part_of_what_it_asks():
    options = {"title": "A", "async": True, "idempotency_key": "k", "staging_media_object_id": 3}
    said = jobs.mapped(a_job(options=json.dumps(options)))
    assert said.options == {"title": "A"}
    assert said.notes == ("options left out: async, idempotency_key, staging_media_object_id",)


@pytest.mark.parametrize(
    ("columns", "reason"),
    [
        ({"operation": "add_hologram"}, Reason.UNKNOWN_OPERATION),
        ({"status": "sleeping"}, Reason.UNKNOWN_STATUS),
        ({"options": "[]"}, Reason.NOT_AN_OBJECT),
        ({"result": '"done"'}, Reason.NOT_AN_OBJECT),
        ({"source": "s" * 2_001}, Reason.TEXT_TOO_LONG),
        ({"available_at": "infinity"}, Reason.BAD_TIME),
        ({"attempts": "-1"}, Reason.BAD_NUMBER),
        ({"attempts": "40000"}, Reason.BAD_NUMBER),
        ({"idempotency_key": "k" * 129}, Reason.TEXT_TOO_LONG),
    ],
)
def test_a_job_that_cannot_be_taken_says_why(columns, reason):
    assert why(jobs.mapped, a_job(**columns)) is reason


@pytest.mark.parametrize(
    ("source", "options", "able"),
    [
        ("https://example.org/a.md", "{}", True),
        ("", '{"text": "words"}', True),
        ("/srv/in/a.md", "{}", False),
        ("s3://bucket/a", "{}", False),
        ("https://example.org/a.md", '{"unknown": 1}', False),
    ],
)
def test_a_job_that_nobody_here_can_do_says_so(source, options, able):
    said = jobs.mapped(a_job(source=source, options=options))
    assert (jobs.unreadable(said, said.source) == "") is able


@pytest.mark.parametrize(("content_hash", "reason"), [("not-a-hash", Reason.BAD_ID), ("../../x", Reason.BAD_ID)])
def test_an_object_without_a_hash_says_why(content_hash, reason):
    assert why(objects.mapped, a_row("media_objects", content_hash=content_hash, byte_size="1")) is reason


def test_a_count_of_references_that_lies_is_told():
    given = {"content_hash": HASH, "byte_size": "1", "reference_count": "41"}
    assert objects.mapped(a_row("media_objects", place=(1,), **given)).notes == ("it counted 41 references and had 1",)
    assert objects.mapped(a_row("media_objects", place=(41,), **given)).notes == ()


def test_a_file_is_found_by_its_hash_or_by_its_address_and_never_outside(tmp_path: Path):
    root, secret = tmp_path / "media", tmp_path / "secret"
    place = root / HASH[:2] / HASH[2:4] / f"{HASH}.md"
    place.parent.mkdir(parents=True)
    (root / "named").mkdir()
    (root / "named" / "a b.md").write_text("x")
    secret.write_text("x")
    (root / "link").symlink_to(secret)
    assert objects.found_file(root, HASH, "") is None
    assert objects.found_file(root, HASH, "file:///srv/media/named/%00b.md") is None
    assert objects.found_file(root, HASH, "file:///srv/media/named/a%20b.md") == root / "named" / "a b.md"
    for address in (
        "../secret",
        str(secret),
        "/link",
        "s3://bucket/link",
        "x/\x00",
        "/" * 5000,
        "http://[",
        "a/" * 900,
    ):
        assert objects.found_file(root, HASH, address) is None
    place.write_text("x")
    assert objects.found_file(root, HASH, "/srv/media/named/a%20b.md") == place


def test_ids_stand_in_the_order_of_time_and_are_the_same_each_time():
    row = a_row("source_documents")
    early, late = dated_id(row, AT), dated_id(a_row("source_documents", "3"), datetime(2026, 1, 1, tzinfo=UTC))
    assert (early.version, early.variant) == (7, RFC_4122)
    assert early < late
    assert early == dated_id(row, AT)
    assert early != dated_id(a_row("media_jobs"), AT)
    assert dated_id(row, None) < early
    assert dated_id(row, datetime(1, 1, 1, tzinfo=UTC)).int >> 80 == 0
    own = "0f1e2d3c-4b5a-4697-8899-aabbccddeeff"
    assert str(dated_id(a_row("source_documents", own), AT)) == own


def test_a_day_may_be_written_as_a_moment():
    assert day(a_row("t", at="2024-11-05 23:30:00-05"), "at") == date(2024, 11, 6)
    assert day(a_row("t", at=None), "at") is None


@pytest.mark.parametrize(("size", "lengths"), [(2, [2, 2, 1]), (10, [3, 2]), (1, [1] * 5)])
def test_a_batch_ends_at_its_rows_or_at_its_weight(monkeypatch, size, lengths):
    monkeypatch.setattr(batches, "MOST", 25)
    rows = (a_row("source_sections", str(n), content="x" * 8) for n in range(5))
    assert [len(batch) for batch in batches.batches(rows, size)] == lengths


def test_whoever_called_without_a_token_was_system():
    assert principal_of(a_row("t")) == principal_of(a_row("t", principal="")) == "system"
    assert principal_of(a_row("t", principal="ada")) == "ada"
