"""The action on how a person likes the review screens."""

from __future__ import annotations

from governance import services
from governance.contracts import PreferencesResult, SetPreferencesInput
from kernel.actions import Action, Applied, Target, register
from kernel.context import ActorKind, Ctx, Right
from kernel.errors import ForbiddenError


def _nowhere(given: SetPreferencesInput, ctx: Ctx) -> Target:
    return Target(None, scopes=())


def _prepare(given: SetPreferencesInput, ctx: Ctx) -> int:
    if ctx.actor.kind is not ActorKind.PERSON:
        raise ForbiddenError("Preferences are those of a signed-in person: sign in, or give --user.")
    return int(ctx.actor.id.removeprefix("user:"))


def _apply(given: SetPreferencesInput, user_id: int, ctx: Ctx) -> Applied[PreferencesResult]:
    kept, change = services.set_preferences(user_id, given)
    return PreferencesResult(shortcuts=kept.shortcuts, diff=kept.diff), [change]


SET_PREFERENCES = register(
    Action(
        "set_preferences",
        "Choose how the review screens behave for you: single-key shortcuts, layout of comparisons.",
        SetPreferencesInput,
        PreferencesResult,
        Right.READ,
        _nowhere,
        _prepare,
        _apply,
        queueable=False,
    )
)
