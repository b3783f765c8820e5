"""The operator's settings as typed values: one class, one default each, read from Django's settings."""

from __future__ import annotations

from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import Any, get_type_hints

from django.conf import settings


@dataclass(frozen=True, slots=True)
class Conf:
    """Every setting of ours, with its default; each can be set in the environment as SMARTBRAIN_<NAME>."""

    data_dir: Path = Path("var")
    max_body_bytes: int = 8_388_608  # one request body, any door
    max_message_chars: int = 200_000  # one message, tool result or reference
    max_items_per_commit: int = 1_000  # entries in each list of turn_events
    max_query_chars: int = 4_000  # one search query
    api_key: str = field(default="", repr=False)  # whom `manage.py mcp` and `manage.py act` act as
    password_file: str = ""  # file with the password for `manage.py act --user NAME`

    @classmethod
    def names(cls) -> list[str]:
        """The names of the environment variables, in order of definition."""
        return [f"SMARTBRAIN_{each.name.upper()}" for each in fields(cls)]

    @classmethod
    def types(cls) -> dict[str, Any]:
        """The type of each field."""
        return get_type_hints(cls)


def conf() -> Conf:
    """The settings in force."""
    value: Conf = settings.SMARTBRAIN
    return value
