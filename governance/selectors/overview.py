"""The figures of the front page: what waits by risk and age, what was decided day by day, what the person did today."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from uuid import UUID

from django.db.models import Case, CharField, Count, F, Q, Value, When
from django.db.models.functions import TruncDate

from governance.contracts import ProposalState, Risk, Verdict
from governance.hooks import HeldCall
from governance.models import RISKS, Decision, Proposal
from governance.selectors.proposals import decidable, midnight
from governance.selectors.sight import visible_proposals
from governance.selectors.undone import TAKEN_BACK, with_undone
from kernel.context import Ctx, Right
from scopes.selectors import within_reach

DAYS = 30
SHOWN = 8
UNDONE = "undone"
_WHAT = Case(When(undone=True, then=Value(UNDONE)), default=F("verdict"), output_field=CharField())


@dataclass(frozen=True, slots=True)
class Waiting:
    """Open proposals of one risk, by the time since they came."""

    risk: Risk
    day: int
    week: int
    older: int

    @property
    def all(self) -> int:
        """Whatever their age."""
        return self.day + self.week + self.older


@dataclass(frozen=True, slots=True)
class Day:
    """What was decided in one day (UTC) and stands; `undone` counts what was taken back later."""

    day: date
    approved: int
    rejected: int
    sent_back: int
    undone: int


@dataclass(frozen=True, slots=True)
class OwnDay:
    """What the person decided since midnight UTC: how often each verdict that stands, those undone since as `undone`, and
    the latest decisions, with what they took back."""

    counts: Sequence[tuple[str, int]]
    latest: Sequence[Decision]


def waiting_work(ctx: Ctx) -> list[Waiting]:
    """What waits for a decision of the person, put-off proposals left out, the highest risk first."""
    snoozed = Q(snoozed_until__gt=ctx.now) | Q(snoozed_to_seen__gt=F("seen"))
    day, week = Q(created_at__gte=ctx.now - timedelta(days=1)), Q(created_at__gte=ctx.now - timedelta(days=7))
    rows = (
        decidable(ctx).prefetch_related(None).filter(Q(state=ProposalState.OPEN) & ~snoozed).order_by().values("risk")
    )
    counted = rows.annotate(
        day=Count("pk", filter=day), week=Count("pk", filter=week & ~day), older=Count("pk", filter=~week)
    )
    found = {row["risk"]: (row["day"], row["week"], row["older"]) for row in counted}
    return [Waiting(risk, *found.get(place, (0, 0, 0))) for place, risk in reversed(list(enumerate(RISKS)))]


def decided_by_day(ctx: Ctx) -> list[Day]:
    """The decisions of the last thirty days on proposals that the person may decide on, by everyone."""
    first = (ctx.now - timedelta(days=DAYS - 1)).date()
    since = datetime(first.year, first.month, first.day, tzinfo=UTC)
    rows = Decision.objects.filter(
        within_reach(ctx, Right.DECIDE, domain="proposal__domain_id", scope="proposal__scope"), created_at__gte=since
    )
    by_day = with_undone(rows).order_by().values(day=TruncDate("created_at", tzinfo=UTC), what=_WHAT)
    found = {(row["day"], row["what"]): row["n"] for row in by_day.annotate(n=Count("pk"))}
    counted = (Verdict.APPROVED.value, Verdict.REJECTED.value, Verdict.CHANGES_REQUESTED.value, UNDONE)
    days = [first + timedelta(days=place) for place in range(DAYS)]
    return [Day(day, *(found.get((day, what), 0) for what in counted)) for day in days]


def own_day(ctx: Ctx) -> OwnDay:
    """What the person decided today. All of it counts; told are the decisions on proposals that the person may see."""
    rows = Decision.objects.filter(by_id=ctx.actor.id, created_at__gte=midnight(ctx))
    counts = (
        with_undone(rows.exclude(verdict__in=TAKEN_BACK))
        .order_by()
        .values(what=_WHAT)
        .annotate(n=Count("pk"))
        .order_by("what")
    )
    seen = visible_proposals(ctx).order_by().values("pk")
    latest = (
        rows.filter(proposal__in=seen)
        .select_related("proposal")
        .defer("input", "proposal__input", "proposal__changes", "proposal__search_text")
    )
    return OwnDay([(row["what"], row["n"]) for row in counts], list(latest.order_by("-created_at", "-id")[:SHOWN]))


@dataclass(frozen=True, slots=True)
class Told:
    """What a proposal would change: the words of its app for what stands and what would stand, the call with the rows, and
    the proposal as far as it was read for that."""

    before: str
    after: str
    call: HeldCall
    row: Proposal | None = None


_TOLD = (
    "told_before", "told_after", "action", "input", "changes", "domain_id", "scope", "drafted", "revision", "approvals",
    "proposer_kind", "proposer_id", "proposer_name", "proposer_owner",
)  # fmt: skip


def changes_of_proposals(proposals: Sequence[UUID], ctx: Ctx) -> dict[UUID, Told]:
    """What visible proposals would change, by proposal; not of a draft whose whole policy the person may not read."""
    readable = Q(drafted=False) | within_reach(ctx, Right.AUDIT)
    rows = visible_proposals(ctx).prefetch_related(None).filter(readable, pk__in=proposals)
    return {
        row.pk: Told(row.told_before, row.told_after, HeldCall(row.action, row.input, row.changes), row)
        for row in rows.order_by().only(*_TOLD)
    }
