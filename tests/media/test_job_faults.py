"""How a media job goes where something fails: what is tried again, what is not, what is told and advised."""

from __future__ import annotations

from datetime import timedelta

import pytest

from governance.models import AuditEntry
from kernel import clock
from kernel.errors import InvalidInputError, NotFoundError, QuotaExceededError, TooLargeError, UnavailableError
from media.actions import working as worker
from media.converting import BusyError
from media.models import MediaJob, SourceDocument
from media.selectors.jobs import advice
from tests.media.jobbing import SmallResult, enqueue, later, put, raising, row_of

pytestmark = pytest.mark.usefixtures("midday")


def test_a_passing_fault_is_tried_again_until_it_has_failed(cast, importing):
    job_id = enqueue(cast.agent)
    importing.before = raising(UnavailableError("The converter is busy\x00."))
    put(job_id, max_attempts=2)
    worker.run_media_job(job_id)
    first = row_of(job_id)
    assert (first.status, first.attempts, first.error) == ("queued", 1, "unavailable: The converter is busy␀.")
    assert timedelta(seconds=1) < first.available_at - clock.now() <= timedelta(seconds=2)
    assert not worker.run_media_job(job_id)  # not due yet
    with later(3):
        assert worker.run_media_job(job_id)
    assert (row_of(job_id).status, row_of(job_id).attempts) == ("failed", 2)
    assert cast.agent.do("get_media_job", id=job_id)["advice"]


def test_an_attempt_that_found_too_many_others_at_work_does_not_count(cast, importing):
    job_id = enqueue(cast.agent)
    importing.before = raising(BusyError("Other files are being read.", retry_after=15))
    put(job_id, max_attempts=1)
    for seconds in (0, 20, 40):
        with later(seconds):
            assert worker.run_media_job(job_id)
        assert (row_of(job_id).status, row_of(job_id).attempts) == ("queued", 0)
    importing.before = lambda given, ctx: None
    with later(60):
        assert worker.run_media_job(job_id)
    assert row_of(job_id).status == "completed"


def test_a_job_that_finds_too_many_others_at_work_for_a_day_fails_and_says_what_to_do(cast, importing):
    job_id = enqueue(cast.agent)
    importing.before = raising(BusyError("Other files are being read.", retry_after=15))
    put(job_id, max_attempts=2)
    for hours, status, attempts in ((23, "queued", 0), (25, "queued", 1), (26, "failed", 2)):
        with later(3600 * hours):
            assert worker.run_media_job(job_id)
        assert (row_of(job_id).status, row_of(job_id).attempts) == (status, attempts)
    assert "SMARTBRAIN_MEDIA_PARSERS" in row_of(job_id).error
    with later(3600 * 26 + 60):
        cast.agent.do("retry_media_job", id=job_id)
        assert worker.run_media_job(job_id)
        assert (row_of(job_id).status, row_of(job_id).attempts) == ("queued", 0), "it waits for a day again"
    importing.before = lambda given, ctx: None
    with later(3600 * 27):
        assert worker.run_media_job(job_id)
    assert row_of(job_id).status == "completed"


@pytest.mark.parametrize(
    "error", [InvalidInputError("no such page"), TooLargeError("over 50 MiB"), NotFoundError("404")]
)
def test_a_lasting_fault_is_not_tried_again(cast, importing, error):
    job_id = enqueue(cast.agent)
    importing.before = raising(error)
    worker.run_media_job(job_id)
    assert (row_of(job_id).status, row_of(job_id).attempts) == ("failed", 1)
    assert row_of(job_id).error == f"{error.code}: {error.message}"


def test_a_pause_that_is_asked_for_is_kept(cast, importing):
    job_id = enqueue(cast.agent)
    importing.before = raising(QuotaExceededError("Wait.", retry_after=60))
    worker.run_media_job(job_id)
    assert row_of(job_id).available_at - clock.now() > timedelta(seconds=55)


def test_a_bug_is_tried_again_and_says_nothing_internal(cast, importing, caplog):
    job_id = enqueue(cast.agent)
    importing.during = raising(ZeroDivisionError("secret"))
    worker.run_media_job(job_id)
    row = row_of(job_id)
    assert (row.status, SourceDocument.objects.count()) == ("queued", 0)
    assert "secret" not in row.error
    assert str(AuditEntry.objects.get(action="run_media_job").request_id) in row.error
    assert "ZeroDivisionError" in caplog.text


def test_an_error_of_any_length_fits(cast, importing):
    job_id = enqueue(cast.agent)
    importing.before = raising(InvalidInputError("坏\x00\ud800" * 10_000))
    worker.run_media_job(job_id)
    assert len(row_of(job_id).error) == 2000


def test_what_a_database_cannot_hold_is_made_visible(cast, importing):
    importing.result = lambda pk: SmallResult(document_id=pk, warnings=["a\x00b"])
    job_id = enqueue(cast.agent)
    worker.run_media_job(job_id)
    assert row_of(job_id).result["warnings"] == ["a␀b"]


@pytest.mark.parametrize(
    ("result", "words"),
    [
        ({"warnings": ["no speech tool"]}, "without the parts"),
        ({"status": "unsupported"}, "reads this kind"),
        ({"status": "skipped"}, "left out"),
    ],
)
def test_what_was_not_done_in_full_is_partial_and_says_what_to_do(cast, importing, result, words):
    importing.result = lambda pk: SmallResult(document_id=pk, **result)
    job_id = enqueue(cast.agent)
    worker.run_media_job(job_id)
    job = cast.agent.do("get_media_job", id=job_id)
    assert job["status"] == "partial"
    assert words in job["advice"]


@pytest.mark.parametrize(
    ("error", "source", "words"),
    [
        ("invalid_input: The file is damaged.", "upload:1", "repaired or smaller file as a new job"),
        ("too_large: The file unfolds to more.", "", "repaired or smaller file as a new job"),
        ("not_found: No upload.", "upload:1", "as a new job"),
        ("invalid_input: The file is damaged.", "HTTPS://example.org/a", "at its address, then retry"),
        ("unavailable: The host broke off.", "https://example.org/a", "Retry the job once"),
        ("forbidden: No.", "upload:1", "the right that is missing"),
        ("forbidden: No.", "https://example.org/a", "the host in SMARTBRAIN_MEDIA_ALLOWED_HOSTS"),
        ("what an older system wrote", "", "Remove the cause"),
        ("", "", "Remove the cause"),
    ],
)
def test_the_advice_for_a_failed_job_can_be_followed(error, source, words):
    assert words in advice(MediaJob(status="failed", error=error, source=source))
