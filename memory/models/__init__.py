"""Memory's tables: events as they came in, items learned from them, the graph between them, and what was shown."""

from __future__ import annotations

from memory.models.conflicts import Conflict, ConflictDecision, ConflictSignature
from memory.models.contexts import ContextRecord, ContextShown
from memory.models.events import Message, Ref, Session, SessionScopeLink, Summary, ToolCall, Turn
from memory.models.extraction import ExtractionRun
from memory.models.graph import Entity, EntityAlias, EntityMention, KgEdge
from memory.models.items import EvidenceLink, KnowledgeEvent, MemoryChunk, MemoryItem
from memory.models.notices import Notice

__all__ = [
    "Conflict",
    "ConflictDecision",
    "ConflictSignature",
    "ContextRecord",
    "ContextShown",
    "Entity",
    "EntityAlias",
    "EntityMention",
    "EvidenceLink",
    "ExtractionRun",
    "KgEdge",
    "KnowledgeEvent",
    "MemoryChunk",
    "MemoryItem",
    "Message",
    "Notice",
    "Ref",
    "Session",
    "SessionScopeLink",
    "Summary",
    "ToolCall",
    "Turn",
]
