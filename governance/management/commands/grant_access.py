"""Set what a principal may do on scopes of one domain."""

from __future__ import annotations

from typing import Any

from django.core.management.base import CommandParser

from governance.management.base import ActionCommand
from governance.management.commands.create_principal import split


class Command(ActionCommand):
    help = "Give a principal exactly these rights on a pattern of scopes; no rights takes the grant away."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("name", help="name of the principal")
        parser.add_argument("--domain", required=True, help="domain of the grant")
        parser.add_argument("--pattern", help="scopes: type:id, type:* or * (default: *)")
        parser.add_argument(
            "--rights", required=True, help="comma-separated: read,write,promote,erase; '' takes the grant away"
        )

    def handle(self, **options: Any) -> None:
        self.perform_as_operator(
            "grant_access",
            {
                "name": options["name"],
                "domain_id": options["domain"],
                "pattern": options["pattern"],
                "rights": split(options["rights"]),
            },
        )
