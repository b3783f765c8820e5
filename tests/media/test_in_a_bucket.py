"""Documents whose bytes lie in a bucket of a real server, end to end (cases 102 to 104)."""

from __future__ import annotations

import base64
import subprocess
import sys
from datetime import timedelta

import pytest
from django.conf import settings

from governance import gate
from governance.gate import system_ctx
from kernel import clock
from kernel.context import Door
from media.actions import working
from media.models import MediaObject, SourceDocument
from media.storage import S3Store, store
from scripts.environment import without_settings
from tests.conftest import TEAM, make_agent
from tests.media.jobbing import put, row_of
from tests.media.killing import SECONDS, database_url

PLAN = "# 计划\n\nThe zebra 斑马 is kept in a bucket.\n".encode()


@pytest.fixture(autouse=True)
def _in_a_bucket(set_conf, bucket):
    set_conf(
        media_s3_bucket=bucket.name,
        media_s3_prefix=bucket.prefix,
        media_s3_endpoint=bucket.endpoint,
        media_s3_region=bucket.region,
        media_s3_access_key=bucket.access_key,
        media_s3_secret_key=bucket.secret_key,
    )


@pytest.fixture
def other_machine(bucket) -> S3Store:
    """A client of its own, which shares nothing with that of the server."""
    return S3Store(bucket)


def add(player) -> str:
    options = {"name": "plan.md", "data": base64.b64encode(PLAN).decode()}
    made: str = player.do("add_document", domain_id=TEAM, options=options)["document_id"]
    return made


def enqueue(player) -> str:
    options = {"name": "plan.md", "data": base64.b64encode(PLAN).decode()}
    asked: str = player.do("enqueue_media", domain_id=TEAM, operation="add_media", options=options)["job_id"]
    return asked


def collect() -> int:
    ctx = system_ctx("tests", Door.PYTHON)
    removed: int = gate.call("garbage_collect_media_objects", {"min_age_hours": 0}, ctx=ctx).body()["removed"]
    return removed


def check() -> list[dict]:
    faults, cursor = [], None
    while True:
        ctx = system_ctx("tests", Door.PYTHON)
        found = gate.call("check_media", {"cursor": cursor, "deep": True}, ctx=ctx).body()
        faults += found["faults"]
        cursor = found["next_cursor"]
        if cursor is None:
            return faults


def test_it_works(cast, other_machine, bucket):
    document = add(cast.agent)
    row = MediaObject.objects.get()
    assert (
        row.storage_uri
        == f"s3://{bucket.name}/{bucket.prefix}/{row.content_hash[:2]}/{row.content_hash[2:4]}/{row.content_hash}"
    )
    with other_machine.open(row.content_hash) as file:
        assert file.read() == PLAN
    assert check() == []
    cast.agent.do("remove_document", document_id=document, reason="old")
    assert collect() == 1
    assert not other_machine.exists(row.content_hash)
    assert (list(other_machine.iterate()), MediaObject.objects.exists(), check()) == ([], False, [])


def test_bytes_stay_while_one_of_two_owners_has_them(cast, other_machine):
    mine, theirs = add(cast.agent), add(make_agent("peer"))
    row = MediaObject.objects.get()
    assert row.reference_count == 2
    cast.agent.do("remove_document", document_id=mine, reason="old")
    assert collect() == 0
    assert other_machine.exists(row.content_hash)
    assert SourceDocument.objects.get().pk.hex == theirs.replace("-", "")


def test_a_worker_brings_what_was_staged_onto_its_machine(cast):
    job = enqueue(cast.agent)
    assert store().exists(MediaObject.objects.get(staged_for=row_of(job)).content_hash)
    working.run_media_job(job)
    assert (row_of(job).status, row_of(job).result["section_count"]) == ("completed", 1)
    assert MediaObject.objects.get().reference_count == 1


@pytest.mark.django_db(transaction=True)
def test_a_worker_in_a_process_and_folder_of_its_own_reads_what_was_staged(cast, bucket, tmp_path):
    job = enqueue(cast.agent)
    where = {
        f"SMARTBRAIN_MEDIA_S3_{name.upper()}": str(getattr(bucket, attribute))
        for name, attribute in (
            ("bucket", "name"),
            *((same, same) for same in ("prefix", "endpoint", "region", "access_key", "secret_key")),
        )
    }
    ran = subprocess.run(
        [sys.executable, "manage.py", "media_worker", "--once"],
        cwd=settings.BASE_DIR,
        env={
            **without_settings(),
            "DATA_DIR": str(tmp_path / "elsewhere"),
            "DATABASE_URL": database_url(),
            "SECRET_KEY": settings.SECRET_KEY,
            **where,
        },
        capture_output=True,
        text=True,
        check=False,
        timeout=SECONDS,
    )
    assert ran.returncode == 0, ran.stderr
    done = row_of(job)
    assert (done.status, done.error, done.note) == ("completed", "", ""), ran.stderr
    assert done.result["section_count"] == 1
    assert not list((tmp_path / "elsewhere").glob("media/*/*"))


@pytest.mark.parametrize("status", ["queued", "processing", "failed"])
def test_what_a_kept_job_was_given_survives_and_goes_with_it(cast, other_machine, status):
    job = enqueue(cast.agent)
    put(job, status=status, **({"finished_at": clock.now() - timedelta(days=8)} if status == "failed" else {}))
    row = MediaObject.objects.get()
    assert collect() == 0
    assert other_machine.exists(row.content_hash)
    put(job, status="failed", finished_at=clock.now() - timedelta(days=8))
    working.prune_media_jobs()
    assert collect() == 1
    assert not other_machine.exists(row.content_hash)


def test_a_failed_job_can_be_tried_again_with_what_it_was_given(cast):
    job = enqueue(cast.agent)
    put(job, status="failed", attempts=3, error="lost its worker", finished_at=clock.now())
    assert collect() == 0
    cast.agent.do("retry_media_job", id=job)
    working.run_media_job(job)
    assert row_of(job).status == "completed"


def test_bytes_that_went_missing_are_told(cast, other_machine):
    add(cast.agent)
    other_machine.delete(MediaObject.objects.get().content_hash)
    assert [fault["kind"] for fault in check()] == ["missing_bytes"]
