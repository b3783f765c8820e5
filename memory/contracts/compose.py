"""Composing a context: the message to answer in, the package out."""

from __future__ import annotations

from datetime import datetime
from typing import Any, Literal
from uuid import UUID

from pydantic import Field, JsonValue

from kernel.contracts import Contract
from memory.compose.contracts import ContextPackage, Slot
from scopes.contracts import Scoped


class DeveloperBlockIn(Contract):
    """A standing rule of the calling application."""

    type: Literal["tooling_rules", "format_rules", "safety_rules", "other"] = Field(description="What it is.")
    text: str = Field(min_length=1, max_length=20_000, description="The rule.")


class ComposeContextInput(Scoped):
    """A message that an agent is about to answer."""

    user_message: str = Field(min_length=1, description="The message, exactly as it came.")
    agent_state: dict[str, JsonValue] = Field(default={}, description="The agent's own state, any JSON.")
    developer_blocks: list[DeveloperBlockIn] = Field(
        default=[], max_length=20, description="Standing rules of the calling application."
    )
    utc_offset_minutes: int = Field(
        default=0, ge=-840, le=840, description="Where the user is, so that `yesterday` means their day."
    )
    render: bool = Field(default=False, description="True: also the chat messages, ready to send to a model.")


class ChatMessage(Contract):
    """One message of a rendered context."""

    role: str = Field(description="system, developer, user or assistant.")
    content: str = Field(description="The text; evidence in it is marked as data.")


class ComposeContextResult(ContextPackage):
    """The package, and the chat messages where they were asked for."""

    messages: list[ChatMessage] | None = Field(default=None, description="Rendered messages, in order.")


class GetContextInput(Contract):
    """Names one recorded context; its domain comes from the record."""

    id: UUID = Field(description="`context_id` of the package.")


class Withheld(Contract):
    """A text of a recorded context that is told to you no longer."""

    id: str = Field(description="Memory item, conflict, or `turn:message`; the slot's own name for the summary.")
    slot: Slot = Field(description="Part of the package; the text is empty there.")
    reason: Literal["narrowed"] = Field(
        default="narrowed",
        description="narrowed: it was kept for a scope that you do not read, since this was composed.",
    )


class GetContextResult(Contract):
    """A context as it was composed. Records are kept for as long as the domain's retention policy says."""

    context_id: UUID = Field(description="The context.")
    domain_id: str = Field(description="Domain.")
    session_id: str | None = Field(description="Conversation; null where it was not stored yet.")
    actor: str = Field(description="Name of the principal for which it was composed.")
    request_id: UUID = Field(description="Request.")
    created_at: datetime = Field(description="When.")
    took_ms: float = Field(description="Milliseconds that composing took.")
    package: dict[str, Any] = Field(
        description="The package as the agent got it, but for what is `withheld`; see `compose_context`."
    )
    withheld: list[Withheld] = Field(default=[], description="Texts that were left empty, each with its reason.")
