"""Media jobs: asked for once, run in the owner's name, retried, recovered, and steered only as their state allows."""

from __future__ import annotations

from datetime import timedelta
from uuid import uuid4

import pytest
from django_q.models import OrmQ

from governance import gate
from governance.gate import system_ctx
from governance.models import AuditEntry
from kernel import clock
from kernel.context import Ctx, Door
from kernel.errors import (
    ConflictError,
    ForbiddenError,
    IdempotencyConflictError,
    InvalidInputError,
    NotFoundError,
    QuotaExceededError,
    TooLargeError,
    TransitionError,
    UnavailableError,
)
from media.actions import working as worker
from media.converting import BusyError
from media.models import MediaJob, SourceDocument
from media.selectors.jobs import advice
from media.services import jobs, leases
from tests.conftest import ELSEWHERE, TEAM, make_agent, make_person
from tests.media.jobbing import SmallResult, a_job, enqueue, later, put, row_of, wanted
from tests.threads import at_once

PROJECT = {"type": "project", "id": "shop"}


def raising(error):
    def do(given, ctx):
        raise error

    return do


def taken(job_id: str = "") -> leases.Lease:
    """The lease of this job, or of the next one."""
    now = clock.now()
    lease = leases.claim(row_of(job_id).pk, now) if job_id else leases.claim_next(now)
    assert lease is not None
    return lease


def test_it_works(cast, importing):
    job_id = enqueue(cast.agent, idempotency_key="k")
    assert cast.agent.do("get_media_job", id=job_id)["status"] == "queued"
    assert worker.run_media_job(job_id)
    job = cast.agent.do("get_media_job", id=job_id)
    document = SourceDocument.objects.get()
    assert (job["status"], job["attempts"], job["error"], job["advice"]) == ("completed", 1, "", "")
    assert job["result"]["document_id"] == str(document.pk)
    assert (document.owner_id, document.domain_id) == (cast.agent.identity.actor.id, TEAM)  # case 108
    entry = AuditEntry.objects.filter(action="run_media_job").get()
    assert (entry.actor_name, entry.door, entry.outcome) == ("agent", "job", "allowed")
    assert {change["table"] for change in entry.changes} == {"source_documents", "media_jobs"}


@pytest.mark.django_db(transaction=True)
def test_the_queue_carries_the_id_alone_and_only_what_was_stored(importing):
    agent = make_agent("agent")
    job_id = enqueue(agent)
    (message,) = OrmQ.objects.all()
    assert (message.task["func"], message.task["args"]) == ("media.jobs.run_media_job", (job_id,))
    with pytest.raises(InvalidInputError):
        agent.do("enqueue_media", wanted(options={"x": 1}, scopes=[{"type": "nonsense", "id": "x"}]))
    assert OrmQ.objects.count() == 1


# Asking twice


def test_the_same_key_and_payload_give_the_same_job(cast, importing):
    options = {"title": "A", "tags": ["x", "y"]}
    first = cast.agent.do("enqueue_media", wanted(idempotency_key="k", options=options))
    again = cast.agent.do("enqueue_media", wanted(idempotency_key="k", options=dict(reversed(options.items()))))
    assert (again["job_id"], again["deduplicated"]) == (first["job_id"], True)
    assert MediaJob.objects.count() == 1


@pytest.mark.parametrize(
    "other",
    [
        {"source": "https://example.org/b"},
        {"options": {"tags": ["x", "y"], "title": "B"}},
        {"options": {"tags": ["y", "x"]}},
        {"operation": "add_media"},
        {"scopes": [PROJECT]},
    ],
)
def test_the_same_key_with_another_payload_is_a_conflict(cast, importing, other):
    enqueue(cast.agent, idempotency_key="k", options={"tags": ["x", "y"]})
    with pytest.raises(IdempotencyConflictError):
        cast.agent.do("enqueue_media", {**wanted(idempotency_key="k", options={"tags": ["x", "y"]}), **other})
    assert MediaJob.objects.count() == 1


def test_the_same_key_in_another_domain_is_a_conflict(cast, importing):
    enqueue(cast.agent, idempotency_key="k")
    make_agent("neighbour", "second")
    wider = Ctx(cast.agent.identity.actor, Door.PYTHON, system_ctx("tests", Door.PYTHON).reach)
    with pytest.raises(IdempotencyConflictError):
        gate.call("enqueue_media", wanted(idempotency_key="k", domain_id="second"), ctx=wider)
    assert MediaJob.objects.count() == 1


