"""Let a person review scopes of one domain."""

from __future__ import annotations

from typing import Any

from django.core.management.base import CommandParser

from governance.management.base import ActionCommand


class Command(ActionCommand):
    help = "Let a person review the scopes of a pattern in one domain."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("user", help="user name of the person")
        parser.add_argument("--domain", required=True, help="domain to review")
        parser.add_argument("--pattern", help="scopes: type:id, type:* or * (default: *)")

    def handle(self, **options: Any) -> None:
        self.perform_as_operator(
            "assign_reviewer",
            {"user": options["user"], "domain_id": options["domain"], "pattern": options["pattern"]},
        )
