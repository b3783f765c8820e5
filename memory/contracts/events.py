"""Events of a turn, as they come in and as they are read back."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated, Any, Literal
from uuid import UUID

from pydantic import Field, JsonValue

from kernel.contracts import Contract, Identifier, Instant, PageInput, PageResult
from scopes.contracts import LEGACY_DOMAIN, DomainId, ExternalId, ScopeRef

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
    session_id: ExternalId = Field(description="The conversation, in the caller's own words.")
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


class SummaryView(Contract):
    """One version of a conversation's working summary."""

    version: int = Field(description="Version, from 1.")
    text: str = Field(description="The summary under its five headings.")
    source_from: int = Field(description="First turn that it was made from.")
    source_to: int = Field(description="Last turn that it was made from.")
    trigger: str = Field(description="turn_threshold, token_pressure or stage_event.")
    generated_at: datetime = Field(description="When.")


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
    summaries: list[SummaryView] = Field(
        description="Working summaries, newest first; at most 5, the first page only."
    )


class ListSessionsInput(PageInput):
    """The sessions you may read in a domain."""

    domain_id: DomainId = Field(default=LEGACY_DOMAIN, description="The isolation domain; `legacy` where left out.")


class ListSessionsResult(PageResult):
    """One page of sessions, newest first."""

    sessions: list[SessionView] = Field(description="Sessions, newest first.")
