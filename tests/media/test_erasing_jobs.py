"""Jobs that would bring an erased document back, or keep what it said: found by whatever names the document."""

from __future__ import annotations

import base64

import pytest

from kernel.errors import ConflictError
from media.models import MediaJob
from tests.conftest import TEAM, Cast
from tests.media.jobbing import a_job

URI = "https://example.org/z"
SAID = '# Zoo\n\nA zebra: 斑马 "é".'
FILE = {"data": base64.b64encode(SAID.encode()).decode(), "name": "zoo.md"}
TEXT = {"text": SAID}


def made(cast: Cast, **options: object) -> str:
    given = options if "text" in options else {**FILE, **options}
    return str(cast.agent.do("add_document", domain_id=TEAM, options=given)["document_id"])


def asked(cast: Cast, source: str = "", **options: object) -> MediaJob:
    given = {"domain_id": TEAM, "operation": "add_document", "source": source, "options": options}
    return MediaJob.objects.get(pk=cast.agent.do("enqueue_media", given)["job_id"])


def erase(cast: Cast, document_id: str) -> dict:
    named = {"kind": "document", "id": document_id}
    told: dict = cast.operator.do("erase", domain_id=TEAM, objects=[named], reason="asked to")
    return told


@pytest.mark.parametrize(
    ("document", "job"),
    [
        ({"source_uri": URI}, {"source_uri": URI, "text": "A zebra."}),
        ({"source_uri": URI}, {"url": URI, "text": "A zebra."}),
        ({"source_uri": URI}, {**FILE, "source_uri": URI}),
        ({"url": URI}, {"source": URI}),
        ({}, FILE),
        ({}, {**FILE, "source_uri": None}),
        (TEXT, TEXT),
        (TEXT, {**TEXT, "url": None, "title": "Zoo"}),
        (TEXT, FILE),
        ({}, {"text": SAID}),
    ],
)
def test_it_works(cast, document, job):
    """One that waits holds the document; one that ended keeps nothing of it."""
    pk = made(cast, **document)
    row = asked(cast, **job)
    with pytest.raises(ConflictError, match="cancel the job first"):
        erase(cast, pk)
    cast.agent.do("cancel_media_job", id=str(row.pk))
    assert erase(cast, pk)["erased"][0]["counts"]["jobs"] == 1
    row.refresh_from_db()
    assert (row.source, row.options, row.staging_object_id) == ("", {}, None)


@pytest.mark.parametrize(
    ("document", "job"),
    [
        ({"source_uri": URI}, {**FILE, "source_uri": "https://example.org/other"}),
        ({"source_uri": URI}, FILE),
        ({}, {**FILE, "url": URI}),
        ({}, {"data": base64.b64encode(b"Another.").decode(), "name": "zoo.md"}),
        (TEXT, {"text": f"{SAID}\n"}),
        (TEXT, {**TEXT, "source_uri": URI}),
        ({**TEXT, "source_uri": URI}, TEXT),
    ],
)
def test_a_job_for_another_document_stays_as_it_is(cast, document, job):
    pk = made(cast, **document)
    row = asked(cast, **job)
    assert erase(cast, pk)["erased"][0]["counts"]["jobs"] == 0
    before = (row.source, row.options, row.status)
    row.refresh_from_db()
    assert (row.source, row.options, row.status) == before


def test_a_job_that_failed_keeps_nothing_of_the_text(cast):
    """Also where a row holds what no call would be let through with."""
    pk = made(cast, **TEXT)
    failed = a_job(cast.agent, "failed", source="", options=TEXT, error="internal: no")
    odd = a_job(cast.agent, "failed", options={"text": 5})
    assert erase(cast, pk)["erased"][0]["counts"]["jobs"] == 1
    failed.refresh_from_db()
    odd.refresh_from_db()
    assert (failed.options, failed.error, odd.options) == ({}, "", {"text": 5})
