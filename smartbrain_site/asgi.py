"""The ASGI application: Django, and MCP over streamable HTTP at /mcp/."""

from __future__ import annotations

import os
from typing import cast

from django.core.asgi import get_asgi_application

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "smartbrain_site.settings")
django_handler = get_asgi_application()

from kernel.loaded import keep_loaded  # noqa: E402  after what it keeps
from smartbrain_site.http.limits import App, limit_body  # noqa: E402  needs the settings
from smartbrain_site.mcp.http import PATHS, Receive, Scope, Send, mcp_application  # noqa: E402  needs the apps loaded

django_application = limit_body(cast("App", django_handler))

keep_loaded()


async def application(scope: Scope, receive: Receive, send: Send) -> None:
    """Send each connection to the application that answers it."""
    if scope["type"] == "http" and scope["path"] in PATHS:
        await mcp_application(scope, receive, send)
    else:
        await django_application(scope, receive, send)
