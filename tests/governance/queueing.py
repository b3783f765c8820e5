"""Proposals made for tests: queued notes, policies that queue them, and a desk at which they are reviewed."""

from __future__ import annotations

from contextlib import AbstractContextManager
from datetime import timedelta

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from governance.models import Proposal
from kernel import actions, clock
from tests.asked import texts
from tests.conftest import TEAM, Cast, Player, make_person
from tests.governance.made import made, note_back

IN_A_TRANSACTION = ("SAVEPOINT", "RELEASE", "BEGIN", "COMMIT")


def review(**fields: object) -> dict:
    """A policy document that queues every `note`, with further fields of its review section."""
    return {"review": {"queue": [{"name": "wait", "actions": ["note"]}], **fields}}


def set_review(cast: Cast, **fields: object) -> None:
    """Put such a policy into force."""
    cast.operator.do("set_policy", domain_id=TEAM, document=review(**fields), reason="r")


def queue_note(agent: Player, note: str = "first") -> str:
    """Queue a note: the id of its proposal."""
    proposal_id: str = agent.do("note", note=note)["proposal"]["id"]
    return proposal_id


def later(**spans: float) -> AbstractContextManager[None]:
    """The clock, so much later."""
    moment = clock.now() + timedelta(**spans)
    return clock.use(lambda: moment)


def row_of(proposal_id: str) -> Proposal:
    """The row as it stands."""
    return Proposal.objects.get(pk=proposal_id)


def statements(cast: Cast, action: str, **fields: object) -> int:
    """How many statements a call makes, those of transactions left out."""
    with CaptureQueriesContext(connection) as queries:
        cast.reviewer.do(action, **fields)
    return sum(bool(sql) and not sql.startswith(IN_A_TRANSACTION) for sql in texts(queries))


@pytest.fixture
def desk(cast, monkeypatch):
    """The cast, with `note` queued by policy and reversible, and a second reviewer `ann`."""
    monkeypatch.setitem(actions._registry, "note", made(reverse=note_back))
    set_review(cast)
    return cast, make_person("ann", TEAM)
