"""Reading proposals: one, a page of a queue, and how many a queue holds."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any
from uuid import UUID

from django.db.models import Count, Exists, F, OuterRef, Q, QuerySet, Subquery, TextField, UUIDField, Value
from django.db.models.functions import Cast, Coalesce

from governance.contracts import (
    ClaimView,
    DecisionView,
    ListProposalsInput,
    Outcome,
    ProposalDetail,
    ProposalFilters,
    ProposalState,
    ProposalView,
    QueueCount,
    QueueFilters,
    QueueName,
    SnoozeView,
    Verdict,
)
from governance.models import OPEN_STATES, RISKS, AuditEntry, Decision, Mention, Proposal
from governance.selectors.counting import bounded_counts
from governance.selectors.sight import decided_by, second_looks, visible_proposals
from governance.selectors.undone import TAKEN_BACK, with_undone
from kernel.context import ANY, Ctx, Right, type_prefix
from kernel.errors import NotFoundError
from kernel.paging import bad_cursor, decode, encode, page
from kernel.text import fold
from scopes.selectors import within_reach

QUEUES: tuple[QueueName, ...] = ("open", "mine", "snoozed", "changes_requested", "approved", "rejected")
BY_RISK = frozenset({"open", "mine", "snoozed", "changes_requested"})
COUNTED_TO = 10_000
_ALIKE = ("similar_key", "action", "domain_id", "scope")
_LARGE = ("input", "changes", "search_text", "proposed_input")

MAX_SUBJECTS = 10_000


class SecondLookError(NotFoundError):
    """The proposal is not shown to a person before their second look is given."""


def get_proposal(proposal_id: UUID, ctx: Ctx) -> Proposal:
    """One visible proposal. Raises NotFoundError."""
    row = visible_proposals(ctx).filter(pk=proposal_id).first()
    if row is None:
        raise _unseen(proposal_id, ctx)
    return row


def _unseen(proposal_id: UUID, ctx: Ctx) -> NotFoundError:
    """Why a proposal is not shown."""
    if second_looks(ctx).filter(pk=proposal_id).exists():
        return SecondLookError(
            f"Proposal {proposal_id} waits for a second look of yours: give it with review_blindly, or under Second looks "
            "in the admin. Then you see what was decided."
        )
    return NotFoundError(f"No proposal {proposal_id} that you can see.")


def decided_unseen(proposal_id: UUID, ctx: Ctx) -> str:
    """Who decided, and when, on a proposal that waits for a second look of the actor; not what. Empty where none waits."""
    row = second_looks(ctx).filter(pk=proposal_id).prefetch_related("decisions").first()
    last = list(row.decisions.all())[-1] if row is not None else None
    if last is None:
        return ""
    return (
        f"Proposal {proposal_id} was decided by {last.by_name} at {last.created_at:%Y-%m-%d %H:%M} UTC: nothing was changed. "
        "It waits for a second look of yours: give it with review_blindly, or under Second looks in the admin. Then you "
        "see what was decided."
    )


@dataclass(frozen=True, slots=True)
class Seen:
    """A proposal to look at: how many visible open ones say nearly the same, itself included, its neighbours in the list
    from which it was opened, and the recorded facts on which its call was held (None: none are on record)."""

    row: Proposal
    similar_open: int
    previous_id: UUID | None
    next_id: UUID | None
    held_on: dict[str, Any] | None


def proposal_to_review(proposal_id: UUID, given: ProposalFilters | None, ctx: Ctx) -> Seen:
    """One visible proposal without its decisions, and what of other ones is needed beside it, in one statement. `given`
    is the list from which it was opened; None: no neighbours. Raises NotFoundError."""
    seen = visible_proposals(ctx).prefetch_related(None)
    same = seen.filter(
        state=ProposalState.OPEN, **{column: OuterRef(column) for column in _ALIKE if column != "domain_id"}
    )
    same = same.annotate(place=_place("domain_id")).filter(place=_place(OuterRef("domain_id")))
    counted = same.exclude(similar_key="").order_by().values("similar_key").annotate(n=Count("pk")).values("n")
    entries = AuditEntry.objects.filter(proposal=OuterRef("pk"), outcome=Outcome.QUEUED).exclude(facts={})
    facts = entries.order_by("id").values("facts")[:1]
    around = neighbours_in(given, ctx) if given is not None else (Value(None), Value(None))
    previous_id, next_id = (Cast(each, UUIDField()) if isinstance(each, Value) else each for each in around)
    rows = seen.filter(pk=proposal_id).annotate(similar_open=Subquery(counted), held_on=Subquery(facts))
    row = rows.annotate(previous_id=previous_id, next_id=next_id).first()
    if row is None:
        raise _unseen(proposal_id, ctx)
    return Seen(row, row.similar_open or 0, row.previous_id, row.next_id, row.held_on)


def _place(domain_id: str | OuterRef) -> Coalesce:
    """A domain, or where a proposal is about the installation an empty text: NULL is equal to nothing, not to itself."""
    return Coalesce(domain_id, Value(""), output_field=TextField())


def decidable(ctx: Ctx) -> QuerySet[Proposal]:
    """The visible proposals on whose scope the actor may decide."""
    return visible_proposals(ctx).filter(decided_by(ctx))


def filter_proposals(given: ProposalFilters, ctx: Ctx) -> QuerySet[Proposal]:
    """Visible proposals that fit the filters."""
    rows = _narrowed(given, ctx)
    if given.state is not None:
        rows = rows.filter(state=given.state)
    return rows.filter(_in_queue(given.queue, ctx)) if given.queue is not None else rows


def _narrowed(given: QueueFilters, ctx: Ctx) -> QuerySet[Proposal]:
    """Visible proposals that fit the filters, in whichever queue."""
    wanted = {
        "domain_id": given.domain_id,
        "action": given.action,
        "proposer_name": given.proposer,
        "risk": RISKS.index(given.risk) if given.risk is not None else None,
        "created_at__lte": ctx.now - timedelta(hours=given.min_age_hours) if given.min_age_hours else None,
        "has_conflict": given.has_conflict,
        "rule": given.rule,
        "search_text__contains": fold(given.text) if given.text else None,
    }
    rows = visible_proposals(ctx).filter(**{column: value for column, value in wanted.items() if value is not None})
    if given.text:  # nor may anyone guess by words what they may not read
        rows = rows.filter(Q(drafted=False) | within_reach(ctx, Right.AUDIT))
    if given.scope is not None:
        rows = rows.filter(_in_scopes(given.scope))
    if given.similar_to is not None:
        rows = rows.filter(_like(get_proposal(given.similar_to, ctx)))
    if given.mentions_me:
        rows = rows.filter(Exists(Mention.objects.filter(proposal=OuterRef("pk"), person_id=ctx.actor.id)))
    return rows


def page_of_proposals(given: ListProposalsInput, ctx: Ctx) -> tuple[list[Proposal], str | None]:
    """One page of the proposals that fit, without their inputs, and the cursor of the next page or None at the end."""
    rows = filter_proposals(given, ctx).defer(*_LARGE)
    if given.queue not in BY_RISK:
        return page(rows, given, "id", UUID, newest_first=True)
    place = decode(given, 2)
    if place is not None:
        try:
            risk, after = int(place[0]), UUID(place[1])
        except ValueError as exc:
            raise bad_cursor() from exc
        rows = rows.filter(Q(risk__lt=risk) | Q(risk=risk, id__gt=after))
    found = list(rows.order_by("-risk", "id")[: given.limit + 1])
    if len(found) <= given.limit:
        return found, None
    found = found[: given.limit]
    return found, encode([str(found[-1].risk), str(found[-1].id)], given)


def subjects_proposed(domain_id: str, action: str) -> list[str]:
    """What proposals of an action in a domain were about, whatever became of them: the newest 10,000."""
    rows = Proposal.objects.filter(domain_id=domain_id, action=action).order_by("-id")
    return list(rows.values_list("subject_key", flat=True)[:MAX_SUBJECTS])


def neighbours_in(given: ProposalFilters, ctx: Ctx) -> tuple[Subquery, Subquery]:
    """The ids of the neighbours of an outer proposal in a list, in the order of the open queues, whatever became of it:
    the one before, the one after. Of a list that names neither queue nor state only the open ones."""
    rows = filter_proposals(given, ctx).prefetch_related(None).exclude(pk=OuterRef("pk"))
    if given.queue is None and given.state is None:
        rows = rows.filter(state__in=OPEN_STATES)
    risk, place = OuterRef("risk"), OuterRef("pk")
    before = rows.filter(Q(risk__gt=risk) | Q(risk=risk, id__lt=place)).order_by("risk", "-id")
    after = rows.filter(Q(risk__lt=risk) | Q(risk=risk, id__gt=place)).order_by("-risk", "id")
    return Subquery(before.values("pk")[:1]), Subquery(after.values("pk")[:1])


def neighbours_of(proposal_id: UUID, given: ProposalFilters, ctx: Ctx) -> tuple[UUID | None, UUID | None]:
    """The proposals before and after one in a list."""
    before, after = neighbours_in(given, ctx)
    found = Proposal.objects.filter(pk=proposal_id).order_by().values_list(before, after)
    return found.first() or (None, None)


def count_queues(given: QueueFilters, ctx: Ctx) -> list[QueueCount]:
    """How many proposals each queue lists with these filters, counted up to a bound."""
    rows = _narrowed(given, ctx).prefetch_related(None)
    counted = bounded_counts([rows.filter(_in_queue(queue, ctx)) for queue in QUEUES], COUNTED_TO)
    return [
        QueueCount(queue=queue, count=min(count, COUNTED_TO), at_least=count > COUNTED_TO)
        for queue, count in zip(QUEUES, counted, strict=True)
    ]


def count_matching(given: ProposalFilters, ctx: Ctx) -> tuple[int, bool]:
    """How many proposals fit, counted up to a bound, and whether there are more."""
    rows = filter_proposals(given, ctx).prefetch_related(None).order_by()
    found = rows.values("pk")[: COUNTED_TO + 1].count()
    return min(found, COUNTED_TO), found > COUNTED_TO


def count_decidable(domain_id: str | None, ctx: Ctx) -> int:
    """Open proposals that the actor may decide on and did not propose, counted up to a bound."""
    rows = decidable(ctx).filter(_in_queue("open", ctx)).exclude(proposer_id=ctx.actor.id)
    if domain_id is not None:
        rows = rows.filter(domain_id=domain_id)
    return rows.prefetch_related(None).order_by().values("pk")[:COUNTED_TO].count()


def midnight(ctx: Ctx) -> datetime:
    """When the day (UTC) of the call began."""
    return ctx.now.replace(hour=0, minute=0, second=0, microsecond=0)


@dataclass(frozen=True, slots=True)
class Today:
    """The actor's own verdicts since midnight UTC: how many were given, also those undone since, and how many stand.
    Taking back is none."""

    given: int
    standing: int


def decided_today(ctx: Ctx) -> Today:
    """What the actor decided today."""
    mine = Decision.objects.filter(by_id=ctx.actor.id, created_at__gte=midnight(ctx))
    verdicts = with_undone(mine.exclude(verdict__in=TAKEN_BACK)).order_by()
    return Today(**verdicts.aggregate(given=Count("pk"), standing=Count("pk", filter=Q(undone=False))))


def likeness_of(row: Proposal) -> tuple[str, ...]:
    """Equal for proposals on which a person may decide alike: of one action in one place that say nearly the same."""
    return tuple(getattr(row, column) or "" for column in _ALIKE)


def similar_counts(rows: Iterable[Proposal], ctx: Ctx) -> dict[tuple[str, ...], int]:
    """How many visible open proposals share each likeness of these rows."""
    keys = {row.similar_key for row in rows if row.similar_key}
    if not keys:
        return {}
    found = visible_proposals(ctx).prefetch_related(None).filter(similar_key__in=keys, state=ProposalState.OPEN)
    counted = found.order_by().values_list(*_ALIKE).annotate(n=Count("pk"))
    return {tuple(value or "" for value in values): number for *values, number in counted}


def view_proposal(row: Proposal, ctx: Ctx, similar: int | None = None) -> ProposalView:
    """A proposal as lists show it; `similar` counts the open ones that say nearly the same, itself included."""
    return ProposalView(**_proposal_fields(row, ctx, similar))


def view_proposals(rows: list[Proposal], ctx: Ctx) -> list[ProposalView]:
    """Proposals as lists show them, each with the number of others that say nearly the same."""
    counts = similar_counts(rows, ctx)
    return [view_proposal(row, ctx, counts.get(likeness_of(row), 0)) for row in rows]


def view_proposal_detail(row: Proposal, ctx: Ctx, similar: int | None = None) -> ProposalDetail:
    """A proposal with its input and effect; `similar` as for `view_proposal`."""
    if _withheld(row, ctx):
        return ProposalDetail(**_proposal_fields(row, ctx, similar), input={}, changes=[], withheld=True)
    return ProposalDetail(
        **_proposal_fields(row, ctx, similar), input=row.input, proposed_input=row.proposed_input, changes=row.changes
    )


def _withheld(row: Proposal, ctx: Ctx) -> bool:
    """Whether a draft holds a whole policy, and the actor may read the policy of its own scopes only."""
    return row.drafted and not ctx.may(Right.AUDIT, row.domain_id or ANY, row.scope)


def view_decision(row: Decision, *, withheld: bool = False) -> DecisionView:
    """A decision as answers show it; `withheld`: without the input that was made of the proposal."""
    return DecisionView(
        verdict=Verdict(row.verdict),
        by=row.by_name,
        reason=row.reason,
        at=row.created_at,
        revision=row.revision,
        input=None if withheld else row.input,
    )


def view_claim(row: Proposal, ctx: Ctx) -> ClaimView | None:
    """Who is looking at a proposal now."""
    if row.claimed_until is None or row.claimed_until <= ctx.now:
        return None
    return ClaimView(by=row.claimed_name, until=row.claimed_until, mine=row.claimed_by == ctx.actor.id)


def is_snoozed(row: Proposal, ctx: Ctx) -> bool:
    """Whether a proposal is put off now."""
    sleeping = row.snoozed_until is not None and row.snoozed_until > ctx.now
    return sleeping or (row.snoozed_to_seen is not None and row.snoozed_to_seen > row.seen)


def _in_queue(queue: QueueName, ctx: Ctx) -> Q:
    snoozed = Q(snoozed_until__gt=ctx.now) | Q(snoozed_to_seen__gt=F("seen"))
    if queue == "mine":
        return Q(state=ProposalState.OPEN, claimed_by=ctx.actor.id, claimed_until__gt=ctx.now)
    if queue == "snoozed":
        return Q(state=ProposalState.OPEN) & snoozed
    if queue == "open":
        return Q(state=ProposalState.OPEN) & ~snoozed
    return Q(state=queue)


def _in_scopes(pattern: str) -> Q:
    prefix = type_prefix(pattern)
    if prefix is not None:
        return Q(scope__startswith=prefix)
    return Q(pk__isnull=False) if pattern == ANY else Q(scope=pattern)


def _like(row: Proposal) -> Q:
    same = Q(**{column: getattr(row, column) for column in _ALIKE})
    return same if row.similar_key else Q(pk=row.pk)


def _snooze(row: Proposal, ctx: Ctx) -> SnoozeView | None:
    if not is_snoozed(row, ctx):
        return None
    return SnoozeView(by=row.snoozed_name, until=row.snoozed_until, until_seen=row.snoozed_to_seen)


def _proposal_fields(row: Proposal, ctx: Ctx, similar: int | None = None) -> dict[str, object]:
    withheld = _withheld(row, ctx)
    return {
        "id": row.id,
        "action": row.action,
        "state": ProposalState(row.state),
        "domain_id": row.domain_id,
        "scope": row.scope,
        "subject_key": row.subject_key,
        "subject": row.subject,
        "summary": row.summary,
        "risk": RISKS[row.risk],
        "has_conflict": row.has_conflict,
        "revision": row.revision,
        "proposed_by": row.proposer_name,
        "proposer_kind": row.proposer_kind,
        "edited_by": row.editor_name,
        "rule": row.rule,
        "created_at": row.created_at,
        "decided_at": row.decided_at,
        "last_error": row.last_error,
        "approvals": row.approvals,
        "approvals_needed": row.approvals_needed,
        "seen": row.seen,
        "claim": view_claim(row, ctx),
        "snooze": _snooze(row, ctx),
        "decisions": [view_decision(decision, withheld=withheld) for decision in row.decisions.all()],
        "similar": None if similar is None else max(similar - (row.state == ProposalState.OPEN), 0),
    }
