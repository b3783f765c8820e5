"""Composing a context: the message to answer in, the package out."""

from __future__ import annotations

from typing import Literal

from pydantic import Field, JsonValue

from kernel.contracts import Contract
from memory.compose.contracts import ContextPackage
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
