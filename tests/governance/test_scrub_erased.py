"""Scrubbing once more what quotes something erased: only what its own erasure put in the queue, and only by operators."""

from __future__ import annotations

from typing import Any
from uuid import uuid4

import pytest
from django_q.models import OrmQ

from governance import jobs
from governance.models import AuditEntry
from kernel.errors import DomainError, ForbiddenError, InvalidInputError, NotFoundError
from memory.models import MemoryItem
from tests.conftest import ELSEWHERE, Cast, Player
from tests.governance.erasing import SECRET, erase, holding, learned
from tests.memory.talk import compose, context

pytestmark = pytest.mark.django_db


@pytest.fixture
def left(cast: Cast, django_capture_on_commit_callbacks: Any) -> dict:
    """What the queue was given when one memory was erased, as the action takes it."""
    pk = learned(cast)["id"]
    with django_capture_on_commit_callbacks(execute=True):
        erase(cast.operator, "memory", pk)
    (args,) = (row.task["args"] for row in OrmQ.objects.all() if row.task["func"] == "governance.jobs.scrub_again")
    receipt_id, domain_id, *ids = args
    assert pk in ids
    return {"receipt_id": receipt_id, "domain_id": domain_id, "ids": ids}


def refused(player: Player, left: dict, **fields: object) -> DomainError:
    with pytest.raises(DomainError) as told:
        player.do("scrub_erased", {**left, **fields})
    return told.value


def test_it_works(cast, left):
    """By the job and by hand, in whatever order; each run is on record, and what it changed."""
    jobs.scrub_again(left["receipt_id"], left["domain_id"], *left["ids"])
    backwards = {**left, "ids": left["ids"][::-1]}
    assert set(cast.operator.do("scrub_erased", backwards)["scrubbed"].values()) == {0}
    entries = AuditEntry.objects.filter(action="scrub_erased").order_by("pk")
    told = [(row.actor_kind, row.door, row.outcome, row.changes) for row in entries]
    assert told == [("system", "job", "allowed", []), ("person", "python", "allowed", [])]


@pytest.mark.parametrize("who", ["agent", "reviewer"])
def test_only_operators_do_it(cast, left, who):
    assert isinstance(refused(getattr(cast, who), left), ForbiddenError)


def test_a_stranger_learns_nothing_of_the_domain(cast, left):
    assert isinstance(refused(cast.stranger, left), NotFoundError)


def test_what_lives_is_not_scrubbed_in_the_name_of_a_receipt(cast, left):
    pk = learned(cast, session="s2")["id"]
    compose(cast.agent, "What is the code?", "s3", scope_context=context("project:p"))
    before = holding(SECRET)
    for ids in ([pk], [*left["ids"], pk]):
        assert isinstance(refused(cast.operator, left, ids=ids), InvalidInputError)
    assert before <= holding(SECRET)
    assert MemoryItem.objects.filter(pk=pk).exists()


@pytest.mark.parametrize("ids", [[], ["no id"], [str(uuid4())] * 2001])
def test_ids_that_no_erasure_sends_are_refused(cast, left, ids):
    assert isinstance(refused(cast.operator, left, ids=ids), InvalidInputError)


def test_a_receipt_of_another_domain_or_of_nothing_is_not_found(cast, left):
    assert isinstance(refused(cast.operator, left, receipt_id=str(uuid4())), NotFoundError)
    assert isinstance(refused(cast.operator, left, domain_id=ELSEWHERE), NotFoundError)
