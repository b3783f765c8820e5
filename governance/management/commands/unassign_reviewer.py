"""Take an assignment of a person away."""

from __future__ import annotations

from typing import Any

from django.core.management.base import CommandParser

from governance.management.base import ActionCommand
from scopes.contracts import Role


class Command(ActionCommand):
    help = "Take away that a person acts as reviewer, auditor or operator on the scopes of a pattern."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("user", help="user name of the person")
        parser.add_argument("--domain", required=True, help="domain to review")
        parser.add_argument("--pattern", help="scopes: type:id, type:* or * (default: *)")
        parser.add_argument("--role", choices=[role.value for role in Role], help="what they did (default: reviewer)")

    def handle(self, **options: Any) -> None:
        given = {"domain_id": options["domain"], "pattern": options["pattern"], "role": options["role"]}
        self.perform_as_operator("unassign_reviewer", {"user": options["user"], **given})
