"""What each actor did lately, summed up from the newest visible audit entries and its proposals."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime, timedelta
from typing import Any

from django.db.models import Count, Max, Q, QuerySet

from governance import selectors
from governance.contracts import ActorActivity, AgentActivityInput, Outcome, Verdict
from governance.models import OPEN_STATES, AuditEntry, Proposal
from kernel.actions import Effect, all_actions
from kernel.context import Ctx, Right
from scopes.selectors import within_reach

SHOWN = 100
RECENT = timedelta(minutes=10)
BURST_WRITES = 20
BURST_TIMES = 5


def newest(given: AgentActivityInput, since: datetime, ctx: Ctx) -> tuple[QuerySet[AuditEntry], bool]:
    """The calls to sum up, and whether these are all since then."""
    rows = selectors.visible_audit(ctx)
    if given.domain_id is not None:
        rows = rows.filter(domain_id=given.domain_id)
    bound = rows.order_by("-at", "-id").values_list("at", flat=True)[given.limit - 1 : given.limit].first()
    rows = rows.filter(actor_kind=given.kind, at__gte=since)
    if bound is None:
        return rows, True
    return rows.filter(at__gte=bound), bound < since


def sum_up(rows: QuerySet[AuditEntry], given: AgentActivityInput, since: datetime, ctx: Ctx) -> list[ActorActivity]:
    """The activity of each actor in these calls, most calls first."""
    writing = [action.name for action in all_actions() if action.effect != Effect.READ]
    writes = Q(action__in=writing)
    counted = (
        rows.order_by()
        .values("actor_id")
        .annotate(
            name=Max("actor_name"),
            calls=Count("id"),
            writes=Count("id", filter=writes),
            recent=Count("id", filter=writes & Q(at__gte=ctx.now - RECENT)),
            denied=Count("id", filter=Q(outcome=Outcome.DENIED)),
            failed=Count("id", filter=Q(outcome__in=[Outcome.INVALID, Outcome.FAILED])),
            seen=Max("at"),
        )
        .order_by("-calls", "actor_id")[:SHOWN]
    )
    found = _plain(counted)
    proposals = _proposals([row["actor_id"] for row in found], given, since, ctx)
    return [_activity(row, proposals.get(row["actor_id"], {}), since, ctx) for row in found]


def _proposals(actors: list[str], given: AgentActivityInput, since: datetime, ctx: Ctx) -> dict[str, dict[str, int]]:
    rows = Proposal.objects.filter(within_reach(ctx, Right.AUDIT), proposer_id__in=actors, created_at__gte=since)
    if given.domain_id is not None:
        rows = rows.filter(domain_id=given.domain_id)
    found = (
        rows.order_by()
        .values("proposer_id")
        .annotate(
            proposed=Count("id"),
            waiting=Count("id", filter=Q(state__in=OPEN_STATES)),
        )
    )
    counts = {row["proposer_id"]: {name: int(row[name]) for name in ("proposed", "waiting")} for row in _plain(found)}
    for (actor, verdict), number in selectors.standing_verdicts(actors, given.domain_id, since, ctx).items():
        counts.setdefault(actor, {})[verdict] = number
    return counts


def _plain(rows: Iterable[Any]) -> list[dict[str, Any]]:
    return [dict(row) for row in rows]


def _activity(row: dict[str, Any], proposals: dict[str, int], since: datetime, ctx: Ctx) -> ActorActivity:
    usual = row["writes"] * (RECENT / max(ctx.now - since, RECENT))
    approved, rejected = proposals.get(Verdict.APPROVED, 0), proposals.get(Verdict.REJECTED, 0)
    return ActorActivity(
        actor_id=row["actor_id"],
        name=row["name"],
        calls=row["calls"],
        writes=row["writes"],
        denied=row["denied"],
        failed=row["failed"],
        recent_writes=row["recent"],
        burst=row["recent"] >= BURST_WRITES and row["recent"] >= BURST_TIMES * usual,
        last_seen=row["seen"],
        proposed=proposals.get("proposed", 0),
        waiting=proposals.get("waiting", 0),
        approved=approved,
        rejected=rejected,
        approve_rate=selectors.approve_rate(approved, rejected),
    )
