"""Decisions looked at again: who a question is about, and the recorded calls that a draft policy is tried on."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime

from django.contrib.auth import get_user_model
from django.db.models import TextField
from django.db.models.functions import Cast

from governance import selectors
from governance.contracts import WhatIf
from governance.policies import Recorded
from kernel.context import ANY, ActorKind, Ctx, Right
from kernel.errors import NotFoundError
from scopes.selectors import Identity, identify_named, identify_person

CHUNK = 2000


def identify(asked: WhatIf, ctx: Ctx) -> Identity:
    """The principal or person that a question names. Raises NotFoundError for one out of the asker's sight."""
    if asked.kind is ActorKind.PERSON:
        user = get_user_model().objects.filter(username=asked.name).first()
        seen = user is not None and (
            ctx.may(Right.OPERATE, ANY)
            or ctx.actor.id == f"user:{user.pk}"
            or selectors.visible_assignments(ctx).filter(user=user).exists()
        )
        if user is not None and seen:
            return identify_person(user)
    elif selectors.visible_principals(ctx).filter(name=asked.name).exists():
        found = identify_named(asked.name)
        if found is not None:
            return found
    raise NotFoundError(f"No active {asked.kind} {asked.name!r} that you can see.")


def recorded(domain_id: str | None, since: datetime, limit: int, ctx: Ctx) -> Iterator[Recorded]:
    """The newest visible calls since then, `limit` at most, newest first; of a domain where one is named."""
    rows = selectors.visible_audit(ctx)
    if domain_id is not None:
        rows = rows.filter(domain_id=domain_id)
    columns = ("id", "at", "action", "actor_name", "domain_id", "scope", "rule")
    found = (
        rows.order_by("-at", "-id").annotate(facts_text=Cast("facts", TextField())).values_list(*columns, "facts_text")
    )
    for row in found[:limit].iterator(CHUNK):
        entry = Recorded(*row)
        if entry.at < since:
            return
        yield entry
