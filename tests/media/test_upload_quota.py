"""The bytes that an actor brings in a day are counted on every door, before anything of them is kept."""

from __future__ import annotations

import base64
import json
from collections.abc import Callable
from datetime import UTC, datetime, timedelta

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.db import connection

from governance.models import QuotaCounter
from kernel import clock
from kernel.errors import InvalidInputError, QuotaExceededError, UnavailableError
from media.actions import working
from media.models import MediaJob, MediaObject, SourceDocument
from tests.conftest import TEAM, Player, make_cast
from tests.doors.http import Http
from tests.guards.write_guard import unguarded
from tests.media.jobbing import row_of
from tests.media.sites import page, serving
from tests.threads import at_once

NOON = datetime(2031, 1, 2, 12, 0, 10, tzinfo=UTC)
RAW = b"# Plan\n\nThe zebra is kept."
TO_MIDNIGHT = 43_190


@pytest.fixture(autouse=True)
def _own_folder(media_folder):
    """Stored bytes of each test lie apart."""


@pytest.fixture
def noon():
    """Twelve o'clock and ten seconds, until the test moves it."""
    moment = [NOON]
    with clock.use(lambda: moment[0]):
        yield lambda **later: moment.__setitem__(0, NOON + timedelta(**later))


def limit(cast, most: int | None, **more: object) -> None:
    document = {"quotas": {"each": {"upload_bytes_per_day": most}, **more}}
    cast.operator.do("set_policy", domain_id=TEAM, document=document, reason="the disk is small")


def used() -> int:
    return sum(QuotaCounter.objects.filter(kind="upload_bytes_per_day").values_list("used", flat=True))


def upload(player: Player, raw: bytes) -> None:
    player.do("upload_media", domain_id=TEAM, name="a.md", data=base64.b64encode(raw).decode())


def data(player: Player, raw: bytes) -> None:
    options = {"name": "a.md", "data": base64.b64encode(raw).decode()}
    player.do("add_media", domain_id=TEAM, options=options)


def text(player: Player, raw: bytes) -> None:
    player.do("add_document", domain_id=TEAM, options={"text": raw.decode()})


def later(player: Player, **options: str) -> None:
    player.do("enqueue_media", domain_id=TEAM, operation="add_document", options=options)


def later_data(player: Player, raw: bytes) -> None:
    later(player, name="a.md", data=base64.b64encode(raw).decode())


def later_text(player: Player, raw: bytes) -> None:
    later(player, text=raw.decode())


WAYS: list[Callable[[Player, bytes], None]] = [upload, data, text, later_data, later_text]


@pytest.mark.parametrize("bring", WAYS)
def test_it_works(cast, noon, bring):
    limit(cast, 2 * len(RAW) + 3)
    bring(cast.agent, RAW)
    bring(cast.agent, RAW + b"!")
    kept = MediaObject.objects.count()
    with pytest.raises(QuotaExceededError, match=r"quotas\.upload_bytes_per_day of 55") as over:
        bring(cast.agent, RAW + b"?")
    assert (over.value.retry_after, over.value.extra["quota"]) == (TO_MIDNIGHT, "upload_bytes_per_day")
    assert used() == 2 * len(RAW) + 1  # what was refused is not counted
    assert MediaObject.objects.count() == kept
    bring(cast.agent, b"zb")  # and what still fits is taken
    noon(days=1)
    bring(cast.agent, RAW + b"?")
    assert used() == len(RAW) + 1


@pytest.mark.parametrize("options", [{}, {"async": True}])
def test_a_form_that_is_over_is_told_when_to_come_back(cast, noon, options):
    limit(cast, len(RAW))
    http = Http(cast.agent.key)

    def form(raw: bytes):
        sent = {"operation": "add_media", "options": json.dumps(options), "file": SimpleUploadedFile("a.md", raw)}
        return http.client.post("/v1/media", sent, headers=http.auth)

    assert form(RAW).status_code in (200, 202)
    told = form(b"?")
    body = told.json()
    assert (told.status_code, body["code"], body["quota"]) == (429, "quota_exceeded", "upload_bytes_per_day")
    assert told["Retry-After"] == str(TO_MIDNIGHT)
    assert MediaObject.objects.count() == 1


def test_a_form_is_one_call_though_it_brings_a_file_and_imports_it(cast, noon):
    limits = {"calls_per_minute": 1, "writes_per_minute": 1}
    cast.operator.do("set_policy", domain_id=TEAM, document={"quotas": {"each": limits}}, reason="slowly")
    http = Http(cast.agent.key)

    def form(raw: bytes) -> int:
        sent = {"operation": "add_media", "domain_id": TEAM, "file": SimpleUploadedFile("a.md", raw)}
        told: int = http.client.post("/v1/media", sent, headers=http.auth).status_code
        return told

    assert [form(RAW), form(b"# Another")] == [200, 429]
    noon(minutes=1)
    assert form(b"# Another") == 200
    assert SourceDocument.objects.count() == 2


