"""Writing proposals: opening, moving and noting failures."""

from __future__ import annotations

from collections.abc import Sequence
from uuid import UUID

from django.db import IntegrityError, transaction

from governance.contracts import ProposalState, Verdict
from governance.models import OPEN_STATES, Decision, Proposal
from governance.services.audit import Trail
from kernel.actions import Change
from kernel.canonical import digest
from kernel.context import Actor, Ctx
from kernel.contracts import Contract
from kernel.errors import ConflictError


def changes_digest(changes: Sequence[Change]) -> str:
    """What a set of changes rests on: the rows it alters as they were, and how many it adds to each table.

    New rows have fresh ids and instants each time, so only their number counts; a row that changed meanwhile, or is no
    longer altered, gives another digest. What is only opened on the way does not count: someone else may open it first.
    """
    decided = [change for change in changes if not change.incidental]
    altered = [[change.table, change.id, change.before] for change in decided if change.before is not None]
    added: dict[str, int] = {}
    for change in decided:
        if change.before is None:
            added[change.table] = added.get(change.table, 0) + 1
    return digest({"altered": sorted(altered, key=digest), "added": added})


def open_proposal(trail: Trail, given: Contract, subject: str, evidence: str, ctx: Ctx) -> tuple[Proposal, bool]:
    """Store a call for review: the proposal, and whether it is new. One subject has one open proposal: the same call
    again gives the open one, another call raises ConflictError that names it."""
    tree = given.model_dump(mode="json")
    changes = [change.as_json() for change in trail.changes]
    try:
        with transaction.atomic():
            row = Proposal.objects.create(
                action=trail.action,
                input=tree,
                domain_id=trail.domain_id,
                scope=trail.scope,
                subject_key=subject,
                evidence=evidence,
                digest=changes_digest(trail.changes),
                changes=changes,
                rule=trail.rule,
                policy_version=trail.policy_version,
                proposer_kind=ctx.actor.kind,
                proposer_id=ctx.actor.id,
                proposer_name=ctx.actor.name,
                proposer_owner=ctx.actor.owner,
                request_id=ctx.request_id,
                created_at=ctx.now,
            )
    except IntegrityError as exc:
        open_ones = Proposal.objects.filter(domain_id=trail.domain_id, subject_key=subject, state__in=OPEN_STATES)
        known = open_ones.first()
        if known is None:
            raise ConflictError(
                "A proposal about the same subject was decided at this moment: send it again."
            ) from exc
        if known.input != tree or known.action != trail.action:
            raise ConflictError(
                f"Proposal {known.id} about the same subject is still open: wait or withdraw it."
            ) from exc
        return known, False
    return row, True


def move_proposal(row: Proposal, to: ProposalState, ctx: Ctx) -> bool:
    """Move an open proposal to a final state by a conditional update; False where someone else was first."""
    moved = Proposal.objects.filter(pk=row.pk, state__in=OPEN_STATES, revision=row.revision).update(
        state=to, decided_at=ctx.now, last_error=""
    )
    if moved:
        row.refresh_from_db()
    return bool(moved)


def note_failure(proposal_id: UUID, message: str) -> list[Change]:
    """Keep why carrying out an open proposal failed; it stays open."""
    noted = Proposal.objects.filter(pk=proposal_id, state__in=OPEN_STATES).update(last_error=message[:2000])
    return [Change("proposals", str(proposal_id), {}, {"last_error": message[:2000]})] if noted else []


def add_decision(row: Proposal, verdict: Verdict, by: Actor, reason: str, ctx: Ctx) -> Decision:
    """Append one decision."""
    return Decision.objects.create(
        proposal=row,
        verdict=verdict,
        revision=row.revision,
        by_id=by.id,
        by_name=by.name,
        reason=reason,
        request_id=ctx.request_id,
        created_at=ctx.now,
    )
