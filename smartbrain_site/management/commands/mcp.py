"""Serve MCP to one client over standard input and output."""

from __future__ import annotations

import asyncio
import os
from typing import Any

from django.core.management.base import BaseCommand
from django.db import DatabaseError

from governance.management.base import unusable_database, usage_error
from kernel.conf import conf
from kernel.errors import UnauthenticatedError
from scopes.selectors import authenticate_key


class Command(BaseCommand):
    help = (
        "Serve MCP over standard input and output, acting as the carrier of SMARTBRAIN_API_KEY (or the key in the "
        "file SMARTBRAIN_API_KEY_FILE). Nothing but the protocol is written to standard output."
    )
    requires_system_checks = []

    def handle(self, **options: Any) -> None:
        secret = conf().api_key
        if not secret:
            raise usage_error("No key: set SMARTBRAIN_API_KEY or SMARTBRAIN_API_KEY_FILE.")
        try:
            authenticate_key(secret)
        except UnauthenticatedError as exc:
            raise usage_error("The API key is unknown, malformed or revoked: create one or issue a new one.") from exc
        except DatabaseError as exc:
            raise unusable_database(exc) from exc
        try:
            from smartbrain_site.mcp.stdio import serve_stdio  # noqa: PLC0415  takes seconds to load, after the checks

            asyncio.run(serve_stdio(secret))
        except KeyboardInterrupt:
            os._exit(130)  # a thread still waits for standard input, and an ordinary exit would wait for it
