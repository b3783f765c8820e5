"""Actions on people's accounts."""

from __future__ import annotations

from typing import TYPE_CHECKING

from django.contrib.auth import get_user_model

from governance.contracts import ResetSecondFactorInput, ResetSecondFactorResult
from governance.services import devices
from kernel.actions import Action, Applied, Change, Target, register
from kernel.context import Ctx, Right
from kernel.errors import NotFoundError

if TYPE_CHECKING:
    from django.contrib.auth.models import User


def _person(given: ResetSecondFactorInput, ctx: Ctx) -> User:
    user: User | None = get_user_model().objects.filter(username=given.user).first()
    if user is None:
        raise NotFoundError(f"No person with the user name {given.user!r}.")
    return user


def _reset(given: ResetSecondFactorInput, user: User, ctx: Ctx) -> Applied[ResetSecondFactorResult]:
    removed = devices.forget(user)
    known = {"user": given.user, "second_factor": removed}
    after = {"user": given.user, "second_factor": [], "reason": given.reason}
    changes = [Change("auth_user", str(user.pk), known, after)] if removed else []
    return ResetSecondFactorResult(user=given.user, removed=removed), changes


RESET_SECOND_FACTOR = register(
    Action(
        "reset_second_factor",
        "Take away the second factor of a person whose device is lost; they sign in by password and set up a new one.",
        ResetSecondFactorInput,
        ResetSecondFactorResult,
        Right.OPERATE,
        lambda given, ctx: Target(None),
        _person,
        _reset,
        destroys=True,
    )
)