def test_a_key_whose_job_was_erased_is_used_up(cast, importing):
    """In another domain too, where the gate keeps no answer under it."""
    worker.run_media_job(enqueue(cast.agent, idempotency_key="k"))
    named = {"kind": "document", "id": str(SourceDocument.objects.get().pk)}
    cast.operator.do("erase", domain_id=TEAM, objects=[named], reason="asked to")
    make_agent("neighbour", "second")
    wider = Ctx(cast.agent.identity.actor, Door.PYTHON, system_ctx("tests", Door.PYTHON).reach)
    for domain in (TEAM, "second"):
        with pytest.raises(ConflictError, match="erased since"):
            gate.call("enqueue_media", wanted(idempotency_key="k", domain_id=domain), ctx=wider)
    assert MediaJob.objects.count() == 1


def test_two_owners_may_use_one_key(cast, importing):
    second = make_agent("second")
    ids = {enqueue(player, idempotency_key="k") for player in (cast.agent, second)}
    assert len(ids) == 2
    for player in (cast.agent, second):
        assert len(player.do("list_media_jobs")["jobs"]) == 1


def test_a_blank_key_is_none(cast, importing):
    assert enqueue(cast.agent, idempotency_key=" ") != enqueue(cast.agent)
    assert {row.idempotency_key for row in MediaJob.objects.all()} == {""}


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("same", [True, False])
def test_of_two_at_once_one_is_stored(importing, same):
    agent = make_agent("agent")
    sources = ["https://example.org/a", "https://example.org/a" if same else "https://example.org/b"]
    given = [wanted(source, idempotency_key="k") for source in sources]
    told = at_once([lambda tree=tree: agent.do("enqueue_media", tree) for tree in given])
    assert MediaJob.objects.count() == 1
    answers = [each for each in told if isinstance(each, dict)]
    if same:
        assert len(answers) == 2
        assert {each["job_id"] for each in answers} == {str(MediaJob.objects.get().pk)}
    else:
        assert len(answers) == 1
        assert [type(each) for each in told if not isinstance(each, dict)] == [IdempotencyConflictError]


# Who may


def test_a_key_without_the_right_to_write_asks_for_nothing(cast, importing):
    with pytest.raises(ForbiddenError):
        enqueue(cast.reader)
    with pytest.raises(NotFoundError):
        enqueue(cast.stranger)
    assert not MediaJob.objects.exists()


def test_a_scope_needs_the_right_to_write_there(importing, db):
    narrow = make_agent("narrow", pattern="project:mine")
    assert enqueue(narrow)
    assert enqueue(narrow, scopes=[{"type": "project", "id": "mine"}])
    with pytest.raises(NotFoundError):
        enqueue(narrow, scopes=[PROJECT])


def test_people_import_where_they_review(cast, importing):
    job_id = enqueue(cast.reviewer, scopes=[PROJECT])
    worker.run_media_job(job_id)
    assert row_of(job_id).status == "completed"
    assert SourceDocument.objects.get().owner_name == "reviewer"
    with pytest.raises(NotFoundError):
        cast.reviewer.do("enqueue_media", wanted(domain_id=ELSEWHERE))


def test_whose_right_is_gone_meanwhile_gets_nothing_done(cast, importing):
    job_id = enqueue(cast.agent)
    gate.call(
        "grant_access",
        {"name": "agent", "domain_id": TEAM, "rights": ["read"]},
        ctx=system_ctx("tests", Door.PYTHON),
    )
    worker.run_media_job(job_id)
    assert (row_of(job_id).status, SourceDocument.objects.count()) == ("failed", 0)
    assert row_of(job_id).error.startswith("forbidden: ")


def test_a_revoked_key_gets_nothing_done(cast, importing):
    job_id = enqueue(cast.agent)
    prefix = cast.agent.key.split("_")[1]
    gate.call("revoke_key", {"key_prefix": prefix}, ctx=system_ctx("tests", Door.PYTHON))
    worker.run_media_job(job_id)
    assert (row_of(job_id).status, SourceDocument.objects.count()) == ("failed", 0)


