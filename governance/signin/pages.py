"""The pages of the second factor: give a code, set up an authenticator, keep recovery codes; and that of a lockout."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import django_otp
import segno
from django.conf import settings
from django.contrib import admin
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.template.response import TemplateResponse
from django.urls import reverse
from django.views.decorators.cache import never_cache
from django.views.decorators.debug import sensitive_post_parameters

from governance.contracts import Outcome
from governance.services import devices
from governance.signin.events import note
from kernel.errors import DomainError, ForbiddenError

if TYPE_CHECKING:
    from django.contrib.auth.models import User

KEY = "second_factor_key"


@never_cache
@sensitive_post_parameters("code")
def verify(request: HttpRequest) -> HttpResponse:
    """Ask for a code after the password, and let through who gives a right one."""
    user = _user(request)
    if user is None:
        return HttpResponseRedirect(reverse("admin:login"))
    if not devices.has_device(user):
        return HttpResponseRedirect(reverse("second_factor_setup"))
    problem, status = None, 200
    if request.method == "POST":
        try:
            device = devices.verify(user, request.POST.get("code", ""))
        except DomainError as exc:
            note("second_factor", user, exc.message, Outcome.DENIED)
            problem, status = exc, exc.status
        else:
            note("second_factor", user, f"by {device.name}")
            return _let_in(request, device)
    context = {"problem": problem, "next": _next(request), "title": "Second factor"}
    return _page(request, "verify", context, status)


def _let_in(request: HttpRequest, device: Any) -> HttpResponse:
    request.session.cycle_key()
    django_otp.login(request, device)
    return HttpResponseRedirect(_next(request) or reverse("admin:index"))


@never_cache
@sensitive_post_parameters("code")
def setup(request: HttpRequest) -> HttpResponse:
    """Set up an authenticator, or look after the one there is."""
    user = _user(request)
    if user is None:
        return HttpResponseRedirect(reverse("admin:login"))
    shown: dict[str, Any] = {"title": "Second factor", "required": settings.SECOND_FACTOR_REQUIRED}
    status = 200
    if request.method == "POST":
        try:
            shown |= _do(request, user)
        except DomainError as exc:
            shown["problem"], status = exc, exc.status
    if devices.has_device(user):
        shown |= {"enrolled": True, "left": devices.codes_left(user)}
    else:
        key = request.session.setdefault(KEY, devices.new_key())
        picture = segno.make(devices.address_of(user, key), error="m")
        drawn = picture.svg_inline(scale=5, border=4, dark="#000", light="#fff", title="QR code of the secret")
        shown |= {"picture": drawn, "secret": devices.secret_of(key)}
    return _page(request, "setup", {**shown, "next": _next(request)}, status)


def _do(request: HttpRequest, user: User) -> Mapping[str, Any]:
    """What the page's forms ask for. Changing what is there needs a code, even of who is signed in."""
    code, wish = request.POST.get("code", ""), request.POST.get("wish", "")
    if wish == "enrol" and not devices.has_device(user):
        codes = devices.enrol(user, request.session.setdefault(KEY, devices.new_key()), code)
        request.session.pop(KEY, None)
        note("second_factor_set_up", user)
        request.session.cycle_key()
        django_otp.login(request, devices.authenticator(user))
        return {"codes": codes}
    device = devices.verify(user, code)
    if wish == "renew":
        note("recovery_codes_renewed", user, f"by {device.name}")
        return {"codes": devices.renew_codes(user)}
    if wish == "remove" and not settings.SECOND_FACTOR_REQUIRED:
        devices.forget(user)
        note("second_factor_removed", user, f"by {device.name}")
        return {"removed": True}
    raise ForbiddenError("A second factor is required here: an operator resets it where a device is lost.")


def locked_out(
    request: HttpRequest, response: HttpResponse | None, credentials: Mapping[str, Any] | None
) -> HttpResponse:
    """Say that guessing is over for a while, and what to do."""
    minutes = int(settings.AXES_COOLOFF_TIME.total_seconds() // 60)
    context = {"minutes": minutes, "failures": settings.AXES_FAILURE_LIMIT, "title": "Too many failed attempts"}
    answer = _page(request, "locked", context, 429)
    answer["Retry-After"] = str(minutes * 60)
    answer.render()
    return answer


def _user(request: HttpRequest) -> User | None:
    user: Any = request.user
    return user if user.is_authenticated and user.is_active and user.is_staff else None


def _next(request: HttpRequest) -> str:
    """An address on this site to go on to."""
    wanted = request.POST.get("next", request.GET.get("next", ""))
    safe = wanted.startswith("/") and not wanted.startswith(("//", "/\\")) and wanted.isprintable()
    return wanted if safe else ""


def _page(request: HttpRequest, name: str, context: Mapping[str, Any], status: int) -> TemplateResponse:
    shown = {**admin.site.each_context(request), **context}
    return TemplateResponse(request, f"smartbrain/signin/{name}.html", shown, status=status)
