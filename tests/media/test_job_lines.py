"""A job as pages show it: a name, true waiting times, sentences, its document, and never the key to its upload."""

from __future__ import annotations

from datetime import timedelta
from uuid import UUID

import pytest

from governance.gate import system_ctx
from governance.models import AuditEntry
from kernel import clock
from kernel.context import Door
from media.admin.lines import Line, Told, lines_of, told
from media.contracts.kinds import JobStatus
from media.models import MediaJob
from media.selectors.jobs import view_job
from tests.conftest import TEAM, make_person
from tests.media.jobbing import a_job

UPLOADED = "upload:0198c5a0-0000-7000-8000-000000000001.s3cretSignature"


def line(**fields) -> Line:
    """The line of a job that stands in no database."""
    now = clock.now()
    made = {"domain_id": TEAM, "owner_name": "agent", "operation": "add_document", "created_at": now, **fields}
    row = MediaJob(id=UUID("0198c5a0-0000-7000-8000-00001234abcd"), available_at=now, **made)
    row.scopes = []
    return Line(view_job(row, system_ctx("tests", Door.PYTHON)), None, 0, None, False)


@pytest.mark.parametrize(
    ("said", "shown"),
    [
        ("no_ocr:Nothing here reads text in pictures.", Told("Nothing here reads text in pictures.", "no_ocr")),
        ("too_large: 80 MiB is over it.", Told("80 MiB is over it.", "too_large")),
        ("format_not_read:bin", Told("Nothing here reads files of this kind: bin.", "format_not_read")),
        (
            "format_not_read:doc:save_it_as_docx",
            Told("Nothing here reads files of this kind: doc, save it as docx.", "format_not_read"),
        ),
        ("no_text_found", Told("No text was found in it.", "no_text_found")),
        ("some_new_code", Told("Some new code.", "some_new_code")),
        ("some_new_code:", Told("Some new code.", "some_new_code")),
        ("unavailable: two\nlines here", Told("two\nlines here", "unavailable")),
        ("Nothing reads .xyz files.", Told("Nothing reads .xyz files.")),
        ("https://example.org/a b", Told("https://example.org/a b")),
        ("坏: 了", Told("坏: 了")),
        ("", Told("")),
    ],
)
def test_it_works(said, shown):
    assert told(said) == shown


@pytest.mark.parametrize(
    ("fields", "title"),
    [
        ({"source": "https://example.org/a", "options": {"title": "A"}}, "https://example.org/a"),
        ({"source": UPLOADED, "options": {"name": "a.md", "title": "A"}}, "a.md"),
        ({"source": UPLOADED, "options": {"name": "  ", "title": "A"}}, "A"),
        ({"source": UPLOADED}, "add_document 1234abcd"),
        ({"source": ""}, "add_document 1234abcd"),
    ],
)
def test_every_job_has_a_name_that_can_be_clicked(fields, title):
    assert line(**fields).title == title


def test_a_source_is_told_in_words_where_it_is_no_address():
    assert line(source="https://example.org/a").source == "https://example.org/a"
    assert line(source=UPLOADED).source == "an uploaded file"
    assert line(source="").source == "text that was sent along"


@pytest.mark.parametrize(
    ("status", "available", "started", "finished", "waited", "ran"),
    [
        ("queued", 40, None, None, 40, None),
        ("queued", 40, 300, None, 40, None),  # an earlier attempt failed
        ("queued", -60, None, None, 0, None),  # its time has not come
        ("processing", 100, 30, None, 70, 30),
        ("completed", 100, 30, 10, 70, 20),
        ("failed", 100, None, 10, 90, None),
        ("canceled", 100, 300, 10, 90, None),
    ],
)
def test_waiting_counts_from_when_it_could_be_begun(cast, status, available, started, finished, waited, ran):
    """Seconds ago; each was asked for a day ago."""
    now = clock.now()
    ago = {"available_at": available, "started_at": started, "finished_at": finished, "created_at": 86_400}
    row = a_job(cast.agent, status)
    for name, much in ago.items():
        setattr(row, name, None if much is None else now - timedelta(seconds=much))
    with clock.use(lambda: now):
        (shown,) = lines_of([view_job(row, cast.agent.ctx())], cast.agent.ctx())
    assert (shown.waited, shown.ran) == (waited, ran)


def test_a_job_leads_to_its_document_where_that_is_seen(cast):
    written = {"text": "# Plan\n\nzebra", "title": "Plan"}
    made = cast.agent.do("add_document", domain_id=TEAM, options=written)["document_id"]
    view = view_job(a_job(cast.agent, "completed", source="", result={"document_id": made}), cast.agent.ctx())
    (own,), (others,) = lines_of([view], cast.agent.ctx()), lines_of([view], make_person("ann", TEAM).ctx())
    assert own.title == "Plan"
    assert made in own.document_link
    assert others.title.startswith("add_media ")
    assert others.document_link == ""


def test_the_key_of_an_upload_is_its_owners(cast):
    scopes = [{"type": "project", "id": "shop"}]
    source = cast.agent.do("upload_media", data="IyBQbGFu", name="plan.md", domain_id=TEAM)["source"]
    asked = {"domain_id": TEAM, "operation": "add_media", "source": source, "scopes": scopes}
    job_id = cast.agent.do("enqueue_media", asked)["job_id"]
    assert cast.agent.do("get_media_job", id=job_id)["source"] == source
    seen = make_person("ann", TEAM).do("get_media_job", id=job_id)["source"]
    assert seen == source.partition(".")[0]
    (entry,) = AuditEntry.objects.filter(action="enqueue_media")
    assert source.partition(".")[2] not in str(entry.changes)


def test_every_status_has_its_colour():
    assert all(line(status=status.value).tone for status in JobStatus)
