"""Taking an applied call back: its action appends what restores the rows, and the entry is marked as taken back."""

from __future__ import annotations

from datetime import timedelta
from typing import Any
from uuid import UUID

from django.db import IntegrityError, transaction

from governance.contracts import Outcome
from governance.models import AuditEntry, Reversal
from kernel.actions import Action, Change, get
from kernel.context import Ctx
from kernel.errors import DomainError, NotFoundError, TransitionError


def require_reversible(entry: AuditEntry, days: int, ctx: Ctx) -> None:
    """Refuse what cannot be taken back, saying what to do instead: TransitionError."""
    if entry.outcome != Outcome.ALLOWED or not entry.changes:
        raise TransitionError(f"That call of {entry.action} changed nothing: there is nothing to take back.")
    if _action(entry) is None:
        raise TransitionError(
            f"A call of {entry.action} cannot be taken back by itself: make the opposite change with its own action"
            " and name this entry in the reason."
        )
    if ctx.now - entry.at > timedelta(days=days):
        raise TransitionError(f"That was more than {days} days ago: make the opposite change as a new one.")
    taken = Reversal.objects.filter(entry=entry).first()
    if taken is not None:
        raise _taken(taken)


def take_back(entry: AuditEntry, reason: str, ctx: Ctx) -> list[Change]:
    """Undo the call of an audit entry inside the present transaction. Raises DomainError where it has moved on since."""
    action = _action(entry)
    if action is None or action.reverse is None:
        raise TransitionError(f"A call of {entry.action} cannot be taken back.")
    try:
        with transaction.atomic():
            Reversal.objects.create(
                entry=entry,
                by_id=ctx.actor.id,
                by_name=ctx.actor.name,
                reason=reason,
                request_id=ctx.request_id,
                created_at=ctx.now,
            )
    except IntegrityError as exc:
        raise _taken(Reversal.objects.get(entry=entry)) from exc
    changes = [Change.from_json(kept) for kept in entry.changes]
    given = action.input.parse(entry.proposal.input) if entry.proposal and entry.rule == "approved" else None
    return list(action.reverse(given, changes, ctx))


def carried_out(proposal_id: UUID, action: str) -> AuditEntry | None:
    """The audit entry of the call that an approval carried out last and that was not taken back since."""
    return (
        AuditEntry.objects.filter(
            proposal_id=proposal_id, action=action, outcome=Outcome.ALLOWED, rule="approved", reversal=None
        )
        .order_by("-id")
        .first()
    )


def _action(entry: AuditEntry) -> Action[Any, Any, Any] | None:
    try:
        action = get(entry.action)
    except NotFoundError:
        return None
    return action if action.reverse is not None else None


def _taken(by: Reversal) -> DomainError:
    return TransitionError(f"{by.by_name} took that back at {by.created_at:%Y-%m-%d %H:%M} UTC: nothing was changed.")
