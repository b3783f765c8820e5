"""The addresses of media that an older client knows: imports as JSON or form, and jobs."""

from __future__ import annotations

import json
from typing import Any

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile

from kernel.wire import was_cut
from media.actions import working
from media.models import MediaJob, MediaObject, SourceDocument
from smartbrain_site.http import limits
from tests.conftest import TEAM, make_agent
from tests.doors.http import Http, assert_problem
from tests.media.jobbing import a_job, put

TEXT: dict[str, Any] = {
    "operation": "add_document",
    "options": {"text": "# 计划\n\nThe zebra is kept.", "title": "Plan"},
}


@pytest.fixture(autouse=True)
def _own_folder(media_folder):
    """Stored bytes of each test lie apart."""


@pytest.fixture
def http(cast) -> Http:
    return Http(cast.agent.key)


def form(http: Http, raw: bytes = b"# Plan\n\nWords.", name: str = "plan.md", **fields: Any) -> Any:
    sent = {"operation": "add_media", **fields, "file": SimpleUploadedFile(name, raw)}
    return http.client.post("/v1/media", sent, headers=http.auth)


def test_it_works(http):
    told = http.post("media", TEXT)
    assert told.status_code == 200, told.content
    assert told.json()["document_id"] == str(SourceDocument.objects.get().pk)
    assert (told.json()["status"], told.json()["media_type"]) == ("success", "document")


def test_a_job_is_asked_for_and_followed(http):
    tree = {**TEXT, "options": {**TEXT["options"], "async": True}}
    told = http.post("media", tree, Idempotency_Key="k")
    assert told.status_code == 202
    asked = told.json()
    assert set(asked) == {"job_id", "status", "media_type", "deduplicated", "warnings"}
    assert (asked["status"], asked["media_type"], asked["deduplicated"]) == ("queued", "document", False)
    again = http.post("media", {**tree, "options": {**tree["options"], "idempotency_key": "k"}})
    assert (again.status_code, again.json()["job_id"], again.json()["deduplicated"]) == (202, asked["job_id"], True)
    working.run_media_job(asked["job_id"])
    job = http.get(f"/v1/media/jobs/{asked['job_id']}").json()
    assert (job["status"], job["result"]["document_id"]) == ("completed", str(SourceDocument.objects.get().pk))
    assert [row["id"] for row in http.get("/v1/media/jobs?status=completed,failed").json()["jobs"]] == [job["id"]]
    assert http.get("/v1/media/jobs?status=failed&limit=5&offset=0").json()["jobs"] == []
    assert http.get("/v1/media/jobs/stats").json()["counts"]["completed"] == 1


@pytest.mark.parametrize("later", [True, False])
def test_a_form_brings_the_file(http, later):
    told = form(http, name="会议 纪要.md", options=json.dumps({"async": later}), domain_id=TEAM, scopes="[]")
    assert told.status_code == (202 if later else 200), told.content
    if later:
        working.run_media_job(told.json()["job_id"])
    document = SourceDocument.objects.get()
    assert (document.metadata["file_name"], document.source_type) == ("会议 纪要.md", "file")
    assert MediaObject.objects.get().reference_count == 1


def test_a_form_sent_again_with_its_key_is_one_job(http):
    sent: dict[str, Any] = {"options": '{"async": true}', "idempotency_key": "k"}
    first, again = form(http, **sent).json(), form(http, **sent).json()
    assert (again["job_id"], again["deduplicated"]) == (first["job_id"], True)
    assert_problem(form(http, b"another file", **sent), 409, "idempotency_conflict")
    assert MediaJob.objects.count() == 1


@pytest.mark.parametrize(
    ("tree", "status", "code"),
    [
        ({"operation": "delete_everything"}, 400, "invalid_input"),
        ({"operation": ["add_media"]}, 400, "invalid_input"),
        ({}, 422, "invalid_input"),
        ({**TEXT, "options": []}, 422, "invalid_input"),
        ({**TEXT, "options": {**TEXT["options"], "async": "yes"}}, 422, "invalid_input"),
        ({**TEXT, "source": "/etc/passwd", "options": {}}, 422, "invalid_input"),
        ({**TEXT, "source": "file:///etc/passwd", "options": {"async": True}}, 422, "invalid_input"),
        ({**TEXT, "source": "s3://bucket/aa/bb", "options": {"async": True}}, 422, "invalid_input"),
        ({**TEXT, "options": {**TEXT["options"], "delete_source_after": True}}, 422, "invalid_input"),
        ({**TEXT, "options": {"async": True, "text": "x", "staging_media_object_id": 1}}, 422, "invalid_input"),
        ({**TEXT, "path": "/etc/passwd"}, 422, "invalid_input"),
        ({**TEXT, "domain_id": "elsewhere"}, 404, "not_found"),
        ({**TEXT, "source": "upload:019abcde-0000-7000-8000-000000000000.x", "options": {}}, 404, "not_found"),
    ],
)
def test_what_does_not_fit_is_refused(http, tree, status, code):
    assert_problem(http.post("media", tree), status, code)
    assert not MediaJob.objects.exists()
    assert not SourceDocument.objects.exists()


