"""Taking what was erased out of the records that quote it: the audit log, proposals, answers to idempotency keys."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Any
from uuid import UUID

from django.db.models import Q

from governance.audit import chain
from governance.audit.erased import OF_PROPOSALS, SCRUBBED, STANDING
from governance.contracts import ProposalState, StepKind
from governance.contracts.erasing import GONE, is_mark, mark
from governance.models import (
    OPEN_STATES,
    AuditEntry,
    BlindReview,
    Decision,
    IdempotencyRecord,
    Proposal,
    ProposalStep,
    Reversal,
)
from governance.selectors.erasing import BATCH, OF_ERASING, Traces, entries_about, proposals_behind
from governance.services.proposals import move_proposal
from governance.services.steps import add_step
from kernel.context import Ctx
from kernel.rows import batches


def scrub(names: frozenset[str], traces: Traces, receipt_id: UUID, ctx: Ctx) -> dict[str, int]:
    """Take all that quotes these ids out of the records, in batches; how many records of each kind were changed.

    The records themselves stay, and so does the hash chain over the audit log. What was scrubbed before stays as it is.
    """
    touching = entries_about(names)
    proposals = _unscrubbed(traces.proposals | proposals_behind(touching))
    proposals -= {ctx.approval.proposal_id} if ctx.approval else set()
    entries = touching | _entries_of(proposals)
    for batch in batches(sorted(proposals), BATCH):
        _scrub_proposals(batch, receipt_id, ctx)
    changed = 0
    for batch in batches(sorted(entries), BATCH):
        changed += _scrub_entries(batch, names, mark(receipt_id))
    answers = 0
    for batch in batches(sorted(traces.answers), BATCH):
        answers += IdempotencyRecord.objects.filter(pk__in=batch).update(answer=mark(receipt_id), fingerprint="")
    return {"audit_entries": changed, "proposals": len(proposals), "idempotency_answers": answers}


def _unscrubbed(proposals: Collection[UUID]) -> set[UUID]:
    """Those that keep a digest of what they would do, as every one does until it is scrubbed."""
    return {
        pk
        for batch in batches(sorted(proposals), BATCH)
        for pk in Proposal.objects.filter(pk__in=batch).exclude(digest="").values_list("pk", flat=True)
    }


def _entries_of(proposals: Collection[UUID]) -> set[UUID]:
    """The entries of what was done on these proposals."""
    found: set[UUID] = set()
    for batch in batches(sorted(proposals), BATCH):
        found |= set(AuditEntry.objects.filter(proposal__in=batch).values_list("pk", flat=True))
    return found | entries_about(frozenset(map(str, proposals)))


def _scrub_proposals(ids: Sequence[UUID], receipt_id: UUID, ctx: Ctx) -> None:
    rows = Proposal.objects.filter(pk__in=ids)
    for row in rows.filter(state__in=OPEN_STATES).order_by("pk"):
        if move_proposal(row, ProposalState.EXPIRED, ctx):
            add_step(row, StepKind.EXPIRED, ctx, "what it was about was erased")
    rows.exclude(proposed_input=None).update(proposed_input=mark(receipt_id))
    rows.update(
        input=mark(receipt_id),
        changes=[],
        digest="",
        subject_key=f"{SCRUBBED}{receipt_id}",
        subject=GONE,
        summary="",
        told_before="",
        told_after="",
        search_text="",
        similar_key="",
        evidence="",
        rests_on=[],
        last_error="",
    )
    Decision.objects.filter(proposal__in=ids).exclude(input=None).update(input=mark(receipt_id))
    for model in (Decision, BlindReview):
        model._default_manager.filter(proposal__in=ids).exclude(reason="").update(reason=GONE)
    said = ProposalStep.objects.filter(proposal__in=ids).exclude(kind=StepKind.EXPIRED)
    said.filter(~Q(text="") | ~Q(data={})).update(text=GONE, data={})


def _scrub_entries(ids: Sequence[UUID], names: frozenset[str], gone: dict[str, str]) -> int:
    """Scrub a batch of audit entries; how many were changed. They are held, so that nobody seals them meanwhile.
    Those of erasing itself stay: they say hashes, counts and why it was asked for."""
    changed: dict[AuditEntry, set[str]] = {}
    rows = AuditEntry.objects.select_for_update().filter(pk__in=ids).exclude(action__in=OF_ERASING)
    for entry in rows.order_by("pk"):
        groups = set()
        kept = [_scrubbed(change, names, gone) for change in entry.changes]
        if kept != entry.changes:
            entry.changes, groups = kept, {"changes"}
        if entry.reason and entry.reason != GONE:
            entry.reason, groups = GONE, groups | {"reason"}
        if groups:
            changed[entry] = groups
    AuditEntry.objects.bulk_update(changed, ["changes", "reason"], batch_size=BATCH)
    chain.forget({entry.pk: groups for entry, groups in changed.items() if entry.sealed})
    Reversal.objects.filter(entry__in=ids).exclude(reason="").update(reason=GONE)
    return len(changed)


def _scrubbed(change: dict[str, Any], names: frozenset[str], gone: dict[str, str]) -> dict[str, Any]:
    if change["id"] in names:
        said = (side for side in ("before", "after") if change[side] is not None and not is_mark(change[side]))
        return {**change, **dict.fromkeys(said, gone)}
    if change["table"] in OF_PROPOSALS:
        sides = {side: change[side] for side in ("before", "after") if change[side] is not None}
        return {**change, **{side: {k: v for k, v in row.items() if k in STANDING} for side, row in sides.items()}}
    return change
