"""Reading how a person likes the review screens."""

from __future__ import annotations

from governance.contracts import DiffMode, Preferences
from governance.models import Preference
from kernel.context import ActorKind, Ctx


def preferences_of(ctx: Ctx) -> Preferences:
    """How the person likes the review screens, read once in a call; the defaults for anyone else."""
    if ctx.actor.kind is not ActorKind.PERSON:
        return Preferences()
    user_id = int(ctx.actor.id.removeprefix("user:"))
    row = ctx.once("preferences", lambda: Preference.objects.filter(pk=user_id).first())
    return Preferences(shortcuts=row.shortcuts, diff=DiffMode(row.diff)) if row else Preferences()


def remember_preferences(row: Preference | None, ctx: Ctx) -> None:
    """Keep for the call what was read along with the account."""
    ctx.once("preferences", lambda: row)