def test_what_is_no_json_is_refused(http):
    assert_problem(http.raw("media", "{"), 400, "invalid_json")
    assert_problem(http.raw("media", "x", "text/plain"), 415, "unsupported_media_type")
    assert_problem(http.post("media", {**TEXT, "idempotency_key": "a"}, Idempotency_Key="b"), 422, "invalid_input")


@pytest.mark.parametrize(
    "fields",
    [
        {"options": "{"},
        {"source": "https://example.org"},
        {"idempotency": "1"},
        {"scopes": "{}"},
    ],
)
def test_a_form_that_does_not_fit_is_refused(http, fields):
    assert_problem(form(http, **fields), 422, "invalid_input")
    assert not SourceDocument.objects.exists()


def test_a_form_without_one_file_is_refused(http):
    sent = {"operation": "add_media"}
    assert_problem(http.client.post("/v1/media", sent, headers=http.auth), 422, "invalid_input")
    two = {**sent, "file": [SimpleUploadedFile("a.md", b"a"), SimpleUploadedFile("b.md", b"b")]}
    assert_problem(http.client.post("/v1/media", two, headers=http.auth), 422, "invalid_input")
    assert_problem(http.raw("media", b"no form", "multipart/form-data; boundary=x"), 422, "invalid_input")
    assert_problem(http.raw("media", b"no form", "multipart/form-data"), 422, "invalid_input")


def test_a_file_over_the_limit_is_refused_by_what_arrives(http, set_conf):
    set_conf(media_max_bytes=1000)
    assert_problem(form(http, b"x" * 1001), 413, "too_large")
    assert form(http, b"x" * 1000).status_code == 200
    assert MediaObject.objects.count() == 1


def test_of_an_upload_more_is_let_in_than_of_another_body(set_conf):
    set_conf(max_body_bytes=100, media_max_bytes=1000)
    for path, room in (("/v1/media", 1000 + limits.FORM_BYTES), ("/v1/commit_turn", 100)):
        scope: dict[str, Any] = {"type": "http", "path": path}
        assert received(scope, room) == room
        assert not was_cut(type("Request", (), {"scope": scope}))
        assert received(scope, room + 50) == room + 1
        assert was_cut(type("Request", (), {"scope": scope}))


def received(scope: dict[str, Any], size: int) -> int:
    """How much of a body an application gets."""
    import asyncio

    got: list[int] = []

    async def app(scope: Any, receive: Any, send: Any) -> None:
        got.append(len((await receive())["body"]))

    async def receive() -> Any:
        return {"type": "http.request", "body": b"x" * size, "more_body": False}

    async def send(message: Any) -> None: ...

    async def one_request() -> None:
        await limits.limit_body(app)(scope, receive, send)

    asyncio.run(one_request())
    return got[0]


def test_who_may_not_is_told_so(cast):
    assert_problem(Http().post("media", TEXT), 401, "unauthenticated")
    assert_problem(form(Http("sb_x_y")), 401, "unauthenticated")
    assert_problem(Http(cast.reader.key).post("media", TEXT), 403, "forbidden")
    assert_problem(form(Http(cast.reader.key)), 403, "forbidden")
    tree = {**TEXT, "domain_id": TEAM}
    assert_problem(Http(cast.stranger.key).post("media", tree), 404, "not_found")


def test_jobs_are_steered_by_address(cast, http):
    waiting, failed = a_job(cast.agent), a_job(cast.agent, "failed")
    assert http.post(f"media/jobs/{waiting.pk}/cancel").json()["status"] == "canceled"
    assert_problem(http.post(f"media/jobs/{waiting.pk}/cancel"), 409, "transition_error")
    assert http.post(f"media/jobs/{failed.pk}/retry").json()["status"] == "queued"
    put(str(failed.pk), status="processing")
    assert_problem(http.post(f"media/jobs/{failed.pk}/retry"), 409, "transition_error")
    other = Http(make_agent("second").key)
    for address in (f"media/jobs/{waiting.pk}", "media/jobs/019abcde-0000-7000-8000-000000000000", "media/jobs/abc"):
        assert_problem(other.get(f"/v1/{address}"), 404, "not_found")
        assert_problem(other.post(f"{address}/cancel"), 404, "not_found")
    assert_problem(Http().get(f"/v1/media/jobs/{waiting.pk}"), 401, "unauthenticated")
    assert http.post(f"media/jobs/{waiting.pk}").status_code == 405
    assert_problem(http.get("/v1/media/jobs?status=lost"), 422, "invalid_input")
