"""A page speaks to the gate as the signed-in person: the context of a request, reading and acting."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from django.http import HttpRequest

from governance import gate
from governance.selectors.preferences import remember_preferences
from kernel.context import Ctx, Door
from scopes.selectors import identify_person

if TYPE_CHECKING:
    from django.contrib.auth.models import User


def ctx_of(request: HttpRequest) -> Ctx:
    """The signed-in person as the gate knows them; one request id for everything that a page does."""
    known: Ctx | None = request.META.get("smartbrain.ctx")
    if known is None:
        user: User = request.user  # type: ignore[assignment]
        identity = identify_person(user)
        known = Ctx(identity.actor, Door.ADMIN, identity.reach)
        remember_preferences(getattr(user, "preference", None), known)
        request.META["smartbrain.ctx"] = known
    return known


def read(action: str, request: HttpRequest, /, **given: object) -> Any:
    """The result of a read action, through the gate so that the look is on record. Raises DomainError."""
    return gate.call(action, given, ctx=ctx_of(request)).result


def act(action: str, request: HttpRequest, /, **given: object) -> gate.Answer[Any]:
    """What the gate answers to a call in the person's name: done, or queued for someone else. Raises DomainError."""
    return gate.call(action, given, ctx=ctx_of(request))


def act_as_foretold(action: str, request: HttpRequest, given: Mapping[str, object], digest: str) -> gate.Answer[Any]:
    """As `act`, for a call whose effect the person was shown, with its digest. Raises StaleError where it would change
    something else by now."""
    return gate.call(action, given, ctx=ctx_of(request), expecting=digest)


def decide(action: str, request: HttpRequest, /, **given: object) -> Any:
    """The result of an action that can never be queued, done in the person's name. Raises DomainError."""
    return act(action, request, **given).result
