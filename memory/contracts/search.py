"""Searching memory: the question and its results."""

from __future__ import annotations

from datetime import datetime
from enum import StrEnum
from uuid import UUID

from pydantic import Field

from kernel.contracts import Contract, Instant, PageInput, PageResult, Since, Until
from memory.compose.contracts import OpenConflict
from memory.contracts.items import MemoryType
from scopes.contracts import Scoped, ScopeView
from search.contracts import Kind


class TimeRange(Contract):
    """From an instant (included) to an instant (not included). A plain date such as 2026-12-01 is the whole day in UTC."""

    since: Since | None = Field(default=None, description="At or after; a date: from its beginning.")
    until: Until | None = Field(default=None, description="Before; a date: to its end.")


class AsOf(Contract):
    """A moment in both times: what held in the world then, and what the system held then."""

    valid: Instant | None = Field(default=None, description="What held in the world at this instant.")
    recorded: Instant | None = Field(default=None, description="What the system held at this instant.")


class SearchMode(StrEnum):
    """How to look: `semantic` needs an embedder and falls back to `hybrid` with a warning where there is none."""

    HYBRID = "hybrid"
    EXACT = "exact"
    SEMANTIC = "semantic"
    RELATIONAL = "relational"


class SearchMemoryInput(PageInput, Scoped):
    """A question to the scopes that you read."""

    query: str = Field(min_length=1, description="Words to look for, in any language; operators have no meaning.")
    kinds: list[Kind] = Field(default=[Kind.MEMORY, Kind.MESSAGE], min_length=1, description="What to look for.")
    types: list[MemoryType] = Field(default=[], max_length=20, description="Only memories of these types; empty: any.")
    mode: SearchMode = Field(
        default=SearchMode.HYBRID,
        description="`hybrid` ranks by all signals, `exact` keeps only texts that hold the query word for word, "
        "`relational` looks at names and relations.",
    )
    as_of: Instant | AsOf | None = Field(default=None, description="One instant for both times, or each by itself.")
    history: bool = Field(
        default=False, description="True: what was superseded or retracted too, marked `current` false."
    )
    time_range: TimeRange | None = Field(default=None, description="Only texts of this time, by their own time.")
    min_confidence: float = Field(default=0.0, ge=0, le=1, description="Leave out results below this confidence.")


class ResultRef(Contract):
    """Where a result comes from."""

    item_id: UUID | None = Field(default=None, description="Memory item.")
    session_id: str | None = Field(default=None, description="Conversation, in the caller's own words.")
    turn_id: UUID | None = Field(default=None, description="Turn.")
    message_id: str | None = Field(default=None, description="The caller's own id where one was given, else ours.")
    section_id: UUID | None = Field(default=None, description="Document section.")
    document_id: UUID | None = Field(default=None, description="Its document.")
    document: str = Field(default="", description="Title of the document.")
    section: str = Field(default="", description="Heading of the section.")
    page: int | None = Field(default=None, description="Page of the document on which the words stand, from 1.")


class SearchResult(Contract):
    """One found text."""

    id: UUID = Field(description="Id of the found object.")
    kind: Kind = Field(description="What it is.")
    text: str = Field(description="The text.")
    author: str = Field(description="Who said it; may be empty.")
    score: float = Field(description="Orders the results; compare only within one answer.")
    confidence: float = Field(description="Share of the query's information that the text matches, 0 to 1.")
    current: bool = Field(description="False for what was superseded or retracted.")
    weak: bool = Field(description="True where the match is doubtful.")
    signals: dict[str, float] = Field(description="What the score is made of.")
    ref: ResultRef = Field(description="Where it comes from.")
    scope: ScopeView | None = Field(
        description="Scope in which it was found; null for a document of your own that is shared to none of those read."
    )
    source_session_id: str | None = Field(description="Conversation it comes from.")
    event_time: datetime = Field(description="When it was said.")
    recorded_at: datetime = Field(description="When it was stored.")


class SearchMemoryResult(PageResult):
    """One page of results, best first."""

    results: list[SearchResult] = Field(description="Results, best first.")
    conflicts: list[OpenConflict] = Field(
        default=[],
        description="Open conflicts of the memories shown, and conditions under which they hold; at most 20.",
    )
    warnings: list[str] = Field(description="What was cut or left out, each with a reason code.")
