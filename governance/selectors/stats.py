"""Reading how reviewing goes, from the decisions that the one who asks may see."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable
from dataclasses import dataclass, field
from datetime import date, datetime, timedelta
from statistics import median
from typing import Any

from django.db.models import Count, QuerySet

from governance.contracts import DayCount, ReviewStatsInput, ReviewStatsResult, Tally, Verdict
from governance.models import BlindReview, Decision, Proposal
from governance.selectors.sight import second_looks
from governance.selectors.undone import with_undone
from kernel.context import Ctx, Right
from scopes.selectors import within_reach

COUNTED = 20_000


@dataclass(frozen=True, slots=True)
class _Made:
    """One decision with what it was about."""

    verdict: Verdict
    by_id: str
    by: str
    at: datetime
    proposed_by: str
    proposed_at: datetime
    undone: bool


@dataclass(slots=True)
class _Sums:
    """What is counted of one reviewer, proposer or day: the decisions that stand, and those that were taken back."""

    counts: dict[Verdict, int] = field(default_factory=lambda: dict.fromkeys(Verdict, 0))
    reverted: int = 0
    undone: int = 0
    seconds: list[float] = field(default_factory=list)

    def add(self, each: _Made) -> None:
        """Count one decision."""
        if each.undone:
            self.undone += 1
            self.reverted += each.verdict is Verdict.APPROVED
            return
        self.counts[each.verdict] += 1
        if each.verdict in (Verdict.APPROVED, Verdict.REJECTED):
            self.seconds.append((each.at - each.proposed_at).total_seconds())

    def tally(self, name: str) -> Tally:
        """As answers show it."""
        approved, rejected = self.counts[Verdict.APPROVED], self.counts[Verdict.REJECTED]
        return Tally(
            name=name,
            approved=approved,
            rejected=rejected,
            changes_requested=self.counts[Verdict.CHANGES_REQUESTED],
            undone=self.undone,
            reverted=self.reverted,
            approve_rate=approve_rate(approved, rejected),
            reverted_rate=_share(self.reverted, approved + self.reverted),
            median_seconds=round(median(self.seconds), 3) if self.seconds else None,
        )


def review_stats(given: ReviewStatsInput, ctx: Ctx) -> ReviewStatsResult:
    """The figures of a span of days, from its newest 20,000 decisions at most."""
    first = ctx.now.date() - timedelta(days=given.days - 1)
    since = ctx.now.replace(hour=0, minute=0, second=0, microsecond=0) - timedelta(days=given.days - 1)
    made, more = _decisions(given.domain_id, since, ctx)
    second = _second_looks(given.domain_id, since, ctx)
    agreed = [agrees for agrees in second if agrees]
    return ReviewStatsResult(
        days=_days(made, first, given.days),
        overall=_sum(made).tally("all"),
        reviewers=_by(made, lambda each: each.by),
        agents=_by(made, lambda each: each.proposed_by),
        mine=_sum(each for each in made if each.by_id == ctx.actor.id).tally(ctx.actor.name),
        looked_at_twice=len(second),
        agreed=len(agreed),
        counted=len(made),
        at_least=more,
    )


def standing_verdicts(
    proposers: Collection[str], domain_id: str | None, since: datetime, ctx: Ctx
) -> dict[tuple[str, str], int]:
    """How many decisions of each verdict were made since then on proposals of these actors, and stand: by actor id and
    verdict, as far as the one who asks may audit them."""
    place = within_reach(ctx, Right.AUDIT, domain="proposal__domain_id", scope="proposal__scope")
    rows = Decision.objects.filter(place, created_at__gte=since, proposal__proposer_id__in=proposers)
    if domain_id is not None:
        rows = rows.filter(proposal__domain_id=domain_id)
    counted = with_undone(rows).filter(undone=False).order_by().values_list("proposal__proposer_id", "verdict")
    return {(proposer, verdict): number for proposer, verdict, number in counted.annotate(n=Count("pk"))}


def approve_rate(approved: int, rejected: int) -> float | None:
    """The share of approvals among the approvals and rejections that stand, 0 to 1; None where there are none. It is the
    one rate that every page and answer tells."""
    return _share(approved, approved + rejected)


def blind_cases(domain_id: str | None, ctx: Ctx) -> QuerySet[Proposal]:
    """Decided proposals of the sample that wait for a second look by the actor, who neither proposed nor decided."""
    rows = second_looks(ctx).prefetch_related("decisions")
    return rows.filter(domain_id=domain_id) if domain_id is not None else rows


def _decisions(domain_id: str | None, since: datetime, ctx: Ctx) -> tuple[list[_Made], bool]:
    """The decisions in sight, oldest first, and whether there are more."""
    rows = _in_sight(Decision.objects.filter(created_at__gte=since), domain_id, ctx)
    columns = ("verdict", "by_id", "by_name", "created_at")
    about = ("proposal__proposer_name", "proposal__created_at", "undone")
    found = list(with_undone(rows).order_by("-created_at", "-id").values_list(*columns, *about)[: COUNTED + 1])
    made = [_Made(Verdict(verdict), *rest) for verdict, *rest in reversed(found[:COUNTED])]
    return made, len(found) > COUNTED


def _second_looks(domain_id: str | None, since: datetime, ctx: Ctx) -> list[bool]:
    rows = _in_sight(BlindReview.objects.filter(created_at__gte=since), domain_id, ctx)
    return list(rows.order_by("-id").values_list("agrees", flat=True)[:COUNTED])


def _in_sight(rows: QuerySet[Any], domain_id: str | None, ctx: Ctx) -> QuerySet[Any]:
    seen = rows.filter(within_reach(ctx, Right.DECIDE, domain="proposal__domain_id", scope="proposal__scope"))
    return seen.filter(proposal__domain_id=domain_id) if domain_id is not None else seen


def _sum(made: Iterable[_Made]) -> _Sums:
    sums = _Sums()
    for each in made:
        sums.add(each)
    return sums


def _by(made: list[_Made], name: Callable[[_Made], str]) -> list[Tally]:
    groups: dict[str, list[_Made]] = {}
    for each in made:
        groups.setdefault(name(each), []).append(each)
    return [_sum(groups[who]).tally(who) for who in sorted(groups)]


def _days(made: list[_Made], first: date, days: int) -> list[DayCount]:
    sums = {first + timedelta(days=number): _Sums() for number in range(days)}
    for each in made:
        if each.at.date() in sums:
            sums[each.at.date()].add(each)
    return [
        DayCount(
            day=day,
            approved=found.counts[Verdict.APPROVED],
            rejected=found.counts[Verdict.REJECTED],
            changes_requested=found.counts[Verdict.CHANGES_REQUESTED],
            undone=found.undone,
        )
        for day, found in sums.items()
    ]


def _share(part: int, whole: int) -> float | None:
    return round(part / whole, 4) if whole else None
