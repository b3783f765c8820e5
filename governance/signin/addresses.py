"""Where a sign-in comes from."""

from __future__ import annotations

from ipaddress import ip_address

from django.conf import settings
from django.http import HttpRequest


def client_ip(request: HttpRequest) -> str | None:
    """The client's address: behind a proxy the one that the nearest proxy saw, else the connection's own.

    Only the last address of `X-Forwarded-For` was written by our own proxy; all before it the client may have made up.
    """
    given = request.META.get("REMOTE_ADDR") or ""
    if settings.SECURE_PROXY_SSL_HEADER is not None:
        given = request.META.get("HTTP_X_FORWARDED_FOR", given).rpartition(",")[2].strip() or given
    try:
        return str(ip_address(given))
    except ValueError:
        return None
