"""How much a person decides: at once (`review.bulk_cap`) and in a day (`review.daily_cap`)."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import timedelta

from django.contrib.auth import get_user_model

from governance import selectors
from governance.models import Proposal
from governance.policies import ReviewPolicy, in_force
from kernel.context import Ctx
from kernel.errors import QuotaExceededError


class DailyCapError(QuotaExceededError):
    """The person decided as much today as the policy lets one person decide in a day."""


def bulk_cap(domains: Iterable[str | None], ctx: Ctx) -> int:
    """How many proposals one call decides that touches these domains: the smallest of their caps, or the installation's
    where there are none."""
    return min(in_force(domain_id, ctx).section(ReviewPolicy).bulk_cap for domain_id in set(domains) or {None})


def require_room_today(row: Proposal, ctx: Ctx) -> None:
    """Refuse a decision over the cap of the proposal's domain: DailyCapError says when it goes on and what to do instead.

    Call it first in the transaction that decides. Until that ends no other decision of the same person is counted, so
    two at once do not both find the last place.
    """
    cap = in_force(row.domain_id, ctx).section(ReviewPolicy).daily_cap
    if not cap:
        return
    user_id = ctx.actor.id.partition(":")[2]
    get_user_model().objects.select_for_update(no_key=True).only("pk").get(pk=user_id)
    done = selectors.decided_today(ctx).given
    if done < cap:
        return
    wait = int((selectors.midnight(ctx) + timedelta(days=1) - ctx.now).total_seconds()) + 1
    where = f"in domain {row.domain_id}" if row.domain_id is not None else "over the installation"
    raise DailyCapError(
        f"You decided {done} times today, and review.daily_cap lets one person decide {cap} times a day {where}: go on "
        f"after midnight UTC, in {_span(wait)}, or leave it to another reviewer.",
        retry_after=wait,
        extra={"quota": "daily_cap", "limit": cap, "retry_after": wait},
    )


def _span(seconds: int) -> str:
    minutes = -(-seconds // 60)
    return f"{minutes // 60} h {minutes % 60} min" if minutes >= 60 else f"{minutes} min"
