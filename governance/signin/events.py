"""Sign-ins, failed ones and sign-outs in the audit log; importing this module connects Django's own signals."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from django.contrib.auth.signals import user_logged_in, user_logged_out, user_login_failed
from django.http import HttpRequest

from governance import gate
from governance.contracts import Outcome
from governance.signin.addresses import client_ip
from kernel.context import Actor, ActorKind, Ctx, Door
from kernel.text import show_invisible

if TYPE_CHECKING:
    from django.contrib.auth.models import User


def note(event: str, user: User, reason: str = "", outcome: Outcome = Outcome.ALLOWED) -> None:
    """Enter what a person did about their own sign-in."""
    actor = Actor(ActorKind.PERSON, f"user:{user.pk}", user.get_username())
    gate.note(event, Ctx(actor, Door.ADMIN), outcome, reason)


def _signed_in(sender: object, request: HttpRequest | None, user: User, **_: Any) -> None:
    note("sign_in", user, _from(request))


def _signed_out(sender: object, request: HttpRequest | None, user: User | None, **_: Any) -> None:
    if user is not None:
        note("sign_out", user, _from(request))


def _failed(sender: object, credentials: Mapping[str, Any], request: HttpRequest | None = None, **_: Any) -> None:
    """The name is what someone typed, so it stands in the reason: it names nobody for sure."""
    name = show_invisible(str(credentials.get("username", "")))[:150]
    why = "locked after too many failures" if getattr(request, "axes_locked_out", False) else "wrong name or password"
    door = Door.CLI if request is not None and request.META.get("smartbrain.door") == Door.CLI else Door.ADMIN
    gate.note("sign_in", gate.system_ctx("sign-in", door), Outcome.DENIED, f"{name!r}{_from(request)}: {why}")


def _from(request: HttpRequest | None) -> str:
    found = client_ip(request) if request is not None else None
    return f" from {found}" if found else ""


user_logged_in.connect(_signed_in, dispatch_uid="audit_sign_in")
user_logged_out.connect(_signed_out, dispatch_uid="audit_sign_out")
user_login_failed.connect(_failed, dispatch_uid="audit_sign_in_failed")
