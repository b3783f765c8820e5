"""Stop an API key from working."""

from __future__ import annotations

from typing import Any

from django.core.management.base import CommandParser

from governance.management.base import ActionCommand


class Command(ActionCommand):
    help = "Stop a key from working, at once and for good."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("key", help="the key, or its prefix: the part between the underscores")

    def handle(self, **options: Any) -> None:
        self.perform_as_operator("revoke_key", {"key_prefix": prefix_of(options["key"])})


def prefix_of(key: str) -> str:
    """The prefix that names a key, from the whole key or from the prefix itself."""
    head, _, rest = key.strip().partition("_")
    return rest.partition("_")[0] if head == "sb" else key.strip()
