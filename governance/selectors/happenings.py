"""Reading what happened to proposals, decisions and other steps, in one statement."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

from django.db.models import F, IntegerField, QuerySet, TextField, UUIDField, Value
from django.db.models.functions import Cast

from governance.models import Decision, Proposal, ProposalStep

_NOTHING = Cast(Value(None), TextField())
_ALIKE = ("id", "proposal_id", "by_id", "by_name", "created_at")


def read_happenings(row: Proposal, others: Sequence[Proposal]) -> None:
    """Read the decisions on all of these proposals and the steps of the first, so that their `decisions` and `steps` ask
    no more: what a prefetch of each would do, in one statement."""
    proposals = [row, *others]
    decisions = Decision.objects.filter(proposal__in=[each.pk for each in proposals]).annotate(
        what=F("verdict"), said=F("reason"), told=Cast("input", TextField()), of_kind=_NOTHING
    )
    steps = ProposalStep.objects.filter(proposal=row).annotate(
        what=F("kind"),
        said=F("text"),
        told=Cast("data", TextField()),
        of_kind=F("by_kind"),
        number=Cast(Value(None), IntegerField()),
        request=Cast(Value(None), UUIDField()),
    )
    columns = (*_ALIKE, "what", "said", "told", "of_kind")
    found = _values(decisions, *columns, "revision", "request_id").union(
        _values(steps, *columns, "number", "request"), all=True
    )
    made = sorted((_made(values) for values in found), key=lambda each: (each.created_at, each.pk))
    for each in proposals:
        mine = [one for one in made if one.proposal_id == each.pk]
        _remember(each, "decisions", [one for one in mine if isinstance(one, Decision)])
    _remember(row, "steps", [one for one in made if isinstance(one, ProposalStep)])


def _values(rows: QuerySet[Any], *columns: str) -> QuerySet[Any, Any]:
    return rows.order_by().values_list(*columns)


def _made(values: Sequence[Any]) -> Decision | ProposalStep:
    *_, what, said, told, by_kind, revision, request_id = values
    alike = dict(zip(_ALIKE, values, strict=False))
    data = json.loads(told) if told is not None else None
    if by_kind is None:
        return Decision(**alike, verdict=what, reason=said, input=data, revision=revision, request_id=request_id)
    return ProposalStep(**alike, kind=what, text=said, data=data, by_kind=by_kind)


def _remember(row: Proposal, name: str, found: Sequence[Any]) -> None:
    """Let a relation of the row answer with these, as Django does after a prefetch."""
    rows = getattr(row, name).all()
    rows._result_cache, rows._prefetch_done = list(found), True  # noqa: SLF001  there is no public way to fill it
    cache = row.__dict__.setdefault("_prefetched_objects_cache", {})
    cache[name] = rows
