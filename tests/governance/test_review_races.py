"""Two at once on one proposal: exactly one wins, the other is told who, and nothing is done twice."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from datetime import timedelta
from functools import partial
from threading import Event, get_ident
from uuid import UUID

import pytest
from django.db import transaction

from governance.contracts import Verdict
from governance.gate import system_ctx
from governance.models import AuditEntry, Decision, Proposal, ProposalStep
from governance.services import DailyCapError
from governance.services.proposals import add_decision
from governance.services.transitions import held_unchanged
from kernel import actions, clock
from kernel.context import Door
from kernel.errors import ConflictError, DomainError, StaleError, TransitionError
from tests.conftest import TEAM, Cast, Player, make_cast, make_person
from tests.governance.made import made, note_of
from tests.governance.queueing import queue_note, row_of, set_review
from tests.guards.write_guard import unguarded
from tests.threads import at_once

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def desk(monkeypatch, transactional_db) -> tuple[Cast, Player]:
    """The cast, with `note` queued by policy, and a second reviewer `ann`."""
    monkeypatch.setitem(actions._registry, "note", made())
    cast = make_cast()
    set_review(cast)
    return cast, make_person("ann", TEAM)


def lost(outcomes: list) -> list[DomainError]:
    return [outcome for outcome in outcomes if isinstance(outcome, DomainError)]


def test_it_works(desk):
    """Approve, edit and reject, all at once."""
    cast, ann = desk
    proposal = queue_note(cast.agent)
    works = [
        partial(cast.reviewer.do, "approve_proposal", id=proposal, revision=1),
        partial(ann.do, "edit_and_approve", id=proposal, revision=1, input={"note": "edited"}, reason="r"),
        partial(cast.operator.do, "reject_proposal", id=proposal, revision=1, reason="r"),
    ]
    outcomes = at_once(works)
    refused = lost(outcomes)
    assert len(refused) == 2
    winner = Decision.objects.get().by_name
    for error in refused:
        assert isinstance(error, TransitionError)
        assert f"by {winner}" in error.message
        assert error.problem("r")["proposal"]["by"] == winner
    row = row_of(proposal)
    expected = {"reviewer": ("approved", "first"), "ann": ("approved", "edited"), "operator": ("rejected", None)}
    assert (row.state, note_of(), row.last_error) == (*expected[winner], "")


def test_a_decision_is_dated_when_it_is_made_and_its_order_blocks_nobody(desk):
    """A call that began earlier may decide later: its clock is that of its beginning."""
    cast, _ = desk
    row = Proposal.objects.get(pk=queue_note(cast.agent))
    late = replace(system_ctx("late", Door.PYTHON), now=clock.now() - timedelta(hours=1))
    with unguarded():
        first = add_decision(row, Verdict.APPROVED, "", system_ctx("one", Door.PYTHON))
        second = add_decision(row, Verdict.REOPENED, "", late)
        assert list(row.decisions.all()) == [first, second]
        Decision.objects.filter(pk=second.pk).update(created_at=late.now)
        with transaction.atomic():
            assert held_unchanged(Proposal.objects.get(pk=row.pk))


def test_the_loser_is_told_who_decided_though_a_second_look_of_theirs_is_wanted(desk):
    """And not what: else that look would not be a second one."""
    cast, ann = desk
    set_review(cast, blind_sample=1)
    for number in range(3):
        proposal = queue_note(cast.agent, f"note {number}")
        press = [
            partial(player.do, "reject_proposal", id=proposal, revision=1, reason="telling")
            for player in (cast.reviewer, ann)
        ]
        (refused,) = lost(at_once(press))
        assert isinstance(refused, TransitionError)
        winner = Decision.objects.get(proposal=UUID(proposal)).by_name
        assert f"was decided by {winner} at" in refused.message
        assert "second look of yours" in refused.message
        assert not {"rejected", "telling"} & set(str(refused.problem("r")).replace("'", " ").split())
    late = queue_note(cast.agent, "late")
    cast.reviewer.do("reject_proposal", id=late, revision=1, reason="r")
    bulk = ann.do("decide_proposals", verdict="approve", proposals=[{"id": late, "revision": 1}], reason="r")
    assert (bulk["outcomes"][0]["outcome"], bulk["counts"]) == ("decided", {"decided": 1})
    assert "was decided by reviewer at" in bulk["outcomes"][0]["message"]


def test_two_decisions_at_once_do_not_both_take_the_last_place_of_a_day(desk, midday):
    cast, ann = desk
    set_review(cast, daily_cap=1)
    waiting = [queue_note(cast.agent, word) for word in ("one", "two", "three")]
    works = [partial(ann.do, "reject_proposal", id=proposal, reason="r") for proposal in waiting]
    refused = lost(at_once(works))
    assert [type(error) for error in refused] == [DailyCapError, DailyCapError]
    assert Decision.objects.filter(by_name="ann").count() == 1


def test_a_double_click_is_one_decision(desk):
    cast, _ = desk
    proposal = queue_note(cast.agent)
    outcomes = at_once([partial(cast.reviewer.do, "approve_proposal", id=proposal, revision=1) for _ in range(4)])
    assert len(lost(outcomes)) == 3
    assert all("already approved by reviewer" in error.message for error in lost(outcomes))
    assert Decision.objects.count() == 1
    assert AuditEntry.objects.filter(action="note", outcome="allowed").count() == 1


def test_a_double_click_with_a_key_gets_one_answer(desk):
    cast, _ = desk
    proposal = queue_note(cast.agent)
    press = partial(cast.reviewer.do, "reject_proposal", id=proposal, reason="r", idempotency_key="press-1")
    answers = [outcome for outcome in at_once([press] * 4) if not isinstance(outcome, TransitionError | ConflictError)]
    assert answers
    assert {answer["proposal"]["state"] for answer in answers} == {"rejected"}
    assert Decision.objects.count() == 1
    assert press()["deduplicated"] is True


def test_approving_while_it_is_withdrawn(desk):
    cast, _ = desk
    for number in range(3):
        proposal = queue_note(cast.agent, f"note {number}")
        before = note_of()
        outcomes = at_once(
            [
                partial(cast.reviewer.do, "approve_proposal", id=proposal),
                partial(cast.agent.do, "withdraw_proposal", id=proposal),
            ]
        )
        assert len(lost(outcomes)) == 1
        state = row_of(proposal).state
        assert (state, note_of()) in [("approved", f"note {number}"), ("withdrawn", before)]


def test_approving_while_it_is_revised(desk):
    cast, _ = desk
    proposal = queue_note(cast.agent)
    outcomes = at_once(
        [
            partial(cast.reviewer.do, "approve_proposal", id=proposal, revision=1),
            partial(cast.agent.do, "revise_proposal", id=proposal, input={"note": "revised"}),
        ]
    )
    assert len(lost(outcomes)) == 1
    row = row_of(proposal)
    assert (row.state, row.revision, note_of()) in [("approved", 1, "first"), ("open", 2, None)]
    assert isinstance(lost(outcomes)[0], TransitionError | StaleError)


def test_two_first_approvals_at_once_are_not_two_persons_too_many(desk):
    """Of two who look at `0 of 2`, one is recorded and the other looks again; nobody counts twice."""
    cast, ann = desk
    set_review(cast, two_person=[{"name": "both", "actions": ["note"]}])
    proposal = queue_note(cast.agent)
    outcomes = at_once([partial(player.do, "approve_proposal", id=proposal) for player in (cast.reviewer, ann)])
    row = row_of(proposal)
    assert row.approvals == Decision.objects.count() == 2 - len(lost(outcomes))
    assert (row.state == "approved") == (row.approvals == 2) == (note_of() == "first")
    for error in lost(outcomes):
        assert "look at it again" in error.message
    if row.state == "open":
        missing = ann if Decision.objects.get().by_name == "reviewer" else cast.reviewer
        missing.do("approve_proposal", id=proposal)
    assert note_of() == "first"
    assert Decision.objects.values("by_id").distinct().count() == 2


def test_two_bulks_at_once_decide_each_once(desk):
    cast, ann = desk
    ids = [queue_note(cast.agent, "x" * (number + 1)) for number in range(5)]
    given = {"verdict": "reject", "proposals": [{"id": pk, "revision": 1} for pk in ids], "reason": "r"}
    first, second = at_once([partial(player.do, "decide_proposals", given) for player in (cast.reviewer, ann)])
    done = [
        outcome["id"] for answer in (first, second) for outcome in answer["outcomes"] if outcome["outcome"] == "done"
    ]
    assert sorted(done) == sorted(ids)
    assert Decision.objects.count() == 5
    assert {o["outcome"] for answer in (first, second) for o in answer["outcomes"]} <= {"done", "decided"}


def test_what_is_rejected_while_it_is_sent_again_stays_rejected(desk):
    """Whichever comes first: the call joins the open proposal or is refused; no second proposal slips in."""
    cast, _ = desk
    for number in range(3):
        proposal = queue_note(cast.agent, f"note {'x' * number}")
        outcomes = at_once(
            [
                partial(cast.reviewer.do, "reject_proposal", id=proposal, reason="no"),
                partial(cast.agent.do, "note", note=f"note {'x' * number}"),
            ]
        )
        assert all(isinstance(error, ConflictError) for error in lost(outcomes))
        assert row_of(proposal).state == "rejected"
    assert not Proposal.objects.filter(state="open").exists()


def test_a_claim_and_a_decision_at_once(desk):
    cast, ann = desk
    proposal = queue_note(cast.agent)
    at_once(
        [
            partial(ann.do, "claim_proposal", id=proposal),
            partial(cast.reviewer.do, "approve_proposal", id=proposal),
        ]
    )
    row = row_of(proposal)
    assert (row.state, row.claimed_by, note_of()) == ("approved", "", "first")
    assert ProposalStep.objects.filter(kind="claimed").count() <= 1


class TestAnotherDecisionInItsPlace:
    """A decision in flight, while an approval is taken back and another made: state and count are as they were, and yet
    it rests on persons who are no longer those."""

    @pytest.fixture
    def both(self, desk) -> tuple[Cast, Player]:
        cast, ann = desk
        set_review(cast, two_person=[{"name": "both", "actions": ["note"]}])
        return cast, ann

    @staticmethod
    def in_flight(monkeypatch, action: str, press: Callable[[], object], meanwhile: Callable[[], object]) -> list:
        """Press, and let the rest happen between the two phases of that call, in a thread of its own."""
        own, ready, done = actions.get(action), Event(), Event()
        flying: set[int] = set()

        def prepare(given, ctx):
            prepared = own.prepare(given, ctx)
            if get_ident() in flying:
                flying.clear()
                ready.set()
                assert done.wait(300)
            return prepared

        def first() -> object:
            flying.add(get_ident())
            return press()

        def second() -> object:
            assert ready.wait(300)
            try:
                return meanwhile()
            finally:
                done.set()

        monkeypatch.setitem(actions._registry, action, replace(own, prepare=prepare))
        return at_once([first, second])

    def test_nobody_is_counted_for_two(self, both, monkeypatch):
        cast, ann = both
        proposal = queue_note(cast.agent)
        ann.do("approve_proposal", id=proposal)

        def meanwhile() -> None:
            ann.do("undo_decision", proposal_id=proposal)
            cast.reviewer.do("approve_proposal", id=proposal)

        again = partial(cast.reviewer.do, "approve_proposal", id=proposal, revision=1)
        (refused,) = self.in_flight(monkeypatch, "approve_proposal", again, meanwhile)
        assert isinstance(refused, TransitionError)
        assert "changed meanwhile by reviewer (approved)" in refused.message
        row = row_of(proposal)
        assert (row.state, row.approvals, note_of()) == ("open", 1, None)
        ann.do("approve_proposal", id=proposal)
        assert note_of() == "first"

    def test_nobody_edits_and_approves_what_they_approved_meanwhile(self, both, monkeypatch):
        cast, ann = both
        proposal = queue_note(cast.agent)
        ann.do("approve_proposal", id=proposal)

        def meanwhile() -> None:
            ann.do("undo_decision", proposal_id=proposal)
            cast.reviewer.do("approve_proposal", id=proposal)

        edit = partial(cast.reviewer.do, "edit_and_approve", id=proposal, input={"note": "edited"}, reason="r")
        (refused,) = self.in_flight(monkeypatch, "edit_and_approve", edit, meanwhile)
        assert isinstance(refused, TransitionError)
        assert (row_of(proposal).revision, note_of()) == (1, None)

    def test_an_undo_takes_back_what_it_looked_at_and_nothing_else(self, both, monkeypatch):
        cast, ann = both
        proposal = queue_note(cast.agent)
        cast.reviewer.do("approve_proposal", id=proposal)

        def meanwhile() -> None:
            ann.do("undo_decision", proposal_id=proposal, reason="r")
            ann.do("approve_proposal", id=proposal)

        undo = partial(cast.reviewer.do, "undo_decision", proposal_id=proposal)
        (refused,) = self.in_flight(monkeypatch, "undo_decision", undo, meanwhile)
        assert isinstance(refused, TransitionError)
        assert (row_of(proposal).approvals, Decision.objects.latest("id").by_name) == (1, "ann")