def test_what_was_uploaded_is_not_counted_again_when_it_is_imported(cast, noon):
    limit(cast, len(RAW))
    brought = cast.agent.do("upload_media", domain_id=TEAM, name="a.md", data=base64.b64encode(RAW).decode())
    cast.agent.do("add_media", domain_id=TEAM, source=brought["source"], options={"name": "a.md"})
    assert used() == len(RAW)


@pytest.mark.parametrize("bring", [later_data, later_text])
def test_what_a_job_holds_is_not_counted_again_when_it_is_done(cast, noon, bring):
    limit(cast, len(RAW))
    bring(cast.agent, RAW)
    working.run_media_job(str(MediaJob.objects.get().pk))
    assert MediaJob.objects.get().status == "completed"
    assert used() == len(RAW)


def test_the_same_call_with_its_key_is_counted_once(cast, noon):
    limit(cast, len(RAW))
    tree = {"domain_id": TEAM, "options": {"text": RAW.decode()}, "idempotency_key": "k"}
    cast.agent.do("add_document", tree)
    assert cast.agent.do("add_document", tree)["deduplicated"]
    assert used() == len(RAW)


def test_what_is_refused_for_another_reason_counts(cast, noon):
    limit(cast, 1000)
    with pytest.raises(InvalidInputError):
        cast.agent.do("add_image", domain_id=TEAM, options={"name": "a.png", "text": RAW.decode()})
    assert used() == len(RAW)


def test_what_a_person_approves_was_counted_when_it_was_asked_for(cast, noon):
    rule = {"name": "all", "actions": ["add_document"]}
    limit(cast, len(RAW))
    document = {"review": {"queue": [rule]}, "quotas": {"each": {"upload_bytes_per_day": len(RAW)}}}
    cast.operator.do("set_policy", domain_id=TEAM, document=document, reason="r")
    text(cast.agent, RAW)
    proposal = cast.reviewer.do("list_proposals", domain_id=TEAM)["proposals"][0]["id"]
    cast.reviewer.do("approve_proposal", id=proposal)
    assert SourceDocument.objects.count() == 1
    assert used() == len(RAW)


def test_what_is_fetched_counts_and_a_job_waits_for_the_next_day(cast, noon, monkeypatch, set_conf, tmp_path):
    set_conf(data_dir=tmp_path, media_allowed_hosts="*")
    limit(cast, 2 * len(RAW) - 1)
    source = "http://docs.example.org/a.md"
    with serving() as site:
        site.pages["/a.md"] = page(RAW, Content_Type="text/markdown")
        monkeypatch.setattr("media.fetching.bringing.Network", lambda: site.network)
        cast.agent.do("add_document", domain_id=TEAM, source=source)
        assert used() == len(RAW)
        job = cast.agent.do("enqueue_media", domain_id=TEAM, operation="add_document", source=source)["job_id"]
        working.run_media_job(job)
        row = row_of(job)
        assert (row.status, row.available_at - NOON) == ("queued", timedelta(seconds=TO_MIDNIGHT))
        noon(seconds=TO_MIDNIGHT)
        working.run_media_job(job)
        assert row_of(job).status == "completed"


def test_people_and_those_with_limits_of_their_own_are_not_held_to_it(cast, noon):
    limit(cast, 0, principals={"agent": {"upload_bytes_per_day": 1000}})
    text(cast.agent, RAW)
    brought = cast.reviewer.do("upload_media", domain_id=TEAM, name="a.md", data=base64.b64encode(RAW).decode())
    assert brought["byte_size"] == len(RAW)


def test_nothing_is_counted_where_no_limit_is_set(cast):
    text(cast.agent, RAW)
    assert not QuotaCounter.objects.exists()


@pytest.mark.parametrize("bring", WAYS)
def test_where_nothing_can_be_counted_nothing_is_kept(cast, bring):
    limit(cast, 10_000)
    with unguarded(), connection.cursor() as cursor:
        cursor.execute("ALTER TABLE quota_counters RENAME TO quota_counters_gone")
    try:
        with pytest.raises(UnavailableError, match="Quotas cannot be counted now"):
            bring(cast.agent, RAW)
        assert not MediaObject.objects.exists()
        assert not MediaJob.objects.exists()
    finally:
        with unguarded(), connection.cursor() as cursor:
            cursor.execute("ALTER TABLE quota_counters_gone RENAME TO quota_counters")


@pytest.mark.django_db(transaction=True)
def test_of_many_at_once_no_more_are_taken_than_fit():
    cast = make_cast()
    limit(cast, 3 * len(RAW))

    def work(number: int):
        def bring() -> str:
            with clock.use(lambda: NOON):
                text(cast.agent, RAW[:-1] + str(number).encode())
            return "done"

        return bring

    outcomes = at_once([work(number) for number in range(6)])
    assert outcomes.count("done") == 3
    assert sum(isinstance(each, QuotaExceededError) for each in outcomes) == 3
    assert SourceDocument.objects.count() == 3
