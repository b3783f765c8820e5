"""Deriving index texts, entries and the signatures of conflicts anew from items, turns and documents, in batches."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Any, cast, get_args
from uuid import UUID

from django.db.models import QuerySet

from kernel.actions import Applied, Change
from kernel.context import Ctx
from kernel.errors import InvalidInputError
from media.selectors.indexed import count_sections, gone_sections, ill_indexed, sections_after
from media.services.sections import reindex_sections
from memory.contracts.indexing import Phase, RebuildIndexInput, RebuildIndexResult
from memory.contracts.items import Status
from memory.models import MemoryChunk, MemoryItem, Message, Ref, ToolCall, Turn
from memory.services.conflicts import remember_again
from memory.services.items import chunk_of, entry_of
from memory.services.turns import entries_of
from scopes.services import lock_scopes
from search import services as index
from search.contracts import Kind, NewEntry
from search.selectors.upkeep import EntrySeen, count_entries, entries_after

_FULL: tuple[Phase, ...] = ("items", "turns", "sections", "orphans")
_INCREMENTAL: tuple[Phase, ...] = ("stale", "sections")
_NO_ID = UUID(int=0)
_OURS: dict[Kind, tuple[Any, ...]] = {Kind.MEMORY: (MemoryItem,), Kind.MESSAGE: (Message, ToolCall, Ref)}


def apply(given: RebuildIndexInput, prepared: None, ctx: Ctx) -> Applied[RebuildIndexResult]:
    """Do one batch. An entry that is right already is not written, so an index that is right stays as it is."""
    phases = _FULL if given.full else _INCREMENTAL
    phase, after = _read_cursor(given, phases)
    if phase == "items":
        done = _items(given, after)
    elif phase == "turns":
        done = _turns(given, after)
    elif phase == "sections":
        done = _sections(given, after, ctx)
    else:
        done = _entries(given, after, phase, ctx)
    seen, changed, added, removed, last = done
    following = phases[phases.index(phase) + 1 :]
    finished = seen < given.limit
    cursor = f"{phase}:{last}" if not finished else f"{following[0]}:" if following else None
    result = RebuildIndexResult(
        domain_id=given.domain_id,
        phase=phase,
        seen=seen,
        changed=changed,
        added=added,
        removed=removed,
        total=_total(given.domain_id, phase),
        next_cursor=cursor,
    )
    counts = {"seen": seen, "changed": changed, "added": added, "removed": removed}
    change = Change("index_entries", given.domain_id, None, counts, incidental=True)
    return result, [change] if changed or added or removed else []


_Done = tuple[int, int, int, int, str]  # seen, changed, added, removed, the last one


def _read_cursor(given: RebuildIndexInput, phases: tuple[Phase, ...]) -> tuple[Phase, str]:
    if given.cursor is None:
        return phases[0], ""
    phase, colon, after = given.cursor.partition(":")
    known = colon and phase in get_args(Phase) and phase in phases
    if not known or not (after == "" or _is_place(phase, after)):
        raise InvalidInputError("cursor: send `next_cursor` of the batch before, with the same `full`.")
    return cast("Phase", phase), after


def _is_place(phase: str, after: str) -> bool:
    if phase in ("stale", "orphans"):
        return after.isascii() and after.isdigit() and len(after) < 19
    try:
        UUID(after)
    except ValueError:
        return False
    return True


def _items(given: RebuildIndexInput, after: str) -> _Done:
    rows = _after(MemoryItem.objects.filter(domain_id=given.domain_id), after, given.limit)
    changed, added = _refresh_items(rows)
    return len(rows), changed, added, 0, str(rows[-1]) if rows else after


def _turns(given: RebuildIndexInput, after: str) -> _Done:
    rows = _after(Turn.objects.filter(domain_id=given.domain_id), after, given.limit)
    changed, added = _refresh_turns(rows)
    return len(rows), changed, added, 0, str(rows[-1]) if rows else after


def _sections(given: RebuildIndexInput, after: str, ctx: Ctx) -> _Done:
    ids = sections_after(given.domain_id, UUID(after) if after else _NO_ID, given.limit)
    wanted = ids if given.full else ill_indexed(ids)
    return len(ids), *reindex_sections(wanted, ctx), str(ids[-1]) if ids else after


def _after(rows: QuerySet[Any], after: str, limit: int) -> list[UUID]:
    found = rows.filter(pk__gt=UUID(after) if after else _NO_ID).order_by("pk")
    return list(found.values_list("pk", flat=True)[:limit])


def _entries(given: RebuildIndexInput, after: str, phase: Phase, ctx: Ctx) -> _Done:
    """Entries in their order: those that another tokeniser made are put right, those of nothing are removed."""
    seen = entries_after(given.domain_id, int(after or 0), given.limit)
    wanted = [entry for entry in seen if phase == "orphans" or entry.stale]
    gone = _gone(wanted)
    removed = sum(index.remove(kind, ids) for kind, ids in gone.items() if ids)
    changed = added = 0
    if phase == "stale":
        left = [entry for entry in wanted if entry.object_id not in gone.get(Kind(entry.kind), [])]
        changed, added, misplaced = _refresh_entries(left, ctx)
        removed += misplaced
    return len(seen), changed, added, removed, str(seen[-1].number) if seen else after


def _gone(entries: Sequence[EntrySeen]) -> dict[Kind, list[UUID]]:
    """Objects that entries stand for and that are not there."""
    found = {Kind.SECTION: gone_sections(entry.object_id for entry in entries if entry.kind == Kind.SECTION)}
    for kind, models in _OURS.items():
        ids = {entry.object_id for entry in entries if entry.kind == kind}
        there: set[UUID] = set()
        for model in models:
            there |= set(model.objects.filter(pk__in=ids - there).values_list("pk", flat=True))
        found[kind] = sorted(ids - there)
    return found


def _refresh_entries(entries: Sequence[EntrySeen], ctx: Ctx) -> tuple[int, int, int]:
    """How many entries were changed, added and removed."""
    items = [entry.object_id for entry in entries if entry.kind == Kind.MEMORY]
    said = [entry.object_id for entry in entries if entry.kind == Kind.MESSAGE]
    turns: set[UUID] = set()
    for model in _OURS[Kind.MESSAGE]:
        turns |= set(model.objects.filter(pk__in=said).values_list("turn_id", flat=True))
    changed, added = _refresh_items(items)
    more_changed, more_added = _refresh_turns(sorted(turns))
    sections = {entry.object_id for entry in entries if entry.kind == Kind.SECTION}
    of_sections = reindex_sections(sections, ctx)
    return changed + more_changed + of_sections[0], added + more_added + of_sections[1], of_sections[2]


def _refresh_items(ids: Sequence[UUID]) -> tuple[int, int]:
    """Texts and entries of items; other writers of their scopes wait meanwhile, so that no state is put back."""
    lock_scopes(MemoryItem.objects.filter(pk__in=ids).values_list("scope_id", flat=True))
    rows = MemoryItem.objects.filter(pk__in=ids).select_related("scope", "source_session", "source_message", "chunk")
    items = [item for item in rows.order_by("pk") if hasattr(item, "chunk") or not _is_denial(item)]
    right = {item.pk: chunk_of(item) for item in items}
    for item in items:
        if hasattr(item, "chunk") and item.chunk.text != right[item.pk].text:
            MemoryChunk.objects.filter(item=item).update(text=right[item.pk].text, meta=right[item.pk].meta)
    MemoryChunk.objects.bulk_create([right[item.pk] for item in items if not hasattr(item, "chunk")])
    remember_again(items)
    return index.refresh([_entry(item, right[item.pk].text) for item in items])


def _is_denial(item: MemoryItem) -> bool:
    """Whether an item only keeps that something never held: nothing is to be found by it."""
    return item.status == Status.RETRACTED and item.current_until == item.recorded_at


def _entry(item: MemoryItem, text: str) -> NewEntry:
    session_key = item.source_session.scope_id if item.source_session else None
    return entry_of(item, text, item.valid_from or _said_at(item), session_key)


def _said_at(item: MemoryItem) -> datetime:
    return item.source_message.created_at if item.source_message else item.recorded_at


def _refresh_turns(ids: Sequence[UUID]) -> tuple[int, int]:
    rows = Turn.objects.filter(pk__in=ids).select_related("session").order_by("pk")
    turns = list(rows.prefetch_related("messages", "tool_calls", "refs"))
    lock_scopes(
        {turn.session.scope_id for turn in turns} | {turn.default_write_id for turn in turns if turn.default_write_id}
    )
    return index.refresh([entry for turn in turns for entry in entries_of(turn)])


def _total(domain_id: str, phase: Phase) -> int:
    if phase == "items":
        return MemoryItem.objects.filter(domain_id=domain_id).count()
    if phase == "turns":
        return Turn.objects.filter(domain_id=domain_id).count()
    if phase == "sections":
        return count_sections(domain_id)
    return count_entries(domain_id)[0]
