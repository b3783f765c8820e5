"""Nobody reaches the admin past their second factor."""

from __future__ import annotations

from collections.abc import Callable

from django.conf import settings
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.urls import reverse
from django.utils.http import urlencode
from django_otp.middleware import is_verified

from governance.services.devices import has_device


def second_factor(get_response: Callable[[HttpRequest], HttpResponse]) -> Callable[[HttpRequest], HttpResponse]:
    """After the sign-in ask for the second factor of those who have one, and where it is required set it up first."""

    def middleware(request: HttpRequest) -> HttpResponse:
        wanted = _wanted(request)
        if wanted:
            return HttpResponseRedirect(f"{reverse(wanted)}?{urlencode({'next': request.get_full_path()})}")
        return get_response(request)

    return middleware


def _wanted(request: HttpRequest) -> str:
    """The name of the page that must come first; empty where none must."""
    path, user = request.path_info, request.user
    if not path.startswith(reverse("admin:index")) or not user.is_authenticated or is_verified(user):
        return ""
    if path in {reverse("second_factor"), reverse("admin:logout"), reverse("admin:jsi18n")}:
        return ""
    known: bool | None = getattr(user, "with_device", None)
    if has_device(user) if known is None else known:
        return "second_factor"
    required = settings.SECOND_FACTOR_REQUIRED and path != reverse("second_factor_setup")
    return "second_factor_setup" if required else ""
