"""The review queue with ten thousand proposals: the same statements as with ten, and bounded counts."""

from __future__ import annotations

from datetime import timedelta
from uuid import uuid4

from governance.models import Proposal
from kernel import actions, clock
from kernel.ids import new_id
from tests.conftest import TEAM
from tests.governance.made import made
from tests.governance.queueing import queue_note, set_review, statements
from tests.guards.write_guard import unguarded

MANY = 10_000


def fill(number: int, start: int) -> None:
    """So many open proposals more, made by hand: through the gate it would take minutes."""
    first = Proposal.objects.earliest("id")
    now = clock.now()
    with unguarded():
        Proposal.objects.bulk_create(
            [
                Proposal(
                    action="note",
                    input={"note": f"note {place}"},
                    domain_id=TEAM,
                    subject_key=f"note:{place}",
                    digest=first.digest,
                    changes=first.changes,
                    rule=first.rule,
                    policy_version=first.policy_version,
                    proposer_kind="agent",
                    proposer_id=first.proposer_id,
                    proposer_name="agent",
                    request_id=uuid4(),
                    subject=f"note {place}",
                    search_text=f"note {place}",
                    similar_key=f"{place % 500}",
                    risk=place % 3,
                    created_at=now - timedelta(minutes=place),
                    id=new_id(),
                )
                for place in range(start, start + number)
            ],
            batch_size=500,
        )


CALLS: list[tuple[str, dict]] = [
    ("list_proposals", {"queue": "open"}),
    ("list_proposals", {"queue": "open", "risk": "low", "text": "note 9", "domain_id": TEAM}),
    ("proposal_counts", {}),
    ("review_proposal", {"filters": {"queue": "open"}}),
]


def test_it_works(cast, monkeypatch):
    monkeypatch.setitem(actions._registry, "note", made())
    set_review(cast)
    proposal = queue_note(cast.agent)

    def ask() -> list[int]:
        named = [(name, {**fields, "id": proposal} if name == "review_proposal" else fields) for name, fields in CALLS]
        return [statements(cast, name, **fields) for name, fields in named]

    fill(10, 0)
    ask()
    few = ask()
    fill(MANY, 10)
    assert ask() == few
    assert few[0] <= 5
    assert few[2] <= 12
    assert few[3] <= 13
    counted = {row["queue"]: (row["count"], row["at_least"]) for row in cast.reviewer.do("proposal_counts")["queues"]}
    assert counted["open"] == (MANY, True)
    assert counted["snoozed"] == (0, False)
