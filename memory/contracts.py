"""What memory takes and answers: turn events, stored turns, sessions, and search."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated, Any, Literal, Self
from uuid import UUID

from pydantic import Field, JsonValue, model_validator

from kernel.contracts import Contract, Identifier, Instant, KeyedInput, KeyedResult, PageInput, PageResult
from scopes.contracts import LEGACY_DOMAIN, DomainId, Scoped, ScopeRef, ScopeView
from search.contracts import Kind

Meta = Annotated[dict[str, JsonValue], Field(default={}, description="Anything of the caller's own; kept as given.")]


class Event(Contract):
    """What every recorded event may carry."""

    id: Identifier | None = Field(default=None, description="The caller's own id, given back in answers.")
    created_at: Instant | None = Field(default=None, description="When it happened; left out, the time of the commit.")
    scope_ref: ScopeRef | None = Field(
        default=None, description="Ignored, and named in `ignored`: events always belong to their session."
    )


class MessageIn(Event):
    """One message."""

    role: str = Field(
        min_length=1, max_length=32, pattern=r"^[a-z_]+$", description="`user`, `assistant`, `system`, `tool`, …"
    )
    content: str = Field(description="The text, in its own language; may be empty.")
    name: str = Field(default="", max_length=200, description="Name of the speaker.")
    model: str = Field(default="", max_length=200, description="Model that wrote it.")
    meta: Meta


class ToolCallIn(Event):
    """One tool call."""

    name: str = Field(min_length=1, max_length=200, description="Name of the tool.")
    args: JsonValue = Field(default=None, description="Arguments, any JSON.")
    result: JsonValue = Field(default=None, description="Result, any JSON.")
    status: str = Field(default="", max_length=32, description="How it ended, in the caller's own words.")


class RefIn(Event):
    """One reference to something outside."""

    ref_type: Literal["file", "url", "artifact"] = Field(description="What it points to.")
    ref_uri: str = Field(min_length=1, max_length=2000, description="Where it points.")
    ref_meta_json: Meta


class TurnEvents(Contract):
    """What happened in one turn. Every list may be left out; not all of them."""

    messages: list[MessageIn] = Field(default=[], description="Messages in order.")
    tool_calls: list[ToolCallIn] = Field(default=[], description="Tool calls in order.")
    refs: list[RefIn] = Field(default=[], description="Files, addresses and artifacts.")

    @model_validator(mode="after")
    def _something(self) -> Self:
        if not (self.messages or self.tool_calls or self.refs):
            raise ValueError("nothing to commit: give messages, tool_calls or refs")
        return self


class CommitTurnInput(KeyedInput, Scoped):
    """One turn of a conversation."""

    session_id: Identifier = Field(description="The conversation, in the caller's own words; opened where missing.")
    turn_events: TurnEvents = Field(description="What happened.")


class Ignored(Contract):
    """A part of the input that has no effect, and why."""

    path: str = Field(description="Where in the input.")
    reason: str = Field(description="Reason code.")


class StoredCounts(Contract):
    """How much was stored."""

    messages: int = Field(description="Messages stored.")
    tool_calls: int = Field(description="Tool calls stored.")
    refs: int = Field(description="References stored.")


class CommitTurnResult(KeyedResult):
    """The stored turn."""

    ok: Literal[True] = Field(default=True, description="Always true; refusals are errors.")
    commit_id: UUID = Field(description="This commit, as the audit log names it.")
    domain_id: str = Field(description="Domain written to.")
    session_id: str = Field(description="The caller's own id of the conversation.")
    turn_id: UUID = Field(description="The stored turn (UUIDv7).")
    seq: int = Field(description="Place of the turn in its session, from 1 without gaps.")
    default_write: ScopeView | None = Field(description="Scope in which the messages can also be found.")
    message_ids: list[str] = Field(description="Ids of the messages: the caller's own where given, else ours.")
    stored: StoredCounts = Field(description="How much was stored.")
    ignored: list[Ignored] = Field(description="Parts of the input that have no effect.")


class MessageView(Contract):
    """A stored message."""

    message_id: str = Field(description="The caller's own id where one was given, else ours.")
    role: str = Field(description="Role.")
    name: str = Field(description="Speaker; may be empty.")
    content: str = Field(description="The text as it was given.")
    model: str = Field(description="Model; may be empty.")
    meta: dict[str, Any] = Field(description="The caller's own data.")
    created_at: datetime = Field(description="When it was said.")


class ToolCallView(Contract):
    """A stored tool call."""

    id: str = Field(description="The caller's own id where one was given, else ours.")
    name: str = Field(description="Tool.")
    args: Any = Field(description="Arguments.")
    result: Any = Field(description="Result.")
    status: str = Field(description="How it ended.")
    created_at: datetime = Field(description="When.")


class RefView(Contract):
    """A stored reference."""

    id: str = Field(description="The caller's own id where one was given, else ours.")
    ref_type: str = Field(description="What it points to.")
    ref_uri: str = Field(description="Where it points.")
    ref_meta_json: dict[str, Any] = Field(description="The caller's own data.")
    created_at: datetime = Field(description="When.")


class TurnView(Contract):
    """A stored turn with everything in it."""

    turn_id: UUID = Field(description="Turn id (UUIDv7).")
    seq: int = Field(description="Place in its session.")
    author: str = Field(description="Name of the principal that committed it.")
    created_at: datetime = Field(description="When it was committed.")
    messages: list[MessageView] = Field(description="Messages in order.")
    tool_calls: list[ToolCallView] = Field(description="Tool calls in order.")
    refs: list[RefView] = Field(description="References in order.")


class ListTurnsInput(PageInput):
    """A session's turns in order."""

    domain_id: DomainId = Field(default=LEGACY_DOMAIN, description="The isolation domain; `legacy` where left out.")
    session_id: Identifier = Field(description="The conversation, in the caller's own words.")
    newest_first: bool = Field(default=False, description="True: start with the newest turn.")


