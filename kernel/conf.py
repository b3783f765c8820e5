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
    model_url: str = ""  # base address of an OpenAI-compatible API, such as http://localhost:8080/v1; empty: no model
    model_name: str = ""  # model to ask
    model_api_key: str = field(default="", repr=False)  # its key, if it needs one
    model_timeout: float = 60.0  # seconds to wait for its answer
    resource_url: str = ""  # `/v1/retrieve` of another document store; empty: our own documents
    resource_api_key: str = field(default="", repr=False)  # its key, if it needs one
    resource_timeout: float = 2.0  # seconds for the whole exchange with it
    media_convert_seconds: float = 60.0  # how long one file may take to be read as text
    media_convert_memory: int = 1_073_741_824  # memory for that, in bytes
    media_parsers: int = 2  # files that are read at once on one machine; others wait half a minute, then are put off
    media_max_pages: int = 2_000  # pages of one document
    media_max_chars: int = 2_000_000  # text of one document
    media_max_bytes: int = 52_428_800  # one file, uploaded or fetched
    media_max_pixels: int = 100_000_000  # pixels of one picture
    media_max_seconds: int = 7_200  # length of one recording
    media_allowed_hosts: str = (
        ""  # hosts that files may be fetched from, by commas; `*`: every public one; empty: none
    )
    media_fetch_seconds: float = 60.0  # how long one file may take to come
    media_s3_bucket: str = ""  # bucket that media is kept in; empty: the folder `media` of data_dir
    media_s3_prefix: str = ""  # folder within the bucket
    media_s3_endpoint: str = ""  # address of a service other than Amazon's, such as http://localhost:9000
    media_s3_region: str = ""  # region of the bucket
    media_s3_access_key: str = field(default="", repr=False)  # empty: what the machine provides
    media_s3_secret_key: str = field(default="", repr=False)  # the same
    media_grace_hours: int = 24  # hours that unused bytes stay before they are removed
    media_attempts: int = 3  # how often a media job is begun before it counts as failed
    media_stale_seconds: int = 900  # a worker that shows no life for so long has lost its job
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
