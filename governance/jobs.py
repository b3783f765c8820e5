"""Governance's background jobs: one line each, the work is elsewhere."""

from __future__ import annotations

from uuid import UUID

from governance.actions.erasing import SCRUB_ERASED
from governance.actions.proposals.keeping import EXPIRE_PROPOSALS
from governance.audit import chain
from governance.contracts import ExpireProposalsInput
from governance.contracts.erasing import ScrubErasedInput
from governance.gate import perform, system_ctx
from kernel.context import Door


def seal_audit() -> int:
    """Seal every audit entry that waits, batch by batch; how many. Ended in the middle, the next run goes on."""
    sealed = 0
    while batch := chain.seal_next():
        sealed += batch
    return sealed


def expire_proposals() -> None:
    """Let proposals expire that nobody touched for as long as policy waits."""
    perform(EXPIRE_PROPOSALS, ExpireProposalsInput(), ctx=system_ctx("worker", Door.JOB))


def scrub_again(receipt_id: str, domain_id: str, *names: str) -> None:
    """Scrub what quotes these ids, which were erased, and was stored since."""
    given = ScrubErasedInput(receipt_id=UUID(receipt_id), domain_id=domain_id, ids=[UUID(name) for name in names])
    perform(SCRUB_ERASED, given, ctx=system_ctx("worker", Door.JOB))
