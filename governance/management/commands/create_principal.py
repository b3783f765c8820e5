"""Create a principal and print its first API key, shown this once."""

from __future__ import annotations

from typing import Any

from django.core.management.base import CommandParser

from governance.management.base import ActionCommand


class Command(ActionCommand):
    help = "Create a principal with a first key and grant; prints one JSON object with `principal` and `api_key`."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("name", help="unique name of the principal")
        parser.add_argument("--domain", help="domain of the grant, created where missing (default: legacy)")
        parser.add_argument("--pattern", help="scopes of the grant: type:id, type:* or * (default: *)")
        parser.add_argument("--rights", help="comma-separated: read,write,promote,erase (default: read,write)")
        parser.add_argument("--owner", metavar="USER", help="user name of the person who answers for it")

    def handle(self, **options: Any) -> None:
        rights = options["rights"]
        self.perform_as_operator(
            "create_principal",
            {
                "name": options["name"],
                "domain_id": options["domain"],
                "pattern": options["pattern"],
                "rights": None if rights is None else split(rights),
                "owner": options["owner"],
            },
        )


def split(rights: str) -> list[str]:
    """The rights in a comma-separated list, each once."""
    return list(dict.fromkeys(part.strip() for part in rights.split(",") if part.strip()))
