"""Taking an applied call back: its action appends what restores the rows, and the entry is marked as taken back."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import timedelta
from typing import Any
from uuid import UUID

from django.db import IntegrityError, transaction

from governance.contracts import Outcome
from governance.contracts.erasing import is_mark
from governance.models import AuditEntry, Reversal
from kernel.actions import Action, Change, get
from kernel.context import Ctx
from kernel.errors import DomainError, NotFoundError, TransitionError

_NOTHING = "there is nothing to take back."


class IrreversibleError(TransitionError):
    """The action has no way back: the message says what to do instead."""


def require_reversible(entry: AuditEntry, days: int, ctx: Ctx) -> None:
    """Refuse what cannot be taken back, saying what to do instead: TransitionError."""
    if entry.outcome != Outcome.ALLOWED or not entry.changes:
        raise TransitionError(f"That call of {entry.action} changed nothing: {_NOTHING}")
    _reverse_of(entry.action)
    if any(is_mark(change[side]) for change in entry.changes for side in ("before", "after")):
        raise TransitionError("Something that this call changed was erased since: there is nothing to go back to.")
    if ctx.now - entry.at > timedelta(days=days):
        raise TransitionError(f"That was more than {days} days ago: make the opposite change as a new one.")
    taken = Reversal.objects.filter(entry=entry).first()
    if taken is not None:
        raise _taken(taken)


def no_way_back(name: str) -> str:
    """Why a call of that action cannot be taken back by itself and what to do instead; empty where it can."""
    try:
        _reverse_of(name)
    except IrreversibleError as exc:
        return exc.message
    return ""


def take_back(entry: AuditEntry, reason: str, ctx: Ctx) -> list[Change]:
    """Undo the call of an audit entry inside the present transaction. Raises DomainError where it has moved on since, or
    where nothing of it can be restored."""
    action, reverse = _reverse_of(entry.action)
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
    restored = list(reverse(given, changes, ctx))
    if not restored:
        raise TransitionError(f"That call of {entry.action} changed no row that could be restored: {_NOTHING}")
    return restored


def carried_out(proposal_id: UUID, action: str) -> AuditEntry | None:
    """The audit entry of the call that an approval carried out last and that was not taken back since."""
    return (
        AuditEntry.objects.filter(
            proposal_id=proposal_id, action=action, outcome=Outcome.ALLOWED, rule="approved", reversal=None
        )
        .order_by("-id")
        .first()
    )


def _reverse_of(name: str) -> tuple[Action[Any, Any, Any], Callable[[Any, Sequence[Change], Ctx], Sequence[Change]]]:
    """The action of that name and its reverse. Raises IrreversibleError."""
    try:
        action = get(name)
    except NotFoundError as exc:
        raise IrreversibleError(
            f"{name} is no action any more, so its call cannot be taken back by itself: make the opposite change."
        ) from exc
    if action.reverse is None:
        instead = action.instead or "Make the opposite change with its own action and name this call in the reason."
        raise IrreversibleError(f"A call of {name} cannot be taken back by itself. {instead}")
    return action, action.reverse


def _taken(by: Reversal) -> DomainError:
    return TransitionError(f"{by.by_name} took that back at {by.created_at:%Y-%m-%d %H:%M} UTC: nothing was changed.")
