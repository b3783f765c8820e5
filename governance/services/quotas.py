"""Counting what quotas limit, in the database, so that every process counts the same."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from django.db import DatabaseError

from governance.hooks import counted_tables
from governance.models import OPEN_STATES, Proposal, QuotaCounter
from governance.policies import QuotasPolicy
from kernel.actions import Change, Effect
from kernel.context import Ctx
from kernel.db import count_up
from kernel.errors import QuotaExceededError, UnavailableError

MINUTE = 60
DAY = 86_400
LOOK_AGAIN = 3_600  # seconds: nobody knows when people will have decided


@dataclass(frozen=True, slots=True)
class _Use:
    """An amount to count towards a limit in a span of `seconds`; `actor` is empty for what all use together."""

    kind: str
    seconds: int
    limit: int
    amount: int
    actor: str


def charge_call(quotas: QuotasPolicy, domain_id: str | None, effect: str, ctx: Ctx) -> None:
    """Count one call. Raises QuotaExceededError over a limit; nothing is asked of the database where none is set."""
    if ctx.actor.kind not in quotas.actor_kinds:
        return
    limits = quotas.of(ctx.actor.name)
    uses = []
    if limits.calls_per_minute is not None:
        uses.append(_Use("calls_per_minute", MINUTE, limits.calls_per_minute, 1, ctx.actor.id))
    if limits.writes_per_minute is not None and effect != Effect.READ:
        uses.append(_Use("writes_per_minute", MINUTE, limits.writes_per_minute, 1, ctx.actor.id))
    _charge(uses, domain_id, ctx)


def charge_items(quotas: QuotasPolicy, domain_id: str | None, changes: Sequence[Change], ctx: Ctx) -> None:
    """Count the items that a call adds, in its own transaction. Raises QuotaExceededError over a limit, unless a
    person approved the call."""
    if domain_id is None or ctx.actor.kind not in quotas.actor_kinds:
        return
    mine, all_together = quotas.of(ctx.actor.name).items_per_day, quotas.domain_items_per_day
    if mine is None and all_together is None:
        return
    added = sum(change.before is None and change.table in counted_tables() for change in changes)
    if not added:
        return
    uses = []
    if mine is not None:
        uses.append(_Use("items_per_day", DAY, mine, added, ctx.actor.id))
    if all_together is not None:
        uses.append(_Use("domain_items_per_day", DAY, all_together, added, ""))
    _charge(uses, domain_id, ctx)


def charge_upload(quotas: QuotasPolicy, domain_id: str, size: int, ctx: Ctx) -> None:
    """Count bytes that the actor brings. Raises QuotaExceededError over a limit: then they are not counted."""
    limit = quotas.of(ctx.actor.name).upload_bytes_per_day
    if limit is not None:
        _charge([_Use("upload_bytes_per_day", DAY, limit, size, ctx.actor.id)], domain_id, ctx)


def check_open_proposals(quotas: QuotasPolicy, domain_id: str | None, ctx: Ctx) -> None:
    """Raise QuotaExceededError where the actor has more proposals open in the domain than its limit, the newest counted."""
    limit = quotas.of(ctx.actor.name).open_proposals
    if limit is None or ctx.actor.kind not in quotas.actor_kinds:
        return
    mine = Proposal.objects.filter(domain_id=domain_id, proposer_id=ctx.actor.id, state__in=OPEN_STATES)
    if mine.values("pk")[: limit + 1].count() > limit:
        raise QuotaExceededError(
            f"{limit} of your proposals wait already (quotas.open_proposals): withdraw some, or wait for decisions "
            f"and try again in {LOOK_AGAIN} seconds.",
            retry_after=LOOK_AGAIN,
            extra={"quota": "open_proposals", "limit": limit, "retry_after": LOOK_AGAIN},
        )


def _charge(uses: Sequence[_Use], domain_id: str | None, ctx: Ctx) -> None:
    if not uses:
        return
    now = int(ctx.now.timestamp())
    rows = [(domain_id or "", use.actor, use.kind, now // use.seconds, use.amount) for use in uses]
    try:
        used = count_up(QuotaCounter, rows)
    except DatabaseError as exc:
        raise UnavailableError("Quotas cannot be counted now, so nothing is done: try again later.") from exc
    if ctx.approval is not None:
        return
    for use in uses:
        if used[(use.actor, use.kind)] > use.limit:
            wait = use.seconds - now % use.seconds
            raise QuotaExceededError(
                f"Over the quota quotas.{use.kind} of {use.limit}: try again in {wait} seconds.",
                retry_after=wait,
                extra={"quota": use.kind, "limit": use.limit, "retry_after": wait},
            )