def test_what_policy_holds_back_is_not_done_behind_its_back(cast, importing):
    rule = {"name": "imports", "actions": ["add_document"]}
    cast.operator.do("set_policy", domain_id=TEAM, document={"review": {"queue": [rule]}}, reason="look first")
    with pytest.raises(ForbiddenError, match="waits for a person"):
        enqueue(cast.agent)
    assert enqueue(cast.agent, operation="add_media")


def test_who_approves_a_job_does_not_approve_what_waits_by_itself(cast, importing):
    def waits(*actions: str) -> None:
        rule = {"name": "imports", "actions": list(actions)}
        cast.operator.do("set_policy", domain_id=TEAM, document={"review": {"queue": [rule]}}, reason="look first")

    waits("enqueue_media")
    proposal = cast.agent.do("enqueue_media", wanted())["proposal"]["id"]
    waits("enqueue_media", "add_document")
    with pytest.raises(ForbiddenError, match="waits for a person"):
        cast.reviewer.do("approve_proposal", id=proposal)
    assert not MediaJob.objects.exists()
    waits("enqueue_media")
    cast.reviewer.do("approve_proposal", id=proposal)
    worker.run_media_job(str(MediaJob.objects.get().pk))
    assert MediaJob.objects.get().status == "completed"


def test_a_key_that_comes_again_is_told_where_the_job_is_now(cast, importing):
    given = wanted(idempotency_key="k")
    first = cast.agent.do("enqueue_media", given)
    assert (first["status"], first["deduplicated"]) == ("queued", False)
    worker.run_media_job(first["job_id"])
    assert cast.agent.do("enqueue_media", given) == {**first, "status": "completed", "deduplicated": True}
    put(first["job_id"], finished_at=clock.now() - timedelta(days=8))
    worker.prune_media_jobs()
    again = cast.agent.do("enqueue_media", given)
    assert (again["job_id"], [text.split(":")[0] for text in again["warnings"]]) == (first["job_id"], ["job_removed"])


def test_others_see_nothing_of_a_job(cast, importing):
    job_id = enqueue(cast.agent)
    second = make_agent("second")
    for player in (second, cast.stranger):
        for action in ("get_media_job", "cancel_media_job", "retry_media_job", "acknowledge_media_job"):
            with pytest.raises(NotFoundError):
                player.do(action, id=job_id)
        assert player.do("list_media_jobs")["jobs"] == []
        assert player.do("media_job_stats")["total"] == 0
    assert row_of(job_id).status == "queued"


def test_people_see_the_jobs_of_their_scopes(cast, importing):
    shared, own = enqueue(cast.agent, scopes=[PROJECT]), enqueue(cast.agent)
    there, apart = make_person("there", TEAM, "project:shop"), make_person("apart", TEAM, "project:other")
    seen = {player.name: player.do("list_media_jobs")["jobs"] for player in (cast.reviewer, there, apart)}
    assert {job["id"] for job in seen["reviewer"]} == {shared, own}
    assert [job["id"] for job in seen["there"]] == [shared]
    assert seen["apart"] == []


def test_the_lease_is_shown_to_nobody_and_runs_for_nobody_else(cast, importing):
    lease = taken(enqueue(cast.agent))
    assert str(lease.token) not in str(cast.agent.do("get_media_job", id=str(lease.job_id)))
    for player, token in ((cast.agent, uuid4()), (cast.stranger, lease.token)):
        with pytest.raises(NotFoundError):
            player.do("run_media_job", id=str(lease.job_id), lease_token=str(token))
    assert row_of(str(lease.job_id)).status == "processing"


# How a job goes


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
    cast.agent.do("retry_media_job", id=job_id)
    importing.before = lambda given, ctx: None
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


def test_others_see_how_a_job_went_and_not_what_its_document_says(cast):
    said = {"text": "secret plan", "description": "secret too", "name": "plan.md"}
    result = {"status": "success", "warnings": [], "metadata": {"content": "secret plan"}}
    job_id = str(a_job(cast.agent, "completed", options=said, result=result).pk)
    own = cast.agent.do("get_media_job", id=job_id)
    assert (own["options"], own["result"]) == (said, result)
    others = cast.reviewer.do("get_media_job", id=job_id)
    assert (others["options"], others["result"]) == ({"name": "plan.md"}, {"status": "success", "warnings": []})
    assert "secret" not in str(cast.reviewer.do("list_media_jobs", domain_id=TEAM))


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


