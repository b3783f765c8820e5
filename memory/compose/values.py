"""The frozen values that composing works on."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Literal
from uuid import UUID

from pydantic import JsonValue

from memory.compose.contracts import (
    DeveloperBlock,
    Evidence,
    NoticeView,
    OpenConflict,
    Position,
    RecentTurn,
    SystemBlock,
)
from scopes.contracts import ScopeContext

Source = Literal["memory", "resource"]

DAO_TIAN = "dao_tian"
TIERS = (DAO_TIAN, "dao_ren", "shu", "qi")
UNIT = "unit"  # the scale of scores that lie between 0 and 1 by themselves and are taken as they are
CONFLICT_PRIORITY = ("task", "project", "expert", "global", "session")


@dataclass(frozen=True, slots=True)
class RecentMessage:
    """One message of the conversation so far."""

    role: str
    content: str
    turn_id: UUID
    message_id: str
    created_at: datetime


@dataclass(frozen=True, slots=True)
class Request:
    """Who asks, when, and where. `now` is aware and in the caller's own offset, so that days begin where he lives."""

    request_id: UUID
    now: datetime
    domain_id: str
    session_id: str | None = None
    scope_context: ScopeContext | None = None
    app: str = "smart_brain"
    agent_state: Mapping[str, JsonValue] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class KeyedRow:
    """What decides between rows of one key. `scope` is its written form, `type:id`."""

    id: UUID
    type: str
    key: str | None
    scope_type: str
    scope: str
    tier: str
    pinned: bool
    recorded_at: datetime


@dataclass(frozen=True, slots=True)
class Candidate:
    """One found text before fusion.

    `score` counts within its `scale` only: candidates of one search share one; on `UNIT` it counts as it is. `lineage` is the id of the first
    of a line of copies and versions. `mode` is how the text was matched. `scope` is written `type:id`.
    """

    id: str
    source: Source
    score: float
    text: str
    title: str = ""
    source_uri: str = ""
    source_type: str = "other"
    kind: str = ""
    mode: str = "hybrid"
    scale: str = ""
    weak: bool = False
    pinned: bool = False
    tier: str = ""
    scope: str = ""
    lineage: str = ""
    source_session_id: str | None = None
    author: str = ""
    document_id: str | None = None
    section_id: str | None = None
    chunk_index: int | None = None
    position: Position | None = None
    turn_id: UUID | None = None
    message_id: str | None = None
    item_id: UUID | None = None
    event_time: datetime | None = None
    signals: Mapping[str, float] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Ranked:
    """A candidate with its rank score, what that is made of, and the names in the question that it speaks of."""

    candidate: Candidate
    score: float
    signals: Mapping[str, float]
    covers: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Slots:
    """The parts of a package in their fixed order."""

    user_message: str
    system_blocks: tuple[SystemBlock, ...] = ()
    developer_blocks: tuple[DeveloperBlock, ...] = ()
    working_summary: str = ""
    recent_turns: tuple[RecentTurn, ...] = ()
    evidence: tuple[Evidence, ...] = ()
    conflicts: tuple[OpenConflict, ...] = ()
    notices: tuple[NoticeView, ...] = ()
