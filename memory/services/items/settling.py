"""What follows from the items of a commit: index text and entries, evidence, history, conflicts; stored together."""

from __future__ import annotations

from datetime import datetime

from kernel.rows import insert
from memory.contracts.items import TRUSTED, Status
from memory.models import MemoryChunk, MemoryItem
from memory.services.conflicts import find_conflicts, find_edge_conflicts, follow
from memory.services.items.under_way import Commit
from memory.statements import chunk_text
from search import services as index
from search.contracts import Kind, NewEntry, State


def settle(commit: Commit) -> None:
    """Store what follows from the commit's items and events: in a few statements, however many there are."""
    pending, session_key = commit.pending, commit.source.session.scope_id if commit.source else None
    insert(pending.evidence, known=True)  # evidence given again is the same
    insert(pending.events)
    chunks = [chunk_of(item) for item, _ in pending.items.values()]
    insert(chunks)
    texts = {chunk.item_id: chunk.text for chunk in chunks}
    entries = [entry_of(item, texts[item.id], at, session_key) for item, at in pending.items.values()]
    index.add([*pending.entries, *entries])
    for at in sorted(set(pending.closed.values())):
        index.close(Kind.MEMORY, [item_id for item_id, then in pending.closed.items() if then == at], at)
    _compare(commit)


def _compare(commit: Commit) -> None:
    """Conflicts of what came are found, those of what left are over: those too that a writer of another scope found while
    this one waited for it."""
    pending, written = commit.pending, commit.written
    fresh = [item for item_id, (item, _) in pending.items.items() if item_id not in pending.closed]
    finds = [find_conflicts([*fresh, *pending.trusted], commit.ctx)]
    for place, (edge, later) in enumerate(pending.edges, 1):
        after = [other.pk for other, _ in pending.edges[place:]]
        finds.append(find_edge_conflicts(edge, commit.ctx, later=later, after=after))
    for found in finds:
        written.found += found.conflicts
        written.changes += found.changes
    written.changes += follow(pending.closed, commit.ctx)


def chunk_of(item: MemoryItem) -> MemoryChunk:
    """The text under which an item is indexed."""
    text = chunk_text(item.type, item.key, item.value, item.statement, item.recorded_at)
    return MemoryChunk(domain_id=item.domain_id, item=item, text=text, meta={"type": item.type, "key": item.key})


def entry_of(item: MemoryItem, text: str, event_time: datetime, session_key: int | None) -> NewEntry:
    """The index entry of an item. `session_key` is the scope key of its source session."""
    return NewEntry(
        kind=Kind.MEMORY,
        object_id=item.id,
        domain_id=item.domain_id,
        scope_key=item.scope_id,
        text=text,
        event_time=event_time,
        recorded_at=item.recorded_at,
        session_key=session_key,
        label=item.type,
        valid_from=item.valid_from,
        valid_to=item.valid_to,
        trust=item.confidence,
        state=state_of(item),
        current_until=item.current_until,
    )


def state_of(item: MemoryItem) -> State:
    """Whether the item takes part in ordinary searches, in those of the past, or in none."""
    if item.lifecycle_status not in TRUSTED:
        return State.CANDIDATE
    return State.HISTORY if item.current_until is not None or item.status != Status.ACTIVE else State.CURRENT
