"""A commit under way: what it did so far, and what is to be stored at its end."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime
from uuid import UUID

from kernel.actions import Change
from kernel.context import Ctx
from memory.contracts.commit import QueuedItem, RetentionLine, WriteConflict, WrittenItem
from memory.models import Conflict, EvidenceLink, KgEdge, KnowledgeEvent, MemoryItem, Message, Turn
from search.contracts import NewEntry


@dataclass(slots=True)
class Written:
    """What a commit did to items, collected as it goes."""

    items: list[WrittenItem] = field(default_factory=list)
    conflicts: list[WriteConflict] = field(default_factory=list)
    found: list[Conflict] = field(default_factory=list)
    lines: list[RetentionLine] = field(default_factory=list)
    queued: list[QueuedItem] = field(default_factory=list)
    changes: list[Change] = field(default_factory=list)

    @property
    def count(self) -> int:
        """Items newly stored."""
        return sum(1 for item in self.items if not item.deduplicated)


@dataclass(slots=True)
class Pending:
    """What follows from the items of a commit, stored together at its end: index text, entries, evidence, history."""

    items: dict[UUID, tuple[MemoryItem, datetime]] = field(default_factory=dict)
    evidence: list[EvidenceLink] = field(default_factory=list)
    events: list[KnowledgeEvent] = field(default_factory=list)
    closed: dict[UUID, datetime] = field(default_factory=dict)
    trusted: list[MemoryItem] = field(default_factory=list)
    entries: list[NewEntry] = field(default_factory=list)
    edges: list[tuple[KgEdge, bool]] = field(default_factory=list)  # each with whether it was said since when it holds
    staged: bool = False


@dataclass(frozen=True, slots=True)
class Commit:
    """A commit under way: the turn that it learns from (None for an item that has none, such as an imported one), the
    messages in order, and what it did so far."""

    source: Turn | None
    messages: Sequence[Message]
    ctx: Ctx
    written: Written
    pending: Pending

    @property
    def turn(self) -> Turn:
        """The turn, where there must be one."""
        if self.source is None:
            raise TypeError("this commit learns from no turn")
        return self.source


def event_of(item: MemoryItem, kind: str, before: str, ctx: Ctx, reason: str = "") -> KnowledgeEvent:
    """One step in the item's history, not stored yet."""
    return KnowledgeEvent(
        domain_id=item.domain_id,
        item=item,
        kind=kind,
        from_status=before,
        to_status=item.standing,
        reason=reason,
        actor_id=ctx.actor.id,
        actor_name=ctx.actor.name,
        created_at=ctx.now,
    )