def test_a_job_is_claimed_once(cast, importing):
    job_id = row_of(enqueue(cast.agent)).pk
    assert leases.claim(job_id, clock.now()) is not None
    assert leases.claim(job_id, clock.now()) is None
    assert leases.claim_next(clock.now()) is None


@pytest.mark.django_db(transaction=True)
def test_of_many_workers_each_job_has_one(importing):
    agent = make_agent("agent")
    made = {row_of(enqueue(agent, f"https://example.org/{number}")).pk for number in range(6)}
    now = clock.now()
    taken = at_once([lambda: leases.claim_next(now) for _ in range(8)])
    while (late := leases.claim_next(now)) is not None:  # who met a locked row went away with nothing
        taken.append(late)
    assert sorted(lease.job_id for lease in taken) == sorted(made)


def test_the_one_that_waits_longest_comes_first(cast, importing):
    first, second = enqueue(cast.agent), enqueue(cast.agent, "https://example.org/b")
    put(second, available_at=clock.now() - timedelta(hours=1))
    assert [str(taken().job_id) for _ in range(2)] == [second, first]


def test_a_stolen_lease_stores_nothing(cast, importing):
    job_id = enqueue(cast.agent)
    importing.before = lambda given, ctx: put(job_id, lease_token=uuid4())
    worker.run_media_job(job_id)
    assert (row_of(job_id).status, SourceDocument.objects.count()) == ("processing", 0)
    assert row_of(job_id).error == ""


def test_a_lease_that_is_stolen_while_storing_takes_all_back(cast, importing):
    job_id = enqueue(cast.agent)
    importing.during = lambda given, ctx: put(job_id, lease_token=uuid4())
    worker.run_media_job(job_id)
    assert SourceDocument.objects.count() == 0


def test_a_heartbeat_needs_the_lease(cast, importing):
    lease = taken(enqueue(cast.agent))
    moment = clock.now() + timedelta(seconds=30)
    assert leases.beat(lease, moment)
    assert row_of(str(lease.job_id)).heartbeat_at == moment
    put(str(lease.job_id), lease_token=uuid4())
    assert not leases.beat(lease, clock.now())
    assert not leases.give_back(lease, clock.now(), "lost")


@pytest.mark.django_db(transaction=True)
def test_a_worker_shows_that_it_lives(importing, settings, monkeypatch):
    monkeypatch.setattr(leases, "HEARTBEAT_SECONDS", 0.02)
    seen: list[object] = []
    job_id = enqueue(make_agent("agent"))

    def wait(given, ctx):
        first, until = row_of(job_id).heartbeat_at, clock.now() + timedelta(seconds=10)
        while row_of(job_id).heartbeat_at == first and clock.now() < until:
            pass
        seen.append(row_of(job_id).heartbeat_at != first)

    importing.before = wait
    worker.run_media_job(job_id)
    assert (seen, row_of(job_id).status) == ([True], "completed")


def test_given_back_it_waits_or_is_left_to_recovery_which_is_on_record(cast, importing):
    lease = taken(enqueue(cast.agent))
    assert leases.give_back(lease, clock.now(), "no database")
    again = taken(str(lease.job_id))
    put(str(lease.job_id), max_attempts=2)
    assert not leases.give_back(again, clock.now(), "no database")
    assert row_of(str(lease.job_id)).status == "processing"
    put(str(lease.job_id), heartbeat_at=clock.now() - timedelta(seconds=1000))
    worker.recover_media_jobs()
    assert row_of(str(lease.job_id)).status == "failed"
    entry = AuditEntry.objects.filter(action="recover_media_jobs").get()
    assert [change["id"] for change in entry.changes] == [str(lease.job_id)]


# Lost workers


@pytest.mark.parametrize(("beat", "status"), [(10, "processing"), (1000, "queued"), (None, "queued")])
def test_a_worker_without_life_loses_its_job(cast, importing, beat, status):
    job_id = enqueue(cast.agent)
    leases.claim(row_of(job_id).pk, clock.now())
    heartbeat = None if beat is None else clock.now() - timedelta(seconds=beat)
    put(job_id, started_at=clock.now() - timedelta(seconds=1000), heartbeat_at=heartbeat)
    worker.recover_media_jobs()
    assert row_of(job_id).status == status
    assert bool(row_of(job_id).note) == (status == "queued")


