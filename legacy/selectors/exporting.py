"""Turns and items that were committed here since the migration, as rows of the older schema, a page at a time."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, get_args
from uuid import UUID

from governance.selectors.audit import on_record
from kernel.errors import InvalidInputError
from legacy.contracts.exporting import ExportLegacyInput, ExportLegacyResult, ExportNote, ExportPhase, OlderRow
from legacy.contracts.rows import as_uuid
from legacy.models import MigratedRow
from legacy.selectors.origins import older_ids, older_session_names
from memory.contracts.items import TRUSTED, Status
from memory.models import (
    Entity,
    EntityMention,
    EvidenceLink,
    KgEdge,
    MemoryChunk,
    MemoryItem,
    Message,
    Ref,
    Session,
    Summary,
    ToolCall,
    Turn,
)

_PHASES: tuple[ExportPhase, ...] = get_args(ExportPhase)
_NO_ID = UUID(int=0)


@dataclass(slots=True)
class _Page:
    """What a page has gathered so far; `last` is the id of the last row that was looked at."""

    rows: list[OlderRow] = field(default_factory=list)
    notes: list[ExportNote] = field(default_factory=list)
    seen: int = 0
    last: UUID | None = None

    def add(self, table: str, **values: Any) -> None:
        self.rows.append(OlderRow(table=table, values=values))

    def note(self, code: str, table: str, pk: UUID, what: str, statement: str = "") -> None:
        self.notes.append(ExportNote(code=code, table=table, id=str(pk), what=what, statement=statement))

    def look_at(self, rows: Sequence[Any]) -> None:
        self.seen = len(rows)
        self.last = rows[-1].pk if rows else None


def export_page(given: ExportLegacyInput) -> ExportLegacyResult:
    """One page. It only reads, and what came from the older system is not among its rows."""
    phase, after = _read_cursor(given.cursor)
    page = _Page()
    _READERS[phase](given, after, page)
    following = _PHASES[_PHASES.index(phase) + 1 :]
    if page.seen == given.limit:
        cursor: str | None = f"{phase}:{page.last}"
    else:
        cursor = f"{following[0]}:" if following else None
    return ExportLegacyResult(
        domain_id=given.domain_id, phase=phase, seen=page.seen, rows=page.rows, notes=page.notes, next_cursor=cursor
    )


def _read_cursor(cursor: str | None) -> tuple[ExportPhase, UUID]:
    if cursor is None:
        return _PHASES[0], _NO_ID
    phase, _, after = cursor.partition(":")
    try:
        place = UUID(after) if after else _NO_ID
    except ValueError:
        place = None
    if phase not in _PHASES or place is None:
        raise InvalidInputError("cursor: send `next_cursor` of the page before.")
    return phase, place


def _after(model: Any, given: ExportLegacyInput, after: UUID, *related: str) -> list[Any]:
    rows = model.objects.filter(domain_id=given.domain_id, pk__gt=after).select_related(*related)
    return list(rows.order_by("pk")[: given.limit])


def _turns(given: ExportLegacyInput, after: UUID, page: _Page) -> None:
    """Turns that are new here, with their sessions and all that was said in them."""
    turns = _after(Turn, given, after, "session")
    page.look_at(turns)
    came = older_ids("turns", [turn.pk for turn in turns])
    turns = [turn for turn in turns if turn.pk not in came]
    names = _sessions({turn.session_id: turn.session for turn in turns}, page)
    for turn in sorted(turns, key=lambda turn: turn.seq):
        page.add(
            "turns", id=str(turn.pk), session_id=names[turn.session_id], seq=turn.seq, created_at=_at(turn.created_at)
        )
    ids = [turn.pk for turn in turns]
    for message in Message.objects.filter(turn__in=ids).order_by("pk"):
        page.add(
            "messages",
            id=str(message.pk),
            turn_id=str(message.turn_id),
            role=message.role,
            content=message.content,
            model=message.model or None,
            created_at=_at(message.created_at),
            meta_json=_meta(message.meta, name=message.name, external_id=message.external_id),
        )
    for call in ToolCall.objects.filter(turn__in=ids).order_by("pk"):
        page.add(
            "tool_calls",
            id=str(call.pk),
            turn_id=str(call.turn_id),
            name=call.name,
            args_json=call.args,
            result_json=call.result,
            status=call.status,
            created_at=_at(call.created_at),
        )
    for ref in Ref.objects.filter(turn__in=ids).order_by("pk"):
        page.add(
            "refs",
            id=str(ref.pk),
            turn_id=str(ref.turn_id),
            ref_type=ref.ref_type,
            ref_uri=ref.ref_uri,
            ref_meta_json=ref.ref_meta,
            created_at=_at(ref.created_at),
        )
    _mentions(ids, page)


def _sessions(sessions: dict[UUID, Session], page: _Page) -> dict[UUID, str]:
    """The names of the sessions in the older system; a row for each, for it may be there or not."""
    names, renamed = older_session_names(list(sessions.values()))
    for pk, session in sessions.items():
        page.add("sessions", id=names[pk], created_at=_at(session.created_at), metadata_json=session.metadata)
    for session in renamed:
        what = (
            f"There is another conversation {session.external_id!r}: this one is called {names[session.pk]!r} there."
        )
        page.note("renamed_session", "sessions", session.pk, what)
    return names


def _mentions(turns: Sequence[UUID], page: _Page) -> None:
    mentions = list(EntityMention.objects.filter(turn__in=turns).order_by("pk"))
    entities = Entity.objects.filter(pk__in={mention.entity_id for mention in mentions}).order_by("pk")
    came = older_ids("entities", [mention.entity_id for mention in mentions])
    for entity in entities:
        if entity.pk not in came:
            page.add("entities", id=str(entity.pk), name=entity.name, kind=entity.kind, canonical_id=None)
    for mention in mentions:
        page.add(
            "entity_mentions",
            id=str(mention.pk),
            entity_id=came.get(mention.entity_id, str(mention.entity_id)),
            turn_id=str(mention.turn_id),
            message_id=mention.metadata.get("message_id"),
            span_json=mention.metadata.get("span", {}),
            created_at=_at(mention.created_at),
        )


def _summaries(given: ExportLegacyInput, after: UUID, page: _Page) -> None:
    """The last summary of each session that made one here; the older system keeps one for a session."""
    summaries = _after(Summary, given, after, "session")
    page.look_at(summaries)
    came = older_ids("summaries", [summary.pk for summary in summaries])
    newest = {summary.session_id: summary for summary in summaries if summary.pk not in came}
    later = Summary.objects.filter(session__in=newest).order_by("version").values_list("session_id", "pk")
    last = dict(later)
    names, _ = older_session_names([summary.session for summary in newest.values()])
    kept = set(
        MigratedRow.objects.filter(source_table="summaries", source_id__in=names.values()).values_list(
            "source_id", flat=True
        )
    )
    for session_id, summary in newest.items():
        if last[session_id] == summary.pk and names[session_id] in kept:
            what = "The older system has a summary of this conversation, and keeps it: this newer one is not among the rows."
            page.note("summary_kept", "summaries", summary.pk, what)
        elif last[session_id] == summary.pk:
            page.add(
                "summaries",
                session_id=names[session_id],
                summary_text=summary.text,
                summary_version=summary.version,
                summary_source_turn_range={"from": summary.source_from, "to": summary.source_to},
                summary_generated_at=_at(summary.generated_at),
            )


def _items(given: ExportLegacyInput, after: UUID, page: _Page) -> None:
    """Items that are new here with their texts, and those of the older system that no longer count here."""
    items = _after(MemoryItem, given, after, "source_session")
    page.look_at(items)
    came = older_ids("memory_items", [item.pk for item in items])
    fresh = [item for item in items if item.pk not in came and _can_go(item, page)]
    names, _ = older_session_names(list({item.source_session_id: item.source_session for item in fresh}.values()))
    turns = older_ids("turns", [item.source_turn_id for item in fresh if item.source_turn_id])
    messages = older_ids("messages", [item.source_message_id for item in fresh if item.source_message_id])
    evidence = _evidence(fresh)
    for item in fresh:
        page.add(
            "memory_items",
            id=str(item.pk),
            session_id=names[item.source_session_id],
            type=item.type,
            key=item.key or "",
            value_json=item.value,
            confidence=round(item.confidence, 2),
            status=item.status,
            source_turn_id=_older(item.source_turn_id, turns),
            source_message_id=_older(item.source_message_id, messages),
            evidence_refs=evidence.get(item.pk, []),
            updated_at=_at(item.recorded_at),
        )
    for chunk in MemoryChunk.objects.filter(item__in=[item.pk for item in fresh]).order_by("pk"):
        page.add(
            "memory_chunks",
            id=str(chunk.pk),
            memory_item_id=str(chunk.item_id),
            text=chunk.text,
            meta_json=chunk.meta,
        )
    moved = [item for item in items if item.pk in came and item.status != Status.ACTIVE]
    recorded = on_record("memory_items", [str(item.pk) for item in moved])
    for item in moved:
        if str(item.pk) in recorded:
            _changed(item, came[item.pk], page)


def _can_go(item: MemoryItem, page: _Page) -> bool:
    """Whether the older system can hold an item as it stands; otherwise a note says why not."""
    if item.source_session_id is None:
        page.note("no_session", "memory_items", item.pk, "It came from no conversation, and there every item has one.")
        return False
    if item.status == Status.ACTIVE and item.lifecycle_status not in TRUSTED:
        what = f"It is {item.lifecycle_status}: the older system knows no such state and would show it as true."
        page.note("not_trusted", "memory_items", item.pk, what)
        return False
    return True


def _changed(item: MemoryItem, source_id: str, page: _Page) -> None:
    """Note an item of the older system that was replaced or retracted here."""
    quoted = source_id.replace("'", "''")
    page.note(
        "changed_here",
        "memory_items",
        item.pk,
        f"It is {item.status} here; the older system's row is left as it is.",
        f"UPDATE memory_items SET status = '{item.status}' WHERE id = '{quoted}' AND status = 'active';",  # noqa: S608  quoted, for a person to run
    )


def _evidence(items: Sequence[MemoryItem]) -> dict[UUID, list[str]]:
    """The evidence of items as the older system keeps it: a list of ids, its own where it knows them."""
    links = EvidenceLink.objects.filter(item__in=[item.pk for item in items]).order_by("pk")
    named = [(link.item_id, link.kind, link.ref) for link in links]
    older: dict[str, str] = {}
    for kind, table in (("memory", "memory_items"), ("message", "messages"), ("section", "source_sections")):
        ids = [pk for _, each, ref in named if each == kind and (pk := as_uuid(ref)) is not None]
        older |= {str(pk): source_id for pk, source_id in older_ids(table, ids).items()}
    found: dict[UUID, list[str]] = {}
    for item_id, _, ref in named:
        found.setdefault(item_id, []).append(older.get(ref, ref))
    return found


def _relations(given: ExportLegacyInput, after: UUID, page: _Page) -> None:
    """Relations that are new here: the first version of the older schema has no table for them."""
    edges = _after(KgEdge, given, after)
    page.look_at(edges)
    came = older_ids("kg_edges", [edge.pk for edge in edges])
    for edge in edges:
        if edge.pk not in came:
            page.note("relation", "kg_edges", edge.pk, f"The older schema has no place for the relation {edge}.")


def _older(pk: UUID | None, came: dict[UUID, str]) -> str | None:
    return None if pk is None else came.get(pk, str(pk))


def _meta(meta: dict[str, Any], **more: str | None) -> dict[str, Any]:
    """What the older system has no column for goes along in the metadata, where its place there is free."""
    return {**{name: value for name, value in more.items() if value}, **meta}


def _at(moment: datetime) -> str:
    return moment.isoformat()


_READERS: dict[ExportPhase, Callable[[ExportLegacyInput, UUID, _Page], None]] = {
    "turns": _turns,
    "summaries": _summaries,
    "items": _items,
    "relations": _relations,
}
