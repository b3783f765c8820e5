"""Writing a proposal's other steps: claims, snoozes, comments, recommendations, revisions."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta
from typing import Any

from django.contrib.auth import get_user_model
from django.db.models import Q

from governance import selectors
from governance.contracts import StepKind
from governance.models import Mention, Proposal, ProposalStep
from kernel.context import Ctx, Door
from kernel.errors import TransitionError
from scopes.selectors import identify_person

MENTIONS = 20
_MENTION = re.compile(r"(?<![\w@.])@([\w.+-]{1,150})")


def add_step(
    row: Proposal, kind: StepKind, ctx: Ctx, text: str = "", data: Mapping[str, Any] | None = None
) -> ProposalStep:
    """Append one step of the actor."""
    return ProposalStep.objects.create(
        proposal=row,
        kind=kind,
        by_kind=ctx.actor.kind,
        by_id=ctx.actor.id,
        by_name=ctx.actor.name,
        text=text,
        data=dict(data or {}),
        created_at=ctx.now,
    )


def claim(row: Proposal, minutes: int, ctx: Ctx) -> bool:
    """Take the lease for so many minutes, or lengthen one's own; whether it is new. Raises TransitionError with the
    name of whoever holds it."""
    until = ctx.now + timedelta(minutes=minutes)
    free = Q(claimed_until=None) | Q(claimed_until__lte=ctx.now)
    mine = Q(claimed_by=ctx.actor.id, claimed_until__gt=ctx.now)
    columns = {"claimed_by": ctx.actor.id, "claimed_name": ctx.actor.name, "claimed_until": until}
    rows = Proposal.objects.filter(pk=row.pk, state=row.state)
    if rows.filter(mine).update(**columns):
        return False
    if rows.filter(free).update(**columns):
        return True
    row.refresh_from_db()
    if row.claimed_until is None:
        raise TransitionError(f"Proposal {row.id} was decided at this moment: look at it again.")
    raise TransitionError(
        f"{row.claimed_name} is looking at proposal {row.id} until {row.claimed_until:%H:%M} UTC: take another, or wait.",
        extra={"claim": {"by": row.claimed_name, "until": row.claimed_until.isoformat()}},
    )


def release(row: Proposal, ctx: Ctx) -> bool:
    """Give up one's own lease; False where somebody else holds it by now."""
    mine = Proposal.objects.filter(pk=row.pk, claimed_by=ctx.actor.id)
    return bool(mine.update(claimed_by="", claimed_name="", claimed_until=None))


def snooze(row: Proposal, until: datetime | None, to_seen: int | None, ctx: Ctx) -> bool:
    """Put a proposal off, or wake it with neither; False where it has moved on meanwhile."""
    name = ctx.actor.name if until or to_seen else ""
    rows = Proposal.objects.filter(pk=row.pk, state=row.state, revision=row.revision)
    return bool(
        rows.update(snoozed_until=until, snoozed_to_seen=to_seen, snoozed_name=name, moved_at=until or ctx.now)
    )


def add_mentions(step: ProposalStep, row: Proposal) -> list[str]:
    """Note which reviewers of the proposal's scope a comment names with @: their user names, in order."""
    people = reviewers_named(_MENTION.findall(step.text), row)
    Mention.objects.bulk_create([Mention(step=step, proposal=row, person_id=person_id) for person_id, _ in people])
    return [name for _, name in people]


def reviewers_named(names: Sequence[str], row: Proposal) -> list[tuple[str, str]]:
    """Actor id and user name of those among `names` who may decide on the proposal, 20 at most."""
    wanted = list(dict.fromkeys(name.rstrip(".") for name in names))[:MENTIONS]
    users = {
        user.get_username(): user for user in get_user_model().objects.filter(username__in=wanted, is_active=True)
    }
    found = []
    for name in wanted:
        identity = identify_person(users[name]) if name in users else None
        if identity and selectors.may_decide(
            row.action, row.domain_id, row.scope, Ctx(identity.actor, Door.PYTHON, identity.reach)
        ):
            found.append((identity.actor.id, name))
    return found