def test_a_job_that_ends_its_workers_ends_too(cast, importing):
    job_id = enqueue(cast.agent)
    put(job_id, attempts=2)
    leases.claim(row_of(job_id).pk, clock.now())
    with later(1000):
        worker.recover_media_jobs()
    assert (row_of(job_id).status, row_of(job_id).attempts) == ("failed", 3)


def test_a_job_without_message_is_found(cast, importing):
    jobs_made = [enqueue(cast.agent, f"https://example.org/{number}") for number in range(3)]
    OrmQ.objects.all().delete()
    assert worker.resume_media_jobs() == 3
    assert {row_of(job_id).status for job_id in jobs_made} == {"completed"}


# Steering


def test_only_a_queued_job_is_canceled(cast, importing):
    job_id = enqueue(cast.agent)
    assert cast.agent.do("cancel_media_job", id=job_id)["status"] == "canceled"
    assert not worker.run_media_job(job_id)
    for action in ("cancel_media_job", "retry_media_job"):
        with pytest.raises(TransitionError):
            cast.agent.do(action, id=job_id)
    running = row_of(enqueue(cast.agent)).pk
    leases.claim(running, clock.now())
    with pytest.raises(TransitionError, match="processing"):
        cast.agent.do("cancel_media_job", id=str(running))


def test_a_failed_job_is_retried_from_the_start(cast, importing):
    job_id = enqueue(cast.agent)
    importing.before = raising(TooLargeError("over"))
    worker.run_media_job(job_id)
    job = cast.agent.do("retry_media_job", id=job_id)
    assert (job["status"], job["attempts"], job["error"], job["result"]) == ("queued", 0, "", None)
    importing.before = lambda given, ctx: None
    worker.run_media_job(job_id)
    assert row_of(job_id).status == "completed"
    with pytest.raises(TransitionError):
        cast.agent.do("retry_media_job", id=job_id)
    assert SourceDocument.objects.count() == 1


def _failed(player, number: int) -> str:
    job_id = enqueue(player, f"https://example.org/{number}")
    put(job_id, status="failed", finished_at=clock.now())
    return job_id


def test_all_failed_jobs_are_retried_or_those_named(cast, importing):
    failed, done = [_failed(cast.agent, number) for number in range(3)], enqueue(cast.agent)
    worker.run_media_job(done)
    unknown = str(uuid4())
    told = cast.agent.do("retry_media_jobs", ids=[failed[0], done, unknown])
    assert told["retried"] == [failed[0]]
    assert {each["id"] for each in told["refused"]} == {done, unknown}
    told = cast.agent.do("retry_media_jobs")
    assert (told["retried"], told["refused"], told["remaining"]) == (failed[1:], [], 0)
    assert cast.stranger.do("retry_media_jobs")["retried"] == []


def test_all_failed_jobs_are_those_that_nobody_took_note_of(cast, importing):
    noted, other = _failed(cast.agent, 1), _failed(cast.agent, 2)
    cast.agent.do("acknowledge_media_job", id=noted)
    told = cast.agent.do("retry_media_jobs")
    assert (told["retried"], told["refused"], told["remaining"]) == ([other], [], 0)
    assert row_of(noted).status == "failed"
    assert cast.agent.do("retry_media_jobs")["retried"] == []
    assert cast.agent.do("retry_media_jobs", ids=[noted])["retried"] == [noted]  # who names it means it


def test_a_job_that_waits_for_its_time_waits_for_nobody(cast, importing):
    put(enqueue(cast.agent), available_at=clock.now() + timedelta(hours=1))
    assert cast.agent.do("media_job_stats")["oldest_queued_age_seconds"] == 0


def test_what_is_taken_note_of_asks_for_nothing_more(cast, importing):
    job_id = _failed(cast.agent, 1)
    assert cast.agent.do("media_job_stats")["unacknowledged"] == 1
    for _ in range(2):
        assert cast.agent.do("acknowledge_media_job", id=job_id)["acknowledged_at"]
    assert cast.agent.do("media_job_stats")["unacknowledged"] == 0
    assert cast.agent.do("list_media_jobs", unacknowledged=True)["jobs"] == []
    with pytest.raises(TransitionError):
        cast.agent.do("acknowledge_media_job", id=enqueue(cast.agent))


