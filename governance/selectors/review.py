"""Reading what surrounds one proposal: its timeline, its source, and others like it."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import timedelta
from typing import Any

from django.db.models import Q

from governance.contracts import (
    EarlierProposal,
    FieldChange,
    ProposalState,
    RowChange,
    SourceView,
    StepKind,
    StepView,
    Verdict,
)
from governance.models import Decision, Proposal
from governance.selectors.proposals import decidable, view_decision
from kernel.context import Ctx

LOOKED_BACK = 50
SHOWN = 5
_BRIEF = ("id", "subject", "state", "created_at")


def timeline(row: Proposal) -> list[StepView]:
    """Everything that happened to a proposal, oldest first."""
    first = StepView(kind="proposed", by=row.proposer_name, by_kind=row.proposer_kind, at=row.created_at)
    steps = [
        StepView(
            kind=StepKind(step.kind),
            by=step.by_name,
            by_kind=step.by_kind,
            at=step.created_at,
            text=step.text,
            data=step.data,
        )
        for step in row.steps.all()
    ]
    for decision in row.decisions.all():
        said: dict[str, Any] = {"by": decision.by_name, "by_kind": "person", "at": decision.created_at}
        if decision.input is not None:
            steps.append(StepView(kind="edited", **said, data={"input": decision.input}))
        steps.append(StepView(kind=Verdict(decision.verdict), **said, text=decision.reason))
    return [first, *sorted(steps, key=lambda step: step.at)]


def source_of(row: Proposal, burst: int, ctx: Ctx) -> SourceView:
    """What else the proposer sent, as far as the one who asks may decide on it."""
    theirs = decidable(ctx).prefetch_related(None).filter(proposer_id=row.proposer_id, proposer_kind=row.proposer_kind)
    found = list(theirs.only(*_BRIEF).order_by("-id")[: max(LOOKED_BACK, burst)])
    since = ctx.now - timedelta(hours=1)
    last_hour = sum(other.created_at > since for other in found[:burst])
    states = [other.state for other in found[:LOOKED_BACK]]
    return SourceView(
        recent=_brief([other for other in found if other.pk != row.pk][:SHOWN]),
        last_hour=last_hour,
        burst=last_hour >= burst,
        approved=states.count(ProposalState.APPROVED),
        rejected=states.count(ProposalState.REJECTED),
    )


def earlier_ones(row: Proposal, ctx: Ctx) -> list[EarlierProposal]:
    """The newest other proposals on the same subject or of nearly the same text."""
    like = Q(subject_key=row.subject_key)
    if row.similar_key:
        like |= Q(similar_key=row.similar_key)
    others = decidable(ctx).prefetch_related(None).filter(like, domain_id=row.domain_id).exclude(pk=row.pk)
    return _brief(list(others.only(*_BRIEF).order_by("-id")[:SHOWN]))


def _brief(rows: Sequence[Proposal]) -> list[EarlierProposal]:
    decisions = Decision.objects.filter(proposal__in=[row.pk for row in rows]) if rows else []
    by_proposal: dict[Any, list[Decision]] = {}
    for decision in decisions:
        by_proposal.setdefault(decision.proposal_id, []).append(decision)
    return [
        EarlierProposal(
            id=row.id,
            subject=row.subject,
            state=ProposalState(row.state),
            created_at=row.created_at,
            decisions=[view_decision(decision) for decision in by_proposal.get(row.pk, [])],
        )
        for row in rows
    ]


def view_changes(changes: Iterable[dict[str, Any]]) -> list[RowChange]:
    """Changed rows field by field, for actions whose app has no better way to show them."""
    return [
        RowChange(
            table=change["table"],
            id=change["id"],
            kind="added" if change["before"] is None else "removed" if change["after"] is None else "changed",
            fields=_fields(change["before"] or {}, change["after"] or {}),
        )
        for change in changes
    ]


def _fields(before: dict[str, Any], after: dict[str, Any]) -> list[FieldChange]:
    return [
        FieldChange(
            name=name, before=before.get(name), after=after.get(name), differs=before.get(name) != after.get(name)
        )
        for name in dict.fromkeys([*before, *after])
    ]
