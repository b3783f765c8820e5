"""SmartRAG's stored bytes and jobs moved in: bytes whose hash is true, and jobs that wait, run or are known again."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta
from io import StringIO
from pathlib import Path
from uuid import UUID

from django.core.management import call_command

from kernel import clock
from media.actions import working
from media.models import MediaJob, MediaObject
from media.storage import store
from tests.doors.http import Http
from tests.legacy.smart_rag import LATE, SMART_RAG, fate, here, move, moved, own_place, owner, rows, searched
from tests.legacy.sources import library
from tests.legacy.sources.databases import source

__all__ = ["own_place", "owner", "rows"]


def test_bytes_without_their_folder_wait_and_come_along_later(postgres, owner, rows, tmp_path):
    folder = tmp_path / "older"
    made = library.document(rows, "Kept", text="kept")
    kept = library.keep(rows, made, b"the bytes", folder)
    with moved(postgres, rows) as there:
        assert fate("media_objects", kept["id"]).reason == "bytes_missing"
        assert fate("media_object_references", 1).reason == "parent_quarantined"
        assert not MediaObject.objects.exists()
        told = move(there, "--dry-run", media=folder)
        assert told["tables"]["media_objects"] == {"read": 1, "migrated": 1}
        assert not MediaObject.objects.exists()
        assert not store().exists(kept["content_hash"])
        move(there, media=folder)
    row = MediaObject.objects.get(pk=here("media_objects", kept))
    assert (row.content_hash, row.byte_size, row.reference_count) == (kept["content_hash"], 9, 1)
    assert b"".join(store().stream(row.content_hash)) == b"the bytes"
    assert row.references.get().document_id == UUID(here("source_documents", made))


def test_bytes_are_taken_only_where_their_hash_is_true(postgres, owner, rows, tmp_path):
    folder = tmp_path / "older"
    kept = library.keep(rows, None, b"what they were", folder)
    Path(kept["storage_uri"]).write_bytes(b"what they are")
    sized = library.keep(rows, None, b"sized", folder, byte_size=99)
    with moved(postgres, rows, media=folder):
        pass
    assert fate("media_objects", kept["id"]).reason == "bytes_differ"
    assert fate("media_objects", sized["id"]).note == "byte_size was 99"
    assert MediaObject.objects.get().byte_size == 5


def test_the_same_key_and_payload_give_the_old_job(postgres, owner, rows):
    asked = {"title": "Plan", "tags": ["b", "a"], "description": "计划"}
    old = library.job(
        rows, "https://docs.example.org/plan.md", "completed", idempotency_key="k-1", options={**asked, "async": True}
    )
    waiting = library.job(rows, "https://docs.example.org/next.md", "queued", idempotency_key="k-2", options=asked)
    with moved(postgres, rows):
        pass
    http = Http(owner.key)
    body = {"operation": "add_document", "source": old["source"], "options": {**asked, "async": True}}
    told = http.post("media", body, Idempotency_Key="k-1").json()
    assert (told["job_id"], told["deduplicated"], told["status"]) == (here("media_jobs", old), True, "completed")
    body = {"operation": "add_document", "source": waiting["source"], "idempotency_key": "k-2"}
    told = http.post("media", {**body, "options": {"async": True, "tags": ["b", "a"], **asked}}).json()
    assert (told["job_id"], told["deduplicated"], told["status"]) == (here("media_jobs", waiting), True, "queued")
    refused = http.post("media", {**body, "options": {**asked, "tags": ["a", "b"], "async": True}})
    assert (refused.status_code, refused.json()["code"]) == (409, "idempotency_conflict")
    assert MediaJob.objects.count() == 2


def test_an_upload_that_a_job_reads_comes_along_and_is_known_again(postgres, owner, rows, tmp_path):
    folder = tmp_path / "older"
    kept = library.keep(rows, None, b"# Plan\n\nThe zebra waits.", folder)
    old = library.job(
        rows, kept["storage_uri"], "processing", idempotency_key="k", options={"name": "plan.md"},
        staging_media_object_id=kept["id"], attempts=1, lease_token="t" * 64,
    )  # fmt: skip
    with moved(postgres, rows) as made:
        assert fate("media_jobs", old["id"]).reason == "parent_quarantined"
        move(made, media=folder)
    job = MediaJob.objects.get(pk=here("media_jobs", old))
    assert (job.status, job.lease_token, job.attempts) == ("queued", None, 1)
    assert "waits again" in job.note
    source_of = owner.do("upload_media", {"data": "IyBQbGFuCgpUaGUgemVicmEgd2FpdHMu", "name": "plan.md"})["source"]
    asked = {"operation": "add_document", "source": source_of, "options": {"name": "plan.md"}, "idempotency_key": "k"}
    told = owner.do("enqueue_media", asked)
    assert (told["job_id"], told["deduplicated"]) == (str(job.pk), True)
    working.run_media_job(str(job.pk))
    job.refresh_from_db()
    assert (job.status, job.error) == ("completed", "")
    assert searched(owner, "zebra") == [job.result["document_id"]]


def test_a_job_that_nobody_here_can_do_says_so(postgres, owner, rows):
    old = library.job(rows, "/srv/in/plan.md", "queued")
    with moved(postgres, rows):
        pass
    job = MediaJob.objects.get(pk=here("media_jobs", old))
    assert job.status == "queued"
    assert job.created_at.year == 2025
    assert owner.do("media_job_stats")["oldest_queued_age_seconds"] < 600  # it waits since it moved in
    assert clock.now() - job.waits_since < timedelta(minutes=10)
    assert "No worker here can do it" in job.note
    working.run_media_job(str(job.pk))
    job.refresh_from_db()
    assert (job.status, job.error.partition(":")[0]) == ("failed", "invalid_input")


def test_a_job_for_a_host_that_is_closed_here_waits_until_it_is_named(postgres, owner, rows, settings):
    """No worker fails it for good meanwhile; what has ended, and what another host has, comes along."""
    job = library.job
    waits = [job(rows, f"https://{host}/a.pdf", "queued") for host in ("files.example.com", "files.example.com:8443")]
    waits.append(job(rows, "https://files.example.com/b.pdf", "processing"))
    comes = [
        job(rows, "https://files.example.com/c.pdf", "failed"),
        job(rows, "https://docs.example.org/d.pdf", "queued"),
    ]
    with source(postgres, rows, ddl=LATE) as made:
        tried = move(made, "--dry-run")
        figures = move(made)
        assert (
            figures["closed_hosts"] == tried["closed_hosts"] == {"files.example.com": 2, "files.example.com:8443": 1}
        )
        assert figures["reasons"] == {"host_closed": 3}
        assert {fate("media_jobs", row["id"]).reason for row in waits} == {"host_closed"}
        assert {fate("media_jobs", row["id"]).outcome for row in comes} == {"migrated"}
        out = StringIO()
        call_command("migrate_legacy", "--from", made.url, "--owner", SMART_RAG, stdout=out, stderr=StringIO())
        assert "SMARTBRAIN_MEDIA_ALLOWED_HOSTS does not name: files.example.com (2)" in out.getvalue()
        settings.SMARTBRAIN = replace(settings.SMARTBRAIN, media_allowed_hosts="*.example.org, files.example.com")
        assert move(made)["closed_hosts"] == {"files.example.com:8443": 1}
    assert MediaJob.objects.filter(status="queued").count() == 3


def test_a_job_names_the_document_that_it_made_by_its_id_here(postgres, owner, rows):
    made = library.document(rows, "Made", text="made")
    old = library.job(rows, "https://docs.example.org/made.md", "completed")
    with moved(postgres, rows):
        pass
    told = owner.do("get_media_job", {"id": here("media_jobs", old)})
    assert told["result"] == {"document_id": here("source_documents", made), "older_document_id": 1}
