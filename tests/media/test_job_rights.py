"""Who may ask for a media job, in whose name it runs, and who sees it."""

from __future__ import annotations

from uuid import uuid4

import pytest

from governance import gate
from governance.gate import system_ctx
from kernel.context import Door
from kernel.errors import ForbiddenError, NotFoundError
from media.actions import working as worker
from media.models import MediaJob, SourceDocument
from tests.conftest import ELSEWHERE, TEAM, make_agent, make_person
from tests.media.jobbing import PROJECT, a_job, enqueue, row_of, taken, wanted

pytestmark = pytest.mark.usefixtures("midday")


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


def test_others_see_how_a_job_went_and_not_what_its_document_says(cast):
    said = {"text": "secret plan", "description": "secret too", "name": "plan.md"}
    result = {"status": "success", "warnings": [], "metadata": {"content": "secret plan"}}
    job_id = str(a_job(cast.agent, "completed", options=said, result=result).pk)
    own = cast.agent.do("get_media_job", id=job_id)
    assert (own["options"], own["result"]) == (said, result)
    others = cast.reviewer.do("get_media_job", id=job_id)
    assert (others["options"], others["result"]) == ({"name": "plan.md"}, {"status": "success", "warnings": []})
    assert "secret" not in str(cast.reviewer.do("list_media_jobs", domain_id=TEAM))
