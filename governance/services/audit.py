"""Writing audit entries: what is known of a call, and what became of it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from uuid import UUID

from governance.contracts import Outcome
from governance.models import AuditEntry, AuditObject, AuditPlace
from governance.policies import Facts
from kernel.actions import Change, Effect
from kernel.context import Ctx
from kernel.errors import DomainError
from kernel.rows import insert
from kernel.text import storable

_DENIED = frozenset({"unauthenticated", "forbidden", "not_found", "scope_not_writable", "quota_exceeded"})
_INVALID = frozenset({"invalid_json", "invalid_input", "too_large", "unsupported_media_type"})


@dataclass(slots=True)
class Trail:
    """What is known so far of a call, for its audit entry. `reason` is the one that its maker gave."""

    action: str
    domain_id: str | None = None
    scope: str = "*"
    rule: str = ""
    policy_version: str = ""
    input_digest: str = ""
    facts: Facts | None = None
    proposal_id: UUID | None = None
    changes: Sequence[Change] = field(default_factory=list)
    reason: str = ""


def record(trail: Trail, ctx: Ctx, outcome: Outcome, *, reason: str = "", code: str = "") -> AuditEntry:
    """Append one audit entry. An approved call is entered under the person who decided, on behalf of the proposer.
    `reason`: why it was refused, or else the one that was given."""
    decided_by = ctx.approval.decided_by if ctx.approval else None
    actor = decided_by or ctx.actor
    entry = AuditEntry(
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
        reason=reason or storable(trail.reason),
        facts=trail.facts.as_json() if trail.facts else {},
        input_digest=trail.input_digest,
        changes=[change.as_json() for change in trail.changes],
        proposal_id=trail.proposal_id,
    )
    insert([entry])
    if trail.facts is None or trail.facts.effect != Effect.READ:
        _index(entry, trail.changes)
    return entry


def _index(entry: AuditEntry, changes: Sequence[Change]) -> None:
    """Note which objects an entry changed and in which scopes beside its own, so that it is found by both."""
    touched = {(change.table, change.id) for change in changes}
    if touched:
        rows = [
            AuditObject(table=table, object_id=object_id, entry_id=entry.id) for table, object_id in sorted(touched)
        ]
        insert(rows)
    beyond = {scope for change in changes for scope in change.scopes} - {entry.scope}
    if beyond and entry.domain_id is not None:
        places = [
            AuditPlace(domain_id=entry.domain_id, scope=scope, at=entry.at, entry_id=entry.id)
            for scope in sorted(beyond)
        ]
        insert(places)


def record_refusal(trail: Trail, ctx: Ctx, error: DomainError) -> AuditEntry:
    """Append the entry of a refused call: denied, invalid or failed by the error's code."""
    outcome = (
        Outcome.DENIED if error.code in _DENIED else Outcome.INVALID if error.code in _INVALID else Outcome.FAILED
    )
    return record(trail, ctx, outcome, reason=storable(error.message)[:2000], code=error.code)
