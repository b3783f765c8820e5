"""Writing governance's own rows: audit entries, proposals, idempotency records and policy versions."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any
from uuid import UUID

from django.db import IntegrityError, transaction
from django.db.models import Max

from governance.contracts import Outcome, ProposalState
from governance.models import OPEN_STATES, AuditEntry, Decision, IdempotencyRecord, PolicyVersion, Proposal
from governance.policies import Facts
from kernel.actions import Change
from kernel.canonical import digest
from kernel.context import Actor, Ctx
from kernel.contracts import Contract
from kernel.errors import ConflictError, DomainError, IdempotencyConflictError

_DENIED = frozenset({"unauthenticated", "forbidden", "not_found", "scope_not_writable", "quota_exceeded"})
_INVALID = frozenset({"invalid_json", "invalid_input", "too_large", "unsupported_media_type"})


@dataclass(slots=True)
class Trail:
    """What is known so far of a call, for its audit entry."""

    action: str
    domain_id: str | None = None
    scope: str = "*"
    rule: str = ""
    policy_version: str = ""
    input_digest: str = ""
    facts: Facts | None = None
    proposal_id: UUID | None = None
    changes: Sequence[Change] = field(default_factory=list)


def record(trail: Trail, ctx: Ctx, outcome: Outcome, *, reason: str = "", code: str = "") -> AuditEntry:
    """Append one audit entry. An approved call is entered under the person who decided, on behalf of the proposer."""
    decided_by = ctx.approval.decided_by if ctx.approval else None
    actor = decided_by or ctx.actor
    return AuditEntry.objects.create(
        at=ctx.now,
        request_id=ctx.request_id,
        action=trail.action,
        actor_kind=actor.kind,
        actor_id=actor.id,
        actor_name=actor.name,
        on_behalf_of=ctx.actor.name if decided_by else "",
        door=ctx.door,
        domain_id=trail.domain_id,
        scope=trail.scope,
        outcome=outcome,
        rule=trail.rule,
        policy_version=trail.policy_version,
        code=code,
        reason=reason,
        facts=trail.facts.as_json() if trail.facts else {},
        input_digest=trail.input_digest,
        changes=[change.as_json() for change in trail.changes],
        proposal_id=trail.proposal_id,
    )


def record_refusal(trail: Trail, ctx: Ctx, error: DomainError) -> AuditEntry:
    """Append the entry of a refused call: denied, invalid or failed by the error's code."""
    outcome = (
        Outcome.DENIED if error.code in _DENIED else Outcome.INVALID if error.code in _INVALID else Outcome.FAILED
    )
    return record(trail, ctx, outcome, reason=error.message[:2000], code=error.code)


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


def open_proposal(trail: Trail, given: Contract, subject: str, ctx: Ctx) -> tuple[Proposal, bool]:
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


def add_decision(row: Proposal, verdict: ProposalState, by: Actor, reason: str, ctx: Ctx) -> Decision:
    """Append one decision."""
    return Decision.objects.create(
        proposal=row,
        verdict=verdict,
        revision=row.revision,
        by_id=by.id,
        by_name=by.name,
        reason=reason,
        created_at=ctx.now,
    )


def claim_key(trail: Trail, key: str, ctx: Ctx) -> IdempotencyRecord:
    """Take an idempotency key at the start of the transaction. Raises IntegrityError where it is taken."""
    return IdempotencyRecord.objects.create(
        domain=trail.domain_id or "",
        actor=ctx.actor.id,
        action=trail.action,
        key=key,
        fingerprint=trail.input_digest,
        created_at=ctx.now,
    )


def keep_answer(row: IdempotencyRecord, answer: Mapping[str, Any], *, queued: bool) -> None:
    """Store the first answer under its key."""
    IdempotencyRecord.objects.filter(pk=row.pk).update(answer=dict(answer), queued=queued)


def earlier_answer(trail: Trail, key: str, ctx: Ctx) -> IdempotencyRecord | None:
    """The stored answer of an earlier call with this key. Raises IdempotencyConflictError for another payload."""
    row = IdempotencyRecord.objects.filter(
        domain=trail.domain_id or "", actor=ctx.actor.id, action=trail.action, key=key
    ).first()
    if row is not None and row.fingerprint != trail.input_digest:
        raise IdempotencyConflictError
    return row


def register_file(document: Mapping[str, Any], ctx: Ctx) -> Change | None:
    """Append the document of `brain.yml` as a version; None where another call has just done so."""
    newest = PolicyVersion.objects.filter(domain_id=None, source="file").order_by("-number").first()
    if newest is not None and newest.digest == digest(document):
        return None
    try:
        number = newest.number + 1 if newest else 1
        return add_policy_version(None, "file", document, "brain.yml changed", ctx, number=number)[1]
    except ConflictError:
        return None


def add_policy_version(
    domain_id: str | None,
    source: str,
    document: Mapping[str, Any],
    reason: str,
    ctx: Ctx,
    *,
    number: int | None = None,
) -> tuple[PolicyVersion, Change]:
    """Append a policy version; versions are numbered from 1 for each domain and source. `number` is the one that the
    caller read to be next: where another took it, ConflictError."""
    if number is None:
        rows = PolicyVersion.objects.filter(domain_id=domain_id, source=source)
        number = (rows.aggregate(n=Max("number"))["n"] or 0) + 1
    try:
        with transaction.atomic():
            row = PolicyVersion.objects.create(
                domain_id=domain_id,
                number=number,
                source=source,
                digest=digest(document),
                document=dict(document),
                reason=reason,
                author_id=ctx.actor.id,
                author_name=ctx.actor.name,
                created_at=ctx.now,
            )
    except IntegrityError as exc:
        raise ConflictError("Someone else changed this policy at the same moment: read it again.") from exc
    after = {"domain_id": domain_id, "source": source, "number": row.number, "document": dict(document)}
    return row, Change("policy_versions", str(row.id), None, after)
