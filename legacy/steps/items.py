"""Memories, with their versions in order: of the rows that claim one key the newest trusted one is in force, the others
are its history."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING, Any
from uuid import UUID

from kernel.canonical import canonical_json
from kernel.rows import insert
from legacy.contracts import Outcome, Quarantined, SourceRow
from legacy.contracts.outcomes import NOTE, kept_aside, moved
from legacy.contracts.rows import as_uuid, parse_moment
from legacy.source import Source
from legacy.steps.base import Run, free_ids, parents, put
from legacy.steps.places import Origins, Places, Said, within
from legacy.steps.values import KNOWN, Mapped, mapped
from memory.contracts.items import TRUSTED, Status
from memory.contracts.refs import is_address
from memory.keys import conflict_class
from memory.models import EvidenceLink, KnowledgeEvent, MemoryChunk, MemoryItem, Session
from memory.services.items import chunk_of, entry_of, is_governed
from search import services as index
from search.contracts import Kind, NewEntry

if TYPE_CHECKING:
    from scopes.models import MemoryScope

ORIGIN = "migrated:smartbrain"
_UNTRUSTED = "r.lifecycle_status IN ('candidate', 'demoted', 'retired')"
_WRITTEN = (
    "value", "statement", "confidence", "status", "lifecycle_status", "importance", "source_turn_id", "source_message_id",
    "valid_from", "valid_to", "review_by", "recorded_at", "current_until", "content_hash", "successor_id",
)  # fmt: skip
_FIXED = ("scope_id", "type", "key", "source_session_id")
_MOST_REFS = 50  # of one memory
_ANY = "any"  # a bare id may be one of a memory, a message or a turn
_Ref = tuple[str, str]  # kind and id
_Claim = tuple[int, str, str]  # scope, type, and the key; of a memory without one, its content hash


@dataclass(frozen=True, slots=True)
class Found:
    """Where a memory belongs: scope, session, and the turn and message that it was learned from."""

    scope: MemoryScope
    session: Session
    turn: Said | None
    message: Said | None


class Items:
    """The step of memories."""

    name = "memory_items"
    tables: tuple[str, ...] = ("memory_items",)

    def rows(self, source: Source) -> Iterator[SourceRow]:
        """Every memory by its scope, type and key; of one key those first that may be in force, the newest first. Each
        carries the number of its version and the time of the version after it."""
        scope = [name for name in ("scope_id", "session_id") if source.has(self.tables[0], name)]
        group = [f"coalesce({', '.join(f'r.{name}::text' for name in scope)}, '') COLLATE \"C\""]
        group += [f"coalesce(r.{name}, '') COLLATE \"C\"" for name in ("type", "key")]
        ages = "r.status IS NOT DISTINCT FROM 'active', r.updated_at NULLS FIRST, r.id::text COLLATE \"C\""
        window = f"OVER (PARTITION BY {', '.join(group)} ORDER BY {ages})"
        weak = "r.status IS DISTINCT FROM 'active'"
        weak += f" OR {_UNTRUSTED}" if source.has(self.tables[0], "lifecycle_status") else ""
        places = (*group, f"coalesce({weak}, false)", f"-row_number() {window}", f"lead(r.updated_at) {window}::text")
        return source.rows(self.tables[0], places=places)

    def store(self, rows: Sequence[SourceRow], run: Run) -> list[Outcome]:
        """Store memories with their index texts, evidence and the step of their history that says where they come from."""
        batch = _Batch(rows, run)
        outcomes = [batch.take(row) for row in rows]
        batch.store()
        return outcomes


class _Batch:
    """What one batch of memories becomes."""

    def __init__(self, rows: Sequence[SourceRow], run: Run) -> None:
        self._run = run
        self._places = Places(rows)
        columns = [row.columns for row in rows]
        self._origins = Origins(
            [each.get("source_turn_id") for each in columns], [each.get("source_message_id") for each in columns]
        )
        self._ids = free_ids(MemoryItem, rows, run)
        self._references = _References(rows, run.source)
        self._said: dict[str, Mapped] = {}
        self._found: dict[str, Found] = {}
        self._faults: dict[str, Quarantined] = {}
        for row in rows:
            try:
                self._said[row.id], self._found[row.id] = mapped(row), self._place(row)
            except Quarantined as why:
                self._faults[row.id] = why
        self._again = MemoryItem.objects.filter(pk=run.again.target_id).first() if run.again is not None else None
        self._holders = self._in_force()
        self._items: dict[UUID, tuple[MemoryItem, Found]] = {}
        self._closed: list[MemoryItem] = []
        self._links: list[EvidenceLink] = []
        self._events: list[KnowledgeEvent] = []

    def _place(self, row: SourceRow) -> Found:
        scope, session = self._places.place(row)
        message = self._origins.message(row.columns.get("source_message_id"))
        turn = self._origins.turn(row.columns.get("source_turn_id"))
        return Found(scope, session, within(turn, scope), within(message[0] if message else None, scope))

    def _in_force(self) -> dict[_Claim, MemoryItem]:
        """The rows here that hold a place which one of the batch claims."""
        claims = {_claim(said, self._found[key].scope.key) for key, said in self._said.items() if key in self._found}
        others = MemoryItem.objects.exclude(pk=self._again.pk) if self._again else MemoryItem.objects
        rows = others.filter(
            scope_id__in={claim[0] for claim in claims}, type__in={claim[1] for claim in claims}, current_until=None
        )
        keyed = rows.filter(key__in={claim[2] for claim in claims})
        unkeyed = rows.filter(key=None, content_hash__in={claim[2] for claim in claims})
        found = {(row.scope_id, row.type, row.key or row.content_hash): row for row in [*keyed, *unkeyed]}
        return {claim: row for claim, row in found.items() if claim in claims}

    def take(self, row: SourceRow) -> Outcome:
        """The outcome of one memory."""
        if row.id in self._faults:
            return kept_aside(row, self._faults[row.id])
        said, found = self._said[row.id], self._found[row.id]
        item = self._item(row, said, found)
        notes = [*said.notes, *self._enter(item, row, said)]
        notes += _losses(row, found)
        refs, lost = self._references.of(row)
        notes += lost
        self._items[item.pk] = (item, found)
        self._links += _links(item, found, refs)
        note = "; ".join(notes)
        self._events.append(_event(item, row, note, self._run, self._again))
        return moved(row, "memory_items", item.pk, note)

    def _item(self, row: SourceRow, said: Mapped, found: Found) -> MemoryItem:
        at = said.updated_at or (found.turn.at if found.turn else self._run.ctx.now)
        learned = found.turn.at if found.turn and said.status is not Status.ACTIVE else at
        if self._again and said.status is not Status.ACTIVE:
            learned = min(learned, self._again.recorded_at)
        return MemoryItem(
            id=self._ids[row.id],
            domain_id=found.scope.domain_id,
            scope=found.scope,
            type=said.type,
            key=said.key,
            value=said.value,
            statement=said.statement,
            confidence=said.confidence,
            status=said.status,
            lifecycle_status=said.lifecycle,
            importance=said.importance,
            origin=ORIGIN,
            source_session=found.session,
            source_turn_id=found.turn.id if found.turn else None,
            source_message_id=found.message.id if found.message else None,
            valid_from=said.valid_from,
            valid_to=said.valid_to,
            review_by=said.review_by,
            recorded_at=min(learned, at),
            current_until=None if said.status is Status.ACTIVE else max(at, _following(row) or at),
            author_id=self._run.owner.id,
            author_name=self._run.owner.name,
            version=self._version(row, said),
            content_hash=said.content_hash,
        )

    def _version(self, row: SourceRow, said: Mapped) -> int:
        if self._again:
            return self._again.version
        return -row.place[4] if row.place and said.key is not None else 1

    def _enter(self, item: MemoryItem, row: SourceRow, said: Mapped) -> list[str]:
        """Put a memory in force, or behind what is; notes of what that changes."""
        claim = _claim(said, item.scope_id)
        holder = self._holders.get(claim)
        if said.status is not Status.ACTIVE:
            item.successor = holder if said.status is Status.SUPERSEDED else None
            return []
        if holder is None:
            self._holders[claim] = item
            return []
        if item.recorded_at > holder.recorded_at and self._gives_way(holder, said):
            holder.current_until = item.recorded_at
            holder.status = _after(item.type)
            holder.successor = item
            self._closed.append(holder)
            self._holders[claim] = item
            return []
        item.status = _after(item.type)
        item.successor = holder
        item.current_until = max(_following(row) or holder.recorded_at, item.recorded_at)
        return [f"another row of its key is in force: {holder.pk}"]

    def _gives_way(self, holder: MemoryItem, said: Mapped) -> bool:
        """Whether a row in force that an earlier batch or an agent stored makes way for a newer one."""
        weaker = not said.trusted and holder.lifecycle_status in TRUSTED
        return not weaker and not is_governed(holder) and holder.pk not in self._items

    def store(self) -> None:
        """Insert what was taken, with all that follows from it."""
        for row in self._closed:
            changed = {"current_until": row.current_until, "status": row.status, "successor_id": row.successor_id}
            MemoryItem.objects.filter(pk=row.pk).update(**{**changed, "successor_id": None})
            index.close(Kind.MEMORY, [row.pk], row.current_until or self._run.ctx.now)
        put([item for item, _ in self._items.values()], self._run, _WRITTEN, _FIXED)
        for row in self._closed:
            MemoryItem.objects.filter(pk=row.pk).update(successor_id=row.successor_id)
        for link in self._links:
            link.created_at = link.item.recorded_at
        insert(self._links, known=True)
        insert(self._events)
        shown = [(item, found) for item, found in self._items.values() if not _is_denial(item)]
        chunks = [chunk_of(item) for item, _ in shown]
        entries = [_entry(item, found, chunk.text) for (item, found), chunk in zip(shown, chunks, strict=True)]
        if self._again is None:
            insert(chunks)
            index.add(entries)
        else:
            self._follow(self._again, chunks, entries)

    def _follow(self, before: MemoryItem, chunks: Sequence[MemoryChunk], entries: Sequence[NewEntry]) -> None:
        """Bring what is derived from a memory that is taken again in line with it, and drop the evidence that it named and
        names no more. What it names is as old as itself; what was added here is not, and stays."""
        named = {(link.kind, link.ref) for link in self._links}
        item, _ = self._items[before.pk]
        for link in EvidenceLink.objects.filter(item=before, role="supporting", created_at=before.recorded_at):
            if (link.kind, link.ref) in named:
                link.created_at = item.recorded_at
                link.save(update_fields=("created_at",))
            else:
                link.delete()
        MemoryChunk.objects.filter(item=before).delete()
        insert(chunks)
        if entries:
            index.refresh(entries)
        else:
            index.remove(Kind.MEMORY, [before.pk])


def _entry(item: MemoryItem, found: Found, text: str) -> NewEntry:
    said_at = found.message.at if found.message else item.recorded_at
    return entry_of(item, text, item.valid_from or said_at, found.session.scope_id)


class _References:
    """What the evidence of a batch of memories is here."""

    def __init__(self, rows: Sequence[SourceRow], source: Source) -> None:
        self._given = {row.id: _given(row) for row in rows}
        named = [_kind_and_id(ref) for refs in self._given.values() for ref in refs[:_MOST_REFS]]
        tables = {"memory": "memory_items", "message": "messages", "turn": "turns"}
        self._there = {
            kind: parents(table, [name for found, name in named if found in (kind, _ANY)])
            for kind, table in tables.items()
        }
        later = [name for kind, name in named if kind in ("memory", _ANY) and as_uuid(name)]
        self._later = source.among("memory_items", later) if later else set()

    def of(self, row: SourceRow) -> tuple[list[_Ref], list[str]]:
        """The references of a row as they are kept here, and a note of those that are not."""
        kept, lost = [], self._given[row.id][_MOST_REFS:]
        for given in self._given[row.id][:_MOST_REFS]:
            ref = self._ref(*_kind_and_id(given))
            if ref is None:
                lost.append(given)
            else:
                kept.append(ref)
        return kept, [f"evidence not kept: {canonical_json(lost)}"] if lost else []

    def _ref(self, kind: str, name: str) -> _Ref | None:
        if kind == "url":
            return ("url", name) if is_address(name) and len(name.encode()) <= 2000 else None
        for each, there in self._there.items():
            target = there.maybe(name) if kind in (each, _ANY) else None
            if target is not None:
                return each, str(target)
        # A memory that comes later, under its own id.
        return ("memory", name) if name in self._later else None


def references(rows: Sequence[SourceRow], source: Source) -> dict[str, list[_Ref]]:
    """By source id, the kind and id here of what each memory names as its evidence."""
    found = _References(rows, source)
    return {row.id: found.of(row)[0] for row in rows}


def _given(row: SourceRow) -> list[Any]:
    try:
        given = row.json("evidence_refs")
    except Quarantined:
        return []
    return given if isinstance(given, list) else [given] if given else []


def _kind_and_id(given: Any) -> tuple[str, str]:
    """What a reference of the older system points to: it wrote them in several ways."""
    if isinstance(given, str):
        return (_ANY if as_uuid(given) else "url"), given
    if not isinstance(given, dict):
        return "", ""
    for name, kind in (
        ("message_id", "message"),
        ("memory_item_id", "memory"),
        ("ref_uri", "url"),
        ("source_uri", "url"),
    ):
        if isinstance(given.get(name), str):
            return kind, given[name]
    found = given.get("kind") or given.get("type")
    target = given.get("id") or given.get("uri") or given.get("url")
    return (found if isinstance(found, str) else ""), (target if isinstance(target, str) else "")


def _claim(said: Mapped, scope_key: int) -> _Claim:
    return scope_key, said.type, said.key or said.content_hash


def _after(kind: str) -> Status:
    """What an older value under a key is called: of a versioned type it stays active beside the newest."""
    return Status.ACTIVE if conflict_class(kind) == "versioned" else Status.SUPERSEDED


def _following(row: SourceRow) -> datetime | None:
    """When the next version of its key came."""
    text = row.place[5] if row.place else None
    try:
        return parse_moment(text, "updated_at") if text else None
    except Quarantined:
        return None


def _is_denial(item: MemoryItem) -> bool:
    """Whether it only keeps that something never held: nothing is to be found by it."""
    return item.status == Status.RETRACTED and item.current_until == item.recorded_at


def _losses(row: SourceRow, found: Found) -> list[str]:
    """Notes of a turn or message that it names and that is not in its domain here."""
    named = {"source_turn_id": found.turn, "source_message_id": found.message}
    return [
        f"{name} {row.columns[name]} did not come along into its domain"
        for name, there in named.items()
        if row.has(name) and not there
    ]


def _links(item: MemoryItem, found: Found, refs: Sequence[_Ref]) -> list[EvidenceLink]:
    origin = [("message", str(found.message.id))] if found.message else []
    origin += [("turn", str(found.turn.id))] if found.turn and not found.message else []
    return [
        EvidenceLink(
            domain_id=item.domain_id, item=item, kind=kind, ref=ref, role="supporting", created_at=item.recorded_at
        )
        for kind, ref in dict.fromkeys([*origin, *refs])
    ]


def _event(item: MemoryItem, row: SourceRow, note: str, run: Run, before: MemoryItem | None) -> KnowledgeEvent:
    """The step of its history that says where it comes from; of one taken again, what it was here."""
    origin = {"system": "smartbrain", "table": row.table, "id": row.key, "run": str(run.id), **row.beside(KNOWN)}
    return KnowledgeEvent(
        domain_id=item.domain_id,
        item=item,
        kind="migrated",
        from_status=f"{before.status}/{before.lifecycle_status}" if before else "",
        to_status=f"{item.status}/{item.lifecycle_status}",
        reason=note[:NOTE],
        actor_id=run.ctx.actor.id,
        actor_name=run.ctx.actor.name,
        metadata=origin,
        created_at=run.ctx.now,
    )
