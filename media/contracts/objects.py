"""Looking after stored bytes: removing what nobody needs, and comparing what there is with what should be."""

from __future__ import annotations

from typing import Literal
from uuid import UUID

from pydantic import Field

from kernel.contracts import Contract

FaultKind = Literal[
    "missing_bytes",
    "wrong_size",
    "wrong_content",
    "wrong_count",
    "unknown_file",
    "stray_file",
    "unindexed",
    "stale_entry",
    "outdated_entry",
]


class CollectMediaInput(Contract):
    """How much to remove at once."""

    limit: int = Field(default=100, ge=1, le=1000, description="Objects to remove at most, 1 to 1,000.")
    min_age_hours: int | None = Field(
        default=None,
        ge=0,
        le=87_600,
        description="Hours for which nobody may have meant to use an object; null: the operator's setting, 24 at first.",
    )


class CollectMediaResult(Contract):
    """What was removed."""

    removed: int = Field(description="Objects whose bytes and row are gone.")
    freed_bytes: int = Field(description="Bytes that they took.")
    more: bool = Field(description="Whether as many as the limit were found, so that there may be more.")
    warnings: list[str] = Field(description="What could not be done, each with a reason code.")


class CheckMediaInput(Contract):
    """One stretch of the store; send `next_cursor` as `cursor` until there is none."""

    deep: bool = Field(default=False, description="True: read all bytes and compare them with their hash.")
    cursor: str | None = Field(
        default=None, pattern="^([1-9a-f]|rest)$", description="`next_cursor` of the stretch before."
    )


class MediaFault(Contract):
    """Something that is not as it should be."""

    kind: FaultKind = Field(
        description="missing_bytes: a row without its bytes. wrong_size, wrong_content: bytes that are not what their row "
        "says. wrong_count: a count that differs from the references. unknown_file: bytes without a row. stray_file: "
        "a file that is none of the store's. unindexed: a section that is not found everywhere it may be read. "
        "stale_entry: an index entry of a section that is gone, or in a scope where it may not be read. outdated_entry: "
        "one that an earlier tokeniser made."
    )
    name: str = Field(description="Content hash, name within the store, or id of a section.")
    media_object_id: UUID | None = Field(default=None, description="The object's row; null where there is none.")
    what: str = Field(description="What is wrong, in a sentence.")


class CheckMediaResult(Contract):
    """What a stretch holds and what is wrong in it."""

    objects: int = Field(description="Rows that were compared.")
    files: int = Field(description="Files that were compared.")
    faults: list[MediaFault] = Field(description="What is wrong, 100 at most.")
    fault_count: int = Field(description="How much is wrong.")
    next_cursor: str | None = Field(description="Where to go on; null at the end.")
