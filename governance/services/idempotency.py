"""Keeping the first answer to an idempotency key."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from governance.contracts.erasing import is_mark
from governance.models import IdempotencyRecord
from governance.services.audit import Trail
from kernel.context import Ctx
from kernel.errors import IdempotencyConflictError


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
    """The stored answer of an earlier call with this key. Raises IdempotencyConflictError for another payload, as far as
    can be told: of what was erased since, the payload's digest is gone too."""
    row = IdempotencyRecord.objects.filter(
        domain=trail.domain_id or "", actor=ctx.actor.id, action=trail.action, key=key
    ).first()
    if row is not None and not was_erased(row) and row.fingerprint != trail.input_digest:
        raise IdempotencyConflictError
    return row


def earlier_removal(trail: Trail, key: str, ctx: Ctx) -> IdempotencyRecord | None:
    """The stored answer of an equal call with this key in a domain that the actor still knows, whichever it was: what is
    removed tells its domain no more."""
    rows = IdempotencyRecord.objects.filter(
        actor=ctx.actor.id, action=trail.action, key=key, fingerprint__in=[trail.input_digest, ""]
    )
    return next((row for row in rows.order_by("pk") if not row.domain or ctx.knows(row.domain)), None)


def was_erased(row: IdempotencyRecord) -> bool:
    """Whether what the first call did was erased since, and its answer with it."""
    return is_mark(row.answer)
