"""Foreseeing which of many approvals would be refused, by the rules that refuse them and without trying one."""

from __future__ import annotations

from collections.abc import Sequence
from uuid import UUID

from django.db.models import prefetch_related_objects

from governance import gate
from governance.actions.proposals.rules import why_not_other
from governance.hooks import HeldCall, obstacles
from governance.models import Proposal
from kernel.context import Ctx

CANNOT = "It cannot be carried out now. "


def refused_approvals(rows: Sequence[Proposal], ctx: Ctx) -> dict[UUID, str]:
    """Why an approval of these visible, open proposals by the actor would be refused now, in a sentence, by their ids; of
    the others nothing is known against it. As few statements for many as for one."""
    half_approved = [row for row in rows if row.approvals]
    if half_approved:
        prefetch_related_objects(half_approved, "decisions")
    told = {row.id: why for row in rows if (why := why_not_other(row, ctx))}
    rest = [row for row in rows if row.id not in told]
    made_by = gate.makers(rest, ctx)
    lost = gate.may_no_longer(rest, made_by)
    told |= {proposal: CANNOT + why for proposal, why in lost.items()}
    calls = {
        row.id: HeldCall(row.action, row.input, row.changes, row.domain_id, made_by.get(row.id))
        for row in rest
        if row.id not in lost
    }
    return told | {proposal: CANNOT + why for proposal, why in obstacles(calls, ctx).items()}
