"""One verdict on many proposals: each goes through the gate by itself, all under one request id."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable
from uuid import UUID

from governance import gate, selectors, services
from governance.actions.proposals.deciding import APPROVE_PROPOSAL, REJECT_PROPOSAL, REQUEST_CHANGES
from governance.actions.proposals.rules import require_person
from governance.contracts import (
    ApproveProposalInput,
    BulkResult,
    BulkVerdict,
    DecideProposalsInput,
    DecisionResult,
    OutcomeName,
    ProposalChoice,
    ProposalOutcome,
    ProposalState,
    RejectProposalInput,
    RequestChangesInput,
    Risk,
)
from governance.models import RISKS, Proposal
from kernel.actions import Action, Applied, Target, register
from kernel.context import Ctx, Right
from kernel.errors import DomainError, ForbiddenError, NotFoundError, StaleError, TransitionError

DONE: dict[str, str] = {"approve": "approved", "reject": "rejected", "request_changes": "sent back", "undo": "undone"}
WORDS: dict[OutcomeName, str] = {
    "recorded": "approved by one of two",
    "stale": "changed meanwhile",
    "decided": "decided before",
    "irreversible": "cannot be taken back",
    "not_permitted": "not permitted",
    "not_found": "not found",
    "high_risk": "left out for their risk",
    "over_cap": "over the cap",
    "over_daily_cap": "over the daily cap",
    "failed": "failed",
}
_CODES: list[tuple[type[DomainError], OutcomeName]] = [
    (NotFoundError, "not_found"),
    (ForbiddenError, "not_permitted"),
    (services.IrreversibleError, "irreversible"),
    (TransitionError, "decided"),
    (StaleError, "stale"),
    (services.DailyCapError, "over_daily_cap"),
]


def everywhere(given: object, ctx: Ctx) -> Target:
    """A call that decides nothing itself: the calls that it makes are decided one by one."""
    return Target(None, scopes=())


def outcome_of(proposal_id: UUID, work: Callable[[], OutcomeName]) -> ProposalOutcome:
    """Do one of many, and say what became of it."""
    try:
        return ProposalOutcome(id=proposal_id, outcome=work())
    except DomainError as exc:
        outcome = next((name for kind, name in _CODES if isinstance(exc, kind)), "failed")
        return ProposalOutcome(id=proposal_id, outcome=outcome, message=exc.message)


def in_words(outcomes: Iterable[ProposalOutcome], done: str) -> str:
    """Such as `38 approved, 2 changed meanwhile, 1 not permitted`."""
    counts = Counter(outcome.outcome for outcome in outcomes)
    names: dict[OutcomeName, str] = {"done": done, **WORDS}
    return ", ".join(f"{counts[name]} {word}" for name, word in names.items() if counts[name])


def _decide_all(given: DecideProposalsInput, ctx: Ctx) -> BulkResult:
    """All of the work, before the transaction that only records the call: each decision has one of its own."""
    require_person(ctx)
    choices = list({choice.id: choice for choice in given.proposals}.values())
    rows = selectors.visible_proposals(ctx).in_bulk([choice.id for choice in choices])
    cap = services.bulk_cap((row.domain_id for row in rows.values()), ctx)
    outcomes: list[ProposalOutcome] = []
    tried = 0
    for choice in choices:
        row = rows.get(choice.id)
        left_out = _left_out(row, choice, tried >= cap, cap) if row is not None else _unseen(choice, ctx)
        tried += left_out is None
        outcomes.append(left_out or outcome_of(choice.id, lambda choice=choice: _decide_one(given, choice, ctx)))  # type: ignore[misc]
    return BulkResult(
        request_id=ctx.request_id,
        outcomes=outcomes,
        counts=dict(Counter(outcome.outcome for outcome in outcomes)),
        summary=in_words(outcomes, DONE[given.verdict]),
    )


def _unseen(choice: ProposalChoice, ctx: Ctx) -> ProposalOutcome:
    told = selectors.decided_unseen(choice.id, ctx)
    outcome: OutcomeName = "decided" if told else "not_found"
    return ProposalOutcome(id=choice.id, outcome=outcome, message=told or "No such proposal that you can see.")


def _left_out(row: Proposal, choice: ProposalChoice, full: bool, cap: int) -> ProposalOutcome | None:
    if RISKS[row.risk] is Risk.HIGH:
        return ProposalOutcome(
            id=choice.id, outcome="high_risk", message="It is of high risk: open it and decide on it alone."
        )
    if full:
        return ProposalOutcome(
            id=choice.id, outcome="over_cap", message=f"Policy allows {cap} in one call: send the rest again."
        )
    return None


def _decide_one(given: DecideProposalsInput, choice: ProposalChoice, ctx: Ctx) -> OutcomeName:
    result = _call(given.verdict, choice, given.reason, ctx)
    first = given.verdict == "approve" and result.proposal.state is ProposalState.OPEN
    return "recorded" if first else "done"


def _call(verdict: BulkVerdict, choice: ProposalChoice, reason: str, ctx: Ctx) -> DecisionResult:
    fields = {"id": choice.id, "revision": choice.revision, "reason": reason}
    if verdict == "approve":
        answer = gate.perform(APPROVE_PROPOSAL, ApproveProposalInput.model_validate(fields), ctx=ctx)
    elif verdict == "reject":
        answer = gate.perform(REJECT_PROPOSAL, RejectProposalInput.model_validate(fields), ctx=ctx)
    else:
        answer = gate.perform(REQUEST_CHANGES, RequestChangesInput.model_validate(fields), ctx=ctx)
    if answer.result is None:
        raise TypeError("a decision is never queued")
    return answer.result


def as_decided(given: object, result: BulkResult, ctx: Ctx) -> Applied[BulkResult]:
    """Nothing is left to apply: the decisions are made and recorded."""
    return result, []


DECIDE_PROPOSALS = register(
    Action(
        "decide_proposals",
        "Decide on many proposals with one reason: one by one, each outcome told; undo them by the request id.",
        DecideProposalsInput,
        BulkResult,
        Right.DECIDE,
        everywhere,
        _decide_all,
        as_decided,
        queueable=False,
    )
)