class ListTurnsResult(PageResult):
    """One page of turns."""

    session_id: str = Field(description="The conversation.")
    turns: list[TurnView] = Field(description="Turns in the order asked for.")


class SessionView(Contract):
    """A conversation."""

    id: UUID = Field(description="Server id (UUIDv7).")
    domain_id: str = Field(description="Domain.")
    session_id: str = Field(description="The caller's own id.")
    turns: int = Field(description="Number of turns.")
    created_at: datetime = Field(description="When it was opened.")


class GetTurnInput(Contract):
    """One turn by the server's id, such as a search result names."""

    turn_id: UUID = Field(description="Turn id (UUIDv7).")


class GetTurnResult(Contract):
    """One turn and the conversation that it belongs to."""

    session: SessionView = Field(description="The conversation.")
    turn: TurnView = Field(description="The turn with everything in it.")


class GetSessionInput(PageInput):
    """One conversation by the server's id, which is unambiguous where callers share a session id."""

    id: UUID = Field(description="Server id of the conversation (UUIDv7), as `list_sessions` gives it.")
    newest_first: bool = Field(default=False, description="True: start with the newest turn.")


class GetSessionResult(PageResult):
    """A conversation and one page of its turns."""

    session: SessionView = Field(description="The conversation.")
    turns: list[TurnView] = Field(description="Turns in the order asked for.")


class ListSessionsInput(PageInput):
    """The sessions you may read in a domain."""

    domain_id: DomainId = Field(default=LEGACY_DOMAIN, description="The isolation domain; `legacy` where left out.")


class ListSessionsResult(PageResult):
    """One page of sessions, newest first."""

    sessions: list[SessionView] = Field(description="Sessions, newest first.")


class TimeRange(Contract):
    """From an instant (included) to an instant (not included)."""

    since: Instant | None = Field(default=None, description="At or after.")
    until: Instant | None = Field(default=None, description="Before.")


class SearchMemoryInput(PageInput, Scoped):
    """A question to the scopes that you read."""

    query: str = Field(min_length=1, description="Words to look for, in any language; operators have no meaning.")
    kinds: list[Kind] = Field(default=[Kind.MEMORY, Kind.MESSAGE], min_length=1, description="What to look for.")
    time_range: TimeRange | None = Field(default=None, description="Only texts of this time, by their own time.")
    min_confidence: float = Field(default=0.0, ge=0, le=1, description="Leave out results below this confidence.")


class ResultRef(Contract):
    """Where a result comes from."""

    item_id: UUID | None = Field(default=None, description="Memory item.")
    session_id: str | None = Field(default=None, description="Conversation, in the caller's own words.")
    turn_id: UUID | None = Field(default=None, description="Turn.")
    message_id: str | None = Field(default=None, description="The caller's own id where one was given, else ours.")
    section_id: UUID | None = Field(default=None, description="Document section.")


class SearchResult(Contract):
    """One found text."""

    id: UUID = Field(description="Id of the found object.")
    kind: Kind = Field(description="What it is.")
    text: str = Field(description="The text.")
    author: str = Field(description="Who said it; may be empty.")
    score: float = Field(description="Orders the results; compare only within one answer.")
    confidence: float = Field(description="Share of the query's information that the text matches, 0 to 1.")
    weak: bool = Field(description="True where the match is doubtful.")
    signals: dict[str, float] = Field(description="What the score is made of.")
    ref: ResultRef = Field(description="Where it comes from.")
    scope: ScopeView = Field(description="Scope in which it was found.")
    source_session_id: str | None = Field(description="Conversation it comes from.")
    event_time: datetime = Field(description="When it was said.")
    recorded_at: datetime = Field(description="When it was stored.")


class SearchMemoryResult(PageResult):
    """One page of results, best first."""

    results: list[SearchResult] = Field(description="Results, best first.")
    conflicts: list[dict[str, Any]] = Field(default=[], description="Open contradictions among the results.")
    warnings: list[str] = Field(description="What was cut or left out, each with a reason code.")