def test_a_reader_steers_nothing(cast, importing):
    job_id = enqueue(cast.agent, scopes=[PROJECT])
    auditor = make_person("looker", TEAM)
    assert auditor.do("cancel_media_job", id=job_id)["status"] == "canceled"
    put(job_id, owner_id=cast.reader.identity.actor.id, status="queued")
    with pytest.raises(ForbiddenError):
        cast.reader.do("cancel_media_job", id=job_id)


# Lists and counts


def test_lists_are_narrowed_and_paged(cast, importing):
    made = [enqueue(cast.agent, f"https://example.org/{number}") for number in range(5)]
    put(made[0], status="failed")
    put(made[1], status="partial")
    newest_first = list(reversed(made))
    found, cursor = [], None
    while True:
        told = cast.agent.do("list_media_jobs", limit=2, cursor=cursor)
        found += [job["id"] for job in told["jobs"]]
        cursor = told["next_cursor"]
        if cursor is None:
            break
    assert found == newest_first
    for offset in range(7):
        told = cast.agent.do("list_media_jobs", limit=2, offset=offset)
        assert [job["id"] for job in told["jobs"]] == newest_first[offset : offset + 2]
    chosen = cast.agent.do("list_media_jobs", status=["failed", "partial"])["jobs"]
    assert [job["id"] for job in chosen] == [made[1], made[0]]
    with pytest.raises(InvalidInputError):
        cast.agent.do("list_media_jobs", status=["lost"])


def test_counts_are_those_of_the_list(cast, importing):
    put(enqueue(cast.agent), status="failed")
    waiting = enqueue(cast.agent, "https://example.org/b")
    put(waiting, created_at=clock.now() - timedelta(days=2), available_at=clock.now() - timedelta(seconds=90))
    running = enqueue(cast.agent, "https://example.org/c")
    put(running, status="processing", started_at=clock.now() - timedelta(hours=1))
    told = cast.agent.do("media_job_stats", domain_id=TEAM)
    counts = {"queued": 1, "processing": 1, "completed": 0, "partial": 0, "failed": 1, "canceled": 0}
    assert (told["counts"], told["total"], told["stale_processing"]) == (counts, 3, 1)
    assert 90 <= told["oldest_queued_age_seconds"] < 120
    for status, number in counts.items():
        assert len(cast.agent.do("list_media_jobs", status=[status])["jobs"]) == number


def test_old_jobs_are_pruned(cast, importing):
    old, new, waiting = _failed(cast.agent, 1), _failed(cast.agent, 2), enqueue(cast.agent)
    put(old, finished_at=clock.now() - timedelta(days=8))
    worker.prune_media_jobs()
    assert {str(row.pk) for row in MediaJob.objects.all()} == {new, waiting}
    with pytest.raises(ForbiddenError):
        cast.agent.do("prune_media_jobs", days=0)


@pytest.mark.parametrize(
    "given",
    [
        {"operation": "delete_everything"},
        {"source": ""},
        {"source": "x" * 2001},
        {"options": []},
        {"scopes": [{"type": "project"}]},
        {"staging_object": "0" * 32},
        {"domain_id": "a b"},
    ],
)
def test_what_does_not_fit_is_refused(cast, importing, given):
    with pytest.raises(InvalidInputError):
        cast.agent.do("enqueue_media", {**wanted(), **given})


def test_whoever_reaches_one_domain_need_not_name_it(cast, importing):
    given = wanted()
    del given["domain_id"]
    job_id = cast.agent.do("enqueue_media", given)["job_id"]
    assert row_of(job_id).domain_id == TEAM


def test_the_fingerprint_is_of_what_was_asked():
    one = jobs.Wanted(TEAM, "add_media", "a", {"x": 1, "y": {"b": [1, 2], "a": None}})
    same = jobs.Wanted(TEAM, "add_media", "a", {"y": {"a": None, "b": [1, 2]}, "x": 1})
    assert one.fingerprint == same.fingerprint
    assert len(one.fingerprint) == 64
