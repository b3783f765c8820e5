"""Which step a proposal's state allows, and the refusal that says who was first."""

from __future__ import annotations

from enum import StrEnum
from typing import Any

from governance import selectors
from governance.contracts import ProposalState, Verdict
from governance.models import Decision, Proposal
from kernel.context import Ctx
from kernel.errors import StaleError, TransitionError

OPEN, CHANGES = ProposalState.OPEN, ProposalState.CHANGES_REQUESTED


class Step(StrEnum):
    """What someone wants to do with a proposal."""

    APPROVE = "approve"
    REJECT = "reject"
    REQUEST_CHANGES = "request changes to"
    EDIT = "edit and approve"
    REVISE = "revise"
    WITHDRAW = "withdraw"
    CLAIM = "claim"
    SNOOZE = "snooze"
    RECOMMEND = "recommend on"


_FROM: dict[Step, frozenset[ProposalState]] = {
    Step.APPROVE: frozenset({OPEN}),
    Step.REJECT: frozenset({OPEN, CHANGES}),
    Step.REQUEST_CHANGES: frozenset({OPEN}),
    Step.EDIT: frozenset({OPEN, CHANGES}),
    Step.REVISE: frozenset({OPEN, CHANGES}),
    Step.WITHDRAW: frozenset({OPEN, CHANGES}),
    Step.CLAIM: frozenset({OPEN, CHANGES}),
    Step.SNOOZE: frozenset({OPEN}),
    Step.RECOMMEND: frozenset({OPEN, CHANGES}),
}


def require_step(row: Proposal, step: Step, revision: int | None) -> None:
    """Refuse a step that the state does not allow (TransitionError, with who decided and when), or that looked at
    another revision (StaleError)."""
    state = ProposalState(row.state)
    if state not in _FROM[step]:
        raise TransitionError(f"{_already(row)}: nothing was changed.{_advice(row, step)}", extra=_decided(row))
    if revision is not None and revision != row.revision:
        raise StaleError(
            f"Proposal {row.id} is at revision {row.revision} now: look at it again.", extra=_decided(row)
        )


def require_open(row: Proposal) -> None:
    """Refuse what is of use only while a proposal can still be decided on."""
    if ProposalState(row.state) not in (OPEN, CHANGES):
        raise TransitionError(f"{_already(row)}.", extra=_decided(row))


def outrun(row: Proposal, step: Step, ctx: Ctx) -> None:
    """Raise what a step is told that found the proposal changed since it looked: who was first, but not with what where
    it waits for a second look of the actor by now."""
    row.refresh_from_db()
    if told := selectors.decided_unseen(row.pk, ctx):
        raise TransitionError(told)
    require_step(row, step, None)
    last = _last(row)
    who = f" by {last.by_name} ({last.verdict.replace('_', ' ')})" if last else ""
    raise TransitionError(f"Proposal {row.id} was changed meanwhile{who}: look at it again.", extra=_decided(row))


def hold_still(row: Proposal, step: Step, ctx: Ctx) -> None:
    """Let nobody else move the proposal until the present transaction ends, and refuse the step where someone has:
    before its effect is compared, so that who was first is told and not only that something changed."""
    if not held_unchanged(row):
        outrun(row, step, ctx)


def held_unchanged(row: Proposal) -> bool:
    """Lock the proposal until the present transaction ends: whether it is as `row` was read. What was decided since
    counts too: a decision taken back and another made leave the same state and the same number of approvals, by other
    persons."""
    now = Proposal.objects.select_for_update().only("state", "revision", "approvals").get(pk=row.pk)
    if (now.state, now.revision, now.approvals) != (row.state, row.revision, row.approvals):
        return False
    decided = Decision.objects.filter(proposal=row.pk).values_list("pk", flat=True)
    return set(decided) == {decision.pk for decision in row.decisions.all()}


def standing_approvals(row: Proposal) -> list[Decision]:
    """The approvals that count at the present revision, oldest first."""
    standing: list[Decision] = []
    for decision in row.decisions.all():
        if decision.verdict == Verdict.APPROVED and decision.revision == row.revision:
            standing.append(decision)
        elif decision.verdict != Verdict.APPROVED:
            standing.clear()
    return standing


def require_mine(row: Proposal, ctx: Ctx) -> None:
    """Refuse what only the holder of a claim does."""
    if row.claimed_by != ctx.actor.id:
        holder = row.claimed_name or "nobody"
        raise TransitionError(f"Proposal {row.id} is claimed by {holder}, not by you: nothing was changed.")


def _already(row: Proposal) -> str:
    last = _last(row)
    by = f" by {last.by_name} at {last.created_at:%Y-%m-%d %H:%M} UTC" if last and row.state == _state_of(last) else ""
    return f"Proposal {row.id} was already {row.state.replace('_', ' ')}{by}"


def _advice(row: Proposal, step: Step) -> str:
    if row.state == CHANGES and step is Step.APPROVE:
        return " Wait for its proposer's answer, edit and approve it, or undo the request."
    return ""


def _last(row: Proposal) -> Decision | None:
    decided = list(row.decisions.all())  # in order; read with the row as a rule
    return decided[-1] if decided else None


def _state_of(decision: Decision) -> str:
    return OPEN.value if decision.verdict == Verdict.REOPENED else decision.verdict


def _decided(row: Proposal) -> dict[str, Any]:
    """The data of the refusal: the state, and the last decision with its name, verdict, reason and time."""
    last = _last(row)
    told: dict[str, Any] = {"id": str(row.id), "state": row.state, "revision": row.revision}
    if last is not None:
        told |= {"by": last.by_name, "verdict": last.verdict, "reason": last.reason, "at": last.created_at.isoformat()}
    return {"proposal": told}
