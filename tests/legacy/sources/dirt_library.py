"""Every kind of dirt that SmartRAG's older schema lets in, each row sealed with what must become of it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from tests.legacy.sources.dirt import OVERFLOW
from tests.legacy.sources.library import document, job, keep, refer, section, tag, topic
from tests.legacy.sources.manifest import Manifest, bad, changed, rival, told
from tests.legacy.sources.rows import Raw, Rows

UNICODE_TWIN = "ＨＡＲＢＯＲ"  # of the tag `harbor`


def soil_library(rows: Rows, manifest: Manifest, media: Path | None) -> None:
    """Documents, sections, tags, jobs and objects with everything wrong that can be."""
    bad_documents(rows, manifest)
    bad_tags(rows, manifest)
    bad_jobs(rows, manifest)
    if media is not None:
        bad_objects(rows, manifest, media)


def bad_documents(rows: Rows, manifest: Manifest) -> None:
    cases: tuple[tuple[str, dict[str, Any], tuple[str, ...]], ...] = (
        ("created at infinity", {"created_at": Raw("infinity")}, ("bad_time",)),
        ("metadata is a list", {"metadata": ["x"]}, ("not_an_object",)),
        ("metadata holds a float beyond every float", {"metadata": OVERFLOW}, ("bad_json",)),
        ("no such state", {"download_state": 7}, ("unknown_status", "bad_number")),
        ("no such source type", {"source_type": "telegraph"}, ("unknown_type",)),
        ("an address of 2,001 characters", {"source_uri": "u" * 2_001}, ("text_too_long",)),
        ("published at infinity", {"publication_date": Raw("infinity")}, ("bad_time",)),
    )
    for at, (why, columns, reasons) in enumerate(cases):
        made = document(rows, f"Soiled {at}", text=f"soiled {at}", **columns)
        manifest.seal("source_documents", made, bad(why, *reasons))
        part = section(rows, made, 1, f"of a soiled document {at}")
        manifest.seal("source_sections", part, bad("its document is in the quarantine", "parent_quarantined"))
    twins = [document(rows, f"Twin {at}", text="twins", source_uri="/srv/docs/twin.md") for at in range(2)]
    for made in twins:
        manifest.seal("source_documents", made, rival("one owner, one address, two documents", "duplicate"))
    manifest.rivals.append(("source_documents", tuple(str(made["id"]) for made in twins)))
    held = document(rows, "Its sections are soiled", text="soiled sections")
    section(rows, held, 1, "whole")
    row = section(rows, held, 1, "the same number again")
    manifest.seal("source_sections", row, told("two sections hold number 1", "duplicate"))
    row = section(rows, held, -1, "before the first")
    manifest.seal("source_sections", row, told("number -1", "bad_number"))
    row = section(rows, held, 5, "metadata is a list", metadata=["x"])
    manifest.seal("source_sections", row, bad("metadata is no object", "not_an_object"))
    row = section(rows, held, 6, "out of time", created_at=Raw("infinity"))
    manifest.seal("source_sections", row, bad("created at infinity", "bad_time"))
    section(rows, held, 7, "")  # an empty section is a section


def bad_tags(rows: Rows, manifest: Manifest) -> None:
    twin = tag(rows, UNICODE_TWIN)
    manifest.seal("tags", twin, told("the same word after folding", "duplicate"))
    blank = tag(rows, "  ")
    manifest.seal("tags", blank, bad("a word without letters", "missing_value", "bad_id"))
    circle = [tag(rows, "ouroboros"), tag(rows, "snake")]
    for one, other in (circle, circle[::-1]):
        one["parent_id"] = other["id"]
    for row in circle:
        manifest.seal("tags", row, told("a circle of parents", "orphan", "not_storable", "parent_quarantined"))
    again = topic(rows, "ｍaintenance", "the same name after folding")
    manifest.seal("research_topics", again, told("the same name after folding", "duplicate"))
    timeless = rows.add(
        "section_tags",
        section_id=rows["source_sections"][1]["id"],
        tag_id=rows["tags"][0]["id"],
        created_at=Raw("infinity"),
    )
    manifest.seal("section_tags", timeless, told("a link out of time, of which no time is kept", "bad_time"))


def bad_jobs(rows: Rows, manifest: Manifest) -> None:
    running = job(
        rows, "https://docs.example.org/running.md", "processing", lease_token="t" * 64, heartbeat_at=rows.tick()
    )
    manifest.seal("media_jobs", running, changed("processing: it waits again"))
    cases: tuple[tuple[str, dict[str, Any], tuple[str, ...]], ...] = (
        ("no such operation", {"operation": "add_hologram"}, ("unknown_operation",)),
        ("no such status", {"status": "sleeping"}, ("unknown_status",)),
        ("options are a list", {"options": ["x"]}, ("not_an_object",)),
        ("a source of 2,001 characters", {"source": "s" * 2_001}, ("text_too_long",)),
        ("due at infinity", {"available_at": Raw("infinity")}, ("bad_time",)),
        ("attempts below none", {"attempts": -1}, ("bad_number",)),
        ("its result is a text", {"status": "completed", "result": Raw('"done"')}, ("not_an_object",)),
    )
    for at, (why, columns, reasons) in enumerate(cases):
        given: dict[str, Any] = {"source": f"https://docs.example.org/soiled-{at}.md", "status": "queued", **columns}
        row = job(rows, given.pop("source"), given.pop("status"), **given)
        manifest.seal("media_jobs", row, bad(why, *reasons))


def bad_objects(rows: Rows, manifest: Manifest, media: Path) -> None:
    """Bytes that are gone, other bytes than the hash says, a count that lies, bytes in a bucket."""
    held = document(rows, "Its bytes are gone", text="gone bytes")
    gone = keep(rows, held, b"gone", media)
    Path(gone["storage_uri"]).unlink()
    manifest.seal("media_objects", gone, bad("its file is not there", "bytes_missing"))
    manifest.seal(
        "media_object_references",
        rows["media_object_references"][-1],
        bad("of bytes kept aside", "parent_quarantined"),
    )
    other = keep(rows, None, b"what they were", media)
    Path(other["storage_uri"]).write_bytes(b"what they are")
    manifest.seal("media_objects", other, bad("other bytes than its hash says", "bytes_differ"))
    counted = keep(rows, held, b"counted wrongly", media, reference_count=41)
    manifest.seal("media_objects", counted, changed("says 41 references and has one"))
    bucket = keep(rows, None, b"in a bucket", media, storage_uri="s3://smart-rag/media/in-a-bucket")
    Path(media / bucket["content_hash"][:2] / bucket["content_hash"][2:4] / f"{bucket['content_hash']}.md").unlink()
    manifest.seal("media_objects", bucket, bad("in a bucket, not under the folder", "bytes_missing"))
    odd = keep(rows, None, b"no hash", media, content_hash="not-a-hash")
    manifest.seal("media_objects", odd, bad("its hash is none", "bad_id", "bytes_missing", "bytes_differ"))
    climbing = keep(
        rows, None, b"climbing", media, content_hash="../../../etc/passwd", storage_uri="../../../etc/passwd"
    )
    manifest.seal(
        "media_objects", climbing, bad("a path out of the folder", "bad_id", "bytes_missing", "bytes_differ")
    )
    shared = keep(rows, held, b"shared by two", media, reference_count=2)
    refer(rows, shared, rows["source_documents"][0])
    unused = keep(rows, None, b"unused", media)
    assert unused["reference_count"] == 0
