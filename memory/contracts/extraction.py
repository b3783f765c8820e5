"""Learning from a turn with a language model."""

from __future__ import annotations

from datetime import datetime
from enum import StrEnum
from uuid import UUID

from pydantic import Field

from kernel.contracts import Contract, KeyedInput, KeyedResult, PageInput, PageResult
from memory.contracts.commit import MemoryWritten, RetentionLine
from scopes.contracts import LEGACY_DOMAIN, DomainId


class ExtractionState(StrEnum):
    """Where a model extraction stands."""

    PENDING = "pending"
    DONE = "done"
    FAILED = "failed"


class ExtractionView(Contract):
    """What a language model made of one turn."""

    id: UUID = Field(description="Extraction id (UUIDv7).")
    turn_id: UUID = Field(description="The turn.")
    state: ExtractionState = Field(description="pending, done or failed; a failed one can be tried again.")
    attempts: int = Field(description="How often it was tried.")
    model: str = Field(description="Name of the model.")
    error: str = Field(description="Why the last attempt failed; empty otherwise.")
    raw_reply: str = Field(description="The model's reply of the last failed attempt, cut at 20,000 characters.")
    created_at: datetime = Field(description="When it was asked for.")
    finished_at: datetime | None = Field(description="When it ended.")


class ExtractTurnInput(KeyedInput):
    """One stored turn to learn from with the configured model; also the way to try a failed one again."""

    turn_id: UUID = Field(description="Turn id.")


class ExtractTurnResult(KeyedResult):
    """What was learned: candidates only, in the scope that the commit wrote by default."""

    extraction: ExtractionView = Field(description="The extraction.")
    memory_written: MemoryWritten = Field(description="What was learned.")
    retention: list[RetentionLine] = Field(description="One line for each candidate.")


class ListExtractionsInput(PageInput):
    """Which extractions to list."""

    domain_id: DomainId = Field(default=LEGACY_DOMAIN, description="The isolation domain; `legacy` where left out.")
    state: ExtractionState | None = Field(default=None, description="Only this state.")
    turn_id: UUID | None = Field(default=None, description="Only that of this turn.")


class ListExtractionsResult(PageResult):
    """One page of extractions, newest first."""

    extractions: list[ExtractionView] = Field(description="Extractions, newest first.")
