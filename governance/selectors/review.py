"""Reading what surrounds one proposal: its timeline, its source, and others like it."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import timedelta
from typing import Any

from django.db.models import Q, QuerySet, Value

from governance.contracts import (
    EarlierProposal,
    FieldChange,
    Outcome,
    ProposalState,
    RowChange,
    SourceView,
    StepKind,
    StepView,
    Verdict,
)
from governance.models import AuditEntry, Proposal
from governance.selectors.happenings import read_happenings
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


@dataclass(frozen=True, slots=True)
class Others:
    """What else stands around a proposal: more of its source, and earlier ones that say nearly the same."""

    source: SourceView
    earlier: list[EarlierProposal]


def others_around(row: Proposal, burst: int, ctx: Ctx) -> Others:
    """What else the proposer sent, and the newest other proposals on the same subject or of nearly the same text, as far
    as the one who asks may decide on them. The proposal's own decisions and steps are read along with theirs."""
    seen = decidable(ctx).prefetch_related(None)
    theirs = seen.filter(proposer_id=row.proposer_id, proposer_kind=row.proposer_kind)
    like = Q(subject_key=row.subject_key)
    if row.similar_key:
        like |= Q(similar_key=row.similar_key)
    alike = seen.filter(like, domain_id=row.domain_id).exclude(pk=row.pk)
    both = _newest(theirs, max(LOOKED_BACK, burst), "source").union(_newest(alike, SHOWN, "alike"), all=True)
    found = list(both.order_by("-id"))
    sent = [other for other in found if other.part == "source"]
    earlier = [other for other in found if other.part == "alike"]
    recent = [other for other in sent if other.pk != row.pk][:SHOWN]
    read_happenings(row, [*recent, *earlier])
    states = [other.state for other in sent[:LOOKED_BACK]]
    since = ctx.now - timedelta(hours=1)
    last_hour = sum(other.created_at > since for other in sent[:burst])
    source = SourceView(
        recent=_brief(recent),
        last_hour=last_hour,
        burst=last_hour >= burst,
        approved=states.count(ProposalState.APPROVED),
        rejected=states.count(ProposalState.REJECTED),
    )
    return Others(source, _brief(earlier))


def _newest(rows: QuerySet[Proposal], most: int, part: str) -> QuerySet[Any]:
    """The newest of some rows as one part of a union: SQLite takes no limit there, so they are named by their ids."""
    ids = rows.order_by("-id").values("pk")[:most]
    return Proposal.objects.filter(pk__in=ids).order_by().only(*_BRIEF).annotate(part=Value(part))


def _brief(rows: Sequence[Proposal]) -> list[EarlierProposal]:
    return [
        EarlierProposal(
            id=row.id,
            subject=row.subject,
            state=ProposalState(row.state),
            created_at=row.created_at,
            decisions=[view_decision(decision) for decision in row.decisions.all()],
        )
        for row in rows
    ]


def changes_made(row: Proposal) -> list[dict[str, Any]]:
    """What a decided proposal changed, as the audit log has it; of one that was not carried out what it would have."""
    told: list[dict[str, Any]] = row.changes
    if row.state == ProposalState.APPROVED and told:
        done = AuditEntry.objects.filter(proposal=row, action=row.action, outcome=Outcome.ALLOWED)
        made = done.order_by("-id").values_list("changes", flat=True).first()
        told = made if made is not None else told
    return told


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
