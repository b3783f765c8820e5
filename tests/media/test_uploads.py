"""Bringing bytes and importing them, at once or by a job: they are the caller's alone, and kept while a job needs them."""

from __future__ import annotations

import base64
from datetime import timedelta

import pytest

from governance import gate
from governance.gate import system_ctx
from kernel import clock
from kernel.actions import get
from kernel.context import Door
from kernel.errors import (
    ForbiddenError,
    IdempotencyConflictError,
    InvalidInputError,
    NotFoundError,
    TooLargeError,
    TransitionError,
)
from media.actions import working
from media.contracts.uploads import UploadMediaInput
from media.models import MediaObject, SourceDocument
from media.storage import store
from tests.conftest import TEAM, make_agent
from tests.media.jobbing import put, row_of

PLAN = "# 计划\n\nThe zebra 斑马 is kept.\n".encode()


@pytest.fixture(autouse=True)
def _own_folder(media_folder):
    """Stored bytes of each test lie apart."""


def upload(player, raw: bytes = PLAN, name: str = "plan.md") -> dict:
    data = base64.b64encode(raw).decode()
    told: dict = player.do("upload_media", domain_id=TEAM, name=name, data=data)
    return told


def test_a_file_without_bytes_is_refused(cast, tmp_path):
    (tmp_path / "empty").touch()
    given = UploadMediaInput.of_file(tmp_path / "empty", "empty.md", TEAM)
    with pytest.raises(InvalidInputError, match="holds no bytes"):
        gate.perform(get("upload_media"), given, ctx=cast.agent.ctx())
    with pytest.raises(InvalidInputError, match="holds no bytes"):
        upload(cast.agent, b"")
    assert not MediaObject.objects.exists()


def enqueue(player, source: str, **fields: object) -> dict:
    tree = {"domain_id": TEAM, "operation": "add_media", "source": source, "options": {"name": "plan.md"}, **fields}
    told: dict = player.do("enqueue_media", tree)
    return told


def test_it_works(cast):
    told = upload(cast.agent)
    assert (told["byte_size"], told["media_type"], told["warnings"]) == (len(PLAN), "document", [])
    given = {"domain_id": TEAM, "source": told["source"], "options": {"name": told["name"]}}
    document = cast.agent.do("add_media", given)
    assert SourceDocument.objects.get().content_hash == told["content_hash"]
    assert document["section_count"] == 1


def test_a_job_reads_what_was_uploaded(cast):
    told = upload(cast.agent)
    asked = enqueue(cast.agent, told["source"])
    assert asked["media_type"] == "document"
    assert row_of(asked["job_id"]).staging_object == MediaObject.objects.get()
    working.run_media_job(asked["job_id"])
    job = cast.agent.do("get_media_job", id=asked["job_id"])
    assert (job["status"], job["result"]["section_count"]) == ("completed", 1)
    assert MediaObject.objects.get().reference_count == 1


def test_bytes_in_the_options_of_a_job_go_to_the_store(cast):
    data = base64.b64encode(PLAN).decode()
    asked = enqueue(cast.agent, "", options={"name": "plan.md", "data": data})
    row = row_of(asked["job_id"])
    assert (row.options, row.staging_object) == ({"name": "plan.md"}, MediaObject.objects.get())
    working.run_media_job(asked["job_id"])
    assert row_of(asked["job_id"]).status == "completed"


def test_the_same_file_again_is_the_same_upload(cast):
    first, again = upload(cast.agent), upload(cast.agent)
    assert first == again
    assert enqueue(cast.agent, first["source"], idempotency_key="k")["deduplicated"] is False
    assert enqueue(cast.agent, again["source"], idempotency_key="k")["deduplicated"] is True
    other = upload(cast.agent, b"another file")
    with pytest.raises(IdempotencyConflictError):
        enqueue(cast.agent, other["source"], idempotency_key="k")


def test_an_upload_is_its_owners_alone(cast):
    source = upload(cast.agent)["source"]
    second = make_agent("second")
    assert upload(second)["source"] != source  # though it is the same file
    for player in (second, cast.reviewer):
        with pytest.raises(NotFoundError):
            enqueue(player, source)
    with pytest.raises(NotFoundError):
        second.do("add_media", domain_id=TEAM, source=source, options={"name": "plan.md"})


@pytest.mark.parametrize("change", [lambda s: s[:-1], lambda s: s + "x", lambda s: s.split(".")[0] + ".", lambda s: s[:9],
                                    lambda s: s.split(".")[0] + ".钥匙", lambda s: "upload:" + s])  # fmt: skip
