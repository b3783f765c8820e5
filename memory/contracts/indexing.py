"""Deriving the index of a domain anew."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from kernel.contracts import Contract
from scopes.contracts import LEGACY_DOMAIN, DomainId

Phase = Literal["stale", "items", "turns", "sections", "orphans"]


class RebuildIndexInput(Contract):
    """One batch; send `next_cursor` as `cursor` until there is none."""

    domain_id: DomainId = Field(default=LEGACY_DOMAIN, description="The domain.")
    full: bool = Field(
        default=False,
        description="True: derive everything anew. False: only what another tokeniser made, and sections of documents that "
        "are not found where they should be.",
    )
    limit: int = Field(
        default=200, ge=1, le=1000, description="Items, turns, sections or entries of a batch, 1 to 1,000."
    )
    cursor: str | None = Field(default=None, max_length=200, description="`next_cursor` of the batch before.")


class RebuildIndexResult(Contract):
    """What a batch did. Searches are answered meanwhile; a run that was broken off goes on from its cursor."""

    domain_id: str = Field(description="The domain.")
    phase: Phase = Field(
        description="What was looked at: stale entries, items, turns, sections, or entries of what is gone."
    )
    seen: int = Field(description="Rows looked at.")
    changed: int = Field(description="Entries that were wrong or stale and were put right.")
    added: int = Field(description="Entries that were missing.")
    removed: int = Field(description="Entries of what is gone.")
    total: int = Field(description="Rows to look at in this phase, all batches together.")
    next_cursor: str | None = Field(description="Where to go on; null at the end.")
