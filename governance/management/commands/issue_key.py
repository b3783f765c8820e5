"""Give a principal one more API key and print it, shown this once."""

from __future__ import annotations

from typing import Any

from django.core.management.base import CommandParser

from governance.management.base import ActionCommand


class Command(ActionCommand):
    help = "Give a principal one more key; prints one JSON object with `principal` and `api_key`."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("name", help="name of the principal")

    def handle(self, **options: Any) -> None:
        self.perform_as_operator("issue_key", {"name": options["name"]})
