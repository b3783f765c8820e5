"""The parts that presentations of memory are made of: rows field by field, evidence with its text, neighbours."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any
from uuid import UUID

from governance.contracts.presenting import ConflictNote, FieldChange, RelatedText, RowChange
from kernel.context import Ctx
from memory.contracts.items import Status
from memory.contracts.refs import EvidenceRef
from memory.models import MemoryItem, Message
from memory.selectors.conflicts import conflicts_of
from memory.selectors.events import visible_turns
from memory.selectors.items import visible_items
from memory.selectors.near import links_around, similar_in
from scopes.selectors import scope_rows

TABLE = "memory_items"
UNREADABLE = "(you may not read this)"
MAX_NEIGHBOURS = 5
_SHORT = 120


def short(text: str) -> str:
    """A text in one line of at most 120 characters."""
    plain = " ".join(text.split())
    return plain if len(plain) <= _SHORT else f"{plain[: _SHORT - 1]}…"


def fields_of(item: MemoryItem) -> dict[str, Any]:
    """What people compare of a memory, in the order in which they read it."""
    value = {f"value.{name}": told for name, told in sorted(item.value.items()) if name != "statement"}
    return {
        "statement": item.statement,
        "scope": item.scope.name,
        "type": item.type,
        "key": item.key,
        **value,
        "status": item.status,
        "lifecycle": item.lifecycle_status,
        "tier": item.tier,
        "confidence": item.confidence,
        "valid_from": _instant(item.valid_from),
        "valid_to": _instant(item.valid_to),
        "review_by": _instant(item.review_by),
        "importance": item.importance,
    }


def row_change(before: Mapping[str, Any] | None, after: Mapping[str, Any], row_id: str, title: str) -> RowChange:
    """One row field by field; `before` None for a new one."""
    old = before or {}
    names = dict.fromkeys([*after, *old])
    fields = [
        FieldChange(name=name, before=old.get(name), after=after.get(name), differs=old.get(name) != after.get(name))
        for name in names
    ]
    return RowChange(
        table=TABLE, id=row_id, kind="changed" if before is not None else "added", title=short(title), fields=fields
    )


def in_the_place_of(domain_id: str, scope: str, item_type: str, key: str | None, ctx: Ctx) -> MemoryItem | None:
    """The visible item in force that a new one of this key would take the place of."""
    kind, _, external_id = scope.partition(":")
    rows = visible_items(ctx).filter(domain_id=domain_id, type=item_type, key=key, current_until=None)
    return rows.filter(scope__scope_type=kind, scope__external_id=external_id).first()


def neighbours(
    text: str, domain_id: str, scope: str, ctx: Ctx, besides: MemoryItem | None = None
) -> list[RelatedText]:
    """Similar memories in a scope besides one that is known to be there, the nearest first."""
    known = () if besides is None else (besides.scope_id,)
    keys = known or tuple(row.key for row in scope_rows(domain_id, [scope], ""))
    found = [row for row in similar_in(text, domain_id, keys, ctx) if row != besides] if keys else []
    return [related(row) for row in found[:MAX_NEIGHBOURS]]


def related(item: MemoryItem, role: str = "") -> RelatedText:
    """A memory as a text that helps to decide."""
    said_in = f" in session {item.source_session.external_id}" if item.source_session else ""
    return RelatedText(
        kind="memory",
        id=str(item.id),
        text=item.statement,
        role=role,
        source=f"{item.author_name}{said_in}",
        scope=item.scope.name,
        at=item.recorded_at,
    )


def origin_of(turn_id: UUID | None, position: int | None, message_id: UUID | None, ctx: Ctx) -> list[RelatedText]:
    """The message that something was learned from, or every message of its turn, where the reviewer may read them."""
    if turn_id is None or not visible_turns(ctx).filter(pk=turn_id).exists():
        return []
    rows = Message.objects.filter(turn_id=turn_id).select_related("turn__session").order_by("position")
    if message_id is not None:
        rows = rows.filter(pk=message_id)
    elif position is not None:
        rows = rows.filter(position=position)
    return [_said(row, "supporting") for row in rows[:MAX_NEIGHBOURS]]


def evidence_texts(refs: Sequence[tuple[EvidenceRef, str]], ctx: Ctx) -> list[RelatedText]:
    """References with their texts, as far as the reviewer may read them; one that it may not is named and no more."""
    memories = _by_id(visible_items(ctx), [ref.id for ref, _ in refs if ref.kind == "memory"])
    turns = visible_turns(ctx)
    said = Message.objects.filter(turn__in=turns).select_related("turn__session")
    messages = _by_id(said, [ref.id for ref, _ in refs if ref.kind == "message"])
    found = []
    for ref, role in refs:
        if ref.kind == "memory" and ref.id in memories:
            found.append(related(memories[ref.id], role))
        elif ref.kind == "message" and ref.id in messages:
            found.append(_said(messages[ref.id], role))
        else:
            text = ref.id if ref.kind == "url" else UNREADABLE
            found.append(RelatedText(kind=ref.kind, id=ref.id, text=text, role=role))
    return found


def evidence_of(item: MemoryItem, ctx: Ctx) -> list[RelatedText]:
    """What an item rests on and what speaks against it, with the texts."""
    links = links_around(item, ctx).own
    refs = [(EvidenceRef.model_validate({"kind": link.kind, "id": link.ref}), link.role) for link in links]
    return evidence_texts(refs, ctx) or origin_of(item.source_turn_id, None, item.source_message_id, ctx)


def conflict_notes(ids: Iterable[UUID], ctx: Ctx) -> list[ConflictNote]:
    """Stored contradictions of these items, with the other side."""
    wanted = list(ids)
    notes = []
    for found in conflicts_of(wanted, ctx):
        other_id, text = (found.b_id, found.b_statement) if found.a_id in wanted else (found.a_id, found.a_statement)
        notes.append(
            ConflictNote(
                id=str(found.id),
                rule=found.rule,
                explanation=found.explanation,
                severity=found.severity,
                other=RelatedText(kind="memory", id=str(other_id), text=text),
            )
        )
    return notes


def after_status(item: MemoryItem, **changed: Any) -> RowChange:
    """An item of which some fields change and the rest stays."""
    before = fields_of(item)
    return row_change(before, {**before, **changed}, str(item.id), item.statement)


def superseded(item: MemoryItem) -> RowChange:
    """An item that makes way for another."""
    return after_status(item, status=Status.SUPERSEDED.value)


def _said(row: Message, role: str) -> RelatedText:
    return RelatedText(
        kind="message",
        id=str(row.id),
        text=row.content,
        role=role,
        source=f"{row.name or row.role} in session {row.turn.session.external_id}, turn {row.turn.seq}",
        at=row.created_at,
    )


def _by_id(rows: Any, ids: Iterable[str]) -> dict[str, Any]:
    wanted = []
    for text in ids:
        try:
            wanted.append(UUID(text))
        except ValueError:
            continue
    return {str(row.pk): row for row in rows.filter(pk__in=wanted)} if wanted else {}


def _instant(at: Any) -> str | None:
    return at.isoformat() if at is not None else None