def test_a_source_that_was_changed_is_none(cast, change):
    source = change(upload(cast.agent)["source"])
    with pytest.raises(NotFoundError):
        enqueue(cast.agent, source)


def test_who_may_not_write_brings_nothing(cast):
    with pytest.raises(ForbiddenError):
        upload(cast.reader)
    with pytest.raises(NotFoundError):
        upload(cast.stranger)
    assert not MediaObject.objects.exists()


@pytest.mark.parametrize("data", ["", "not base64!", "====", "AAA"])
def test_what_is_no_file_is_refused(cast, data):
    with pytest.raises(InvalidInputError):
        cast.agent.do("upload_media", domain_id=TEAM, name="a.md", data=data)


def test_a_file_over_the_limit_is_refused(cast, set_conf):
    set_conf(media_max_bytes=10)
    with pytest.raises(TooLargeError):
        upload(cast.agent)


def test_no_caller_names_a_path(cast, tmp_path):
    for field in ("path", "_path"):
        with pytest.raises(InvalidInputError):
            cast.agent.do("upload_media", {"domain_id": TEAM, "name": "a.md", field: "/etc/passwd"})
    with pytest.raises(InvalidInputError):
        UploadMediaInput.of_file(tmp_path, "a.md", "no domain")


def garbage() -> int:
    tree = {"min_age_hours": 0}
    ctx = system_ctx("tests", Door.PYTHON)
    removed: int = gate.call("garbage_collect_media_objects", tree, ctx=ctx).body()["removed"]
    return removed


@pytest.mark.parametrize("status", ["queued", "processing", "failed", "completed"])
def test_bytes_stay_as_long_as_the_job(cast, status):
    job_id = enqueue(cast.agent, upload(cast.agent)["source"])["job_id"]
    put(job_id, status=status, finished_at=clock.now())
    assert garbage() == 0
    put(job_id, status="failed", finished_at=clock.now() - timedelta(days=8))
    working.prune_media_jobs()
    assert garbage() == 1
    assert not store().exists(upload_hash())


def upload_hash() -> str:
    import hashlib

    return hashlib.sha256(PLAN).hexdigest()


def test_a_job_without_its_file_is_not_retried(cast):
    told = upload(cast.agent)
    job_id = enqueue(cast.agent, told["source"])["job_id"]
    put(job_id, status="failed")
    store().delete(told["content_hash"])
    with pytest.raises(TransitionError, match="upload it again"):
        cast.agent.do("retry_media_job", id=job_id)
    assert cast.agent.do("retry_media_jobs")["refused"][0]["id"] == job_id
    upload(cast.agent)
    assert cast.agent.do("retry_media_job", id=job_id)["status"] == "queued"


def test_jobs_that_cannot_be_retried_keep_no_other_from_it(cast, monkeypatch):
    monkeypatch.setattr("media.actions.jobs._MOST", 1)
    other = enqueue(cast.agent, upload(cast.agent, b"another plan")["source"])["job_id"]
    told = upload(cast.agent)
    lost = enqueue(cast.agent, told["source"])["job_id"]
    put(other, status="failed", finished_at=clock.now() - timedelta(hours=1))
    put(lost, status="failed", finished_at=clock.now())
    store().delete(told["content_hash"])
    answer = cast.agent.do("retry_media_jobs")
    assert ([each["id"] for each in answer["refused"]], answer["retried"], answer["remaining"]) == ([lost], [other], 0)


def test_bytes_stay_as_long_as_an_import_of_them_waits_for_a_person(cast):
    rule = {"name": "documents", "actions": ["add_media"]}
    cast.operator.do("set_policy", domain_id=TEAM, document={"review": {"queue": [rule]}}, reason="look first")
    given = {"domain_id": TEAM, "source": upload(cast.agent)["source"], "options": {"name": "plan.md"}}
    proposal = cast.agent.call("add_media", given).body()["proposal"]["id"]
    assert garbage() == 0
    cast.reviewer.do("approve_proposal", id=proposal)
    assert SourceDocument.objects.get().content_hash == upload_hash()


def test_bytes_of_an_import_that_was_rejected_go(cast):
    rule = {"name": "documents", "actions": ["add_media"]}
    cast.operator.do("set_policy", domain_id=TEAM, document={"review": {"queue": [rule]}}, reason="look first")
    given = {"domain_id": TEAM, "source": upload(cast.agent)["source"], "options": {"name": "plan.md"}}
    proposal = cast.agent.call("add_media", given).body()["proposal"]["id"]
    cast.reviewer.do("reject_proposal", id=proposal, reason="no")
    assert garbage() == 1
