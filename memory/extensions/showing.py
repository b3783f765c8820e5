"""The parts that presentations of memory are made of: rows field by field, evidence with its text, neighbours."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import reduce
from operator import or_
from typing import Any
from uuid import UUID

from django.db.models import Q, QuerySet

from governance.contracts.presenting import ConflictNote, FieldChange, RelatedText, RowChange
from kernel.context import Ctx
from kernel.ids import uuids_in
from memory.candidates import Candidate
from memory.contracts.items import TRUSTED, Lifecycle, Status, Tier
from memory.contracts.refs import EvidenceRef
from memory.contracts.writing import defaults_of
from memory.models import MemoryItem, Message
from memory.selectors.conflicts import conflicts_of
from memory.selectors.events import visible_turns
from memory.selectors.items import visible_items
from memory.selectors.near import in_force, links_around, readable, similar_ids
from memory.statements import complete

Told = tuple[EvidenceRef, str]  # a reference and its role
TABLE = "memory_items"
UNREADABLE = "(you may not read this)"
MAX_NEIGHBOURS = 5
_SHORT = 120
_AS_EVER = {
    "status": Status.ACTIVE.value,
    "lifecycle": Lifecycle.PROMOTED.value,
    "tier": Tier.NONE.value,
    "importance": 0,
    "pinned": False,
}


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
        "pinned": item.pinned,
    }


def fields_of_new(made: Candidate, scope: str, old: MemoryItem | None) -> dict[str, Any]:
    """The same of the row that a candidate makes in a scope, in the place of `old` where there is one. Of the value what
    is so by default or said by the key is left out unless `old` holds it too: nobody needs to compare it."""
    before = fields_of(old) if old is not None else {}
    plain = {**defaults_of(made.type), **complete(made.type, made.key, {})}
    told = {
        f"value.{name}": each
        for name, each in sorted(made.value.items())
        if name != "statement" and (f"value.{name}" in before or each != plain.get(name))
    }
    fields = {
        "statement": made.statement,
        "scope": scope,
        "type": made.type,
        "key": made.key,
        **told,
        "status": Status.ACTIVE.value,
        "lifecycle": str(made.lifecycle),
        "tier": Tier.NONE.value,
        "confidence": made.confidence,
        "valid_from": _instant(made.valid_from),
        "valid_to": _instant(made.valid_to),
        "review_by": _instant(made.review_by),
        "importance": made.importance,
        "pinned": False,
    }
    if made.supersedes is not None:
        fields["supersedes"] = str(made.supersedes)
    if old is None and made.lifecycle in TRUSTED:
        del fields["confidence"]
    return fields


def row_change(before: Mapping[str, Any] | None, after: Mapping[str, Any], row_id: str, title: str) -> RowChange:
    """One row field by field; `before` None for a new one. Fields that say nothing are left out: those that are empty on
    both sides, and of a new row those that are empty, as in every new row, or said by its key."""
    old = before or {}
    names = [name for name in dict.fromkeys([*after, *old]) if not _is_empty(old.get(name), after.get(name))]
    if before is None:
        by_key = complete(str(after.get("type")), str(after.get("key") or ""), {})
        as_ever = {**_AS_EVER, **{f"value.{name}": told for name, told in by_key.items()}}
        names = [name for name in names if after[name] not in ([], {}, "") and after[name] != as_ever.get(name)]
    fields = [
        FieldChange(name=name, before=old.get(name), after=after.get(name), differs=old.get(name) != after.get(name))
        for name in names
    ]
    return RowChange(
        table=TABLE, id=row_id, kind="changed" if before is not None else "added", title=short(title), fields=fields
    )


def _is_empty(before: Any, after: Any) -> bool:
    return before in (None, [], {}, "") and after in (None, [], {}, "")


def replaced_by(domain_id: Any, scope: str, item_type: Any, key: Any, ctx: Ctx) -> QuerySet[MemoryItem]:
    """The visible item in force that a new one of this key would take the place of: one at most."""
    kind, _, external_id = scope.partition(":")
    rows = visible_items(ctx).filter(domain_id=domain_id, type=item_type, key=key, current_until=None)
    return rows.filter(scope__scope_type=kind, scope__external_id=external_id)


def in_the_place_of(
    domain_id: str, wanted: Sequence[tuple[str, str, str | None]], ctx: Ctx
) -> dict[tuple[str, str, str | None], MemoryItem]:
    """For new items as (scope, type, key) the visible ones in force that each would take the place of, in one
    statement."""
    if not wanted:
        return {}
    places = [scope.partition(":") for scope, _, _ in wanted]
    rows = visible_items(ctx).filter(
        domain_id=domain_id,
        current_until=None,
        type__in={item_type for _, item_type, _ in wanted},
        key__in={key for _, _, key in wanted},
        scope__scope_type__in={kind for kind, _, _ in places},
        scope__external_id__in={external_id for _, _, external_id in places},
    )
    found = {(row.scope.name, row.type, row.key): row for row in rows.order_by("id")}
    return {each: found[each] for each in wanted if each in found}


def neighbours(
    text: str,
    domain_id: str,
    scope_keys: Sequence[int],
    ctx: Ctx,
    besides: UUID | None = None,
    along: Iterable[UUID] = (),
) -> list[RelatedText]:
    """Similar memories in scopes besides one that is known to be there, the nearest first. `along` names further items
    to be read in the same statement."""
    ids = similar_ids(text, domain_id, tuple(scope_keys), ctx) if scope_keys else []
    rows = in_force(ids, ctx, along)
    return [related(row) for item_id, row in rows.items() if item_id != besides][:MAX_NEIGHBOURS]


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


@dataclass(frozen=True, slots=True)
class Origin:
    """Where something was learned: a message of a turn by its position or id, else every message of the turn."""

    turn_id: UUID
    position: int | None = None
    message_id: UUID | None = None

    def names(self, row: Message) -> bool:
        """Whether a message is meant."""
        if row.turn_id != self.turn_id:
            return False
        if self.message_id is not None:
            return row.pk == self.message_id
        return self.position is None or row.position == self.position


def memories_in(refs: Iterable[Told]) -> list[UUID]:
    """The ids of the memories among some references."""
    return list(uuids_in(ref.id for ref, _ in refs if ref.kind == "memory").values())


def evidence_texts(refs: Sequence[Told], ctx: Ctx, origins: Sequence[Origin] = ()) -> list[RelatedText]:
    """References with their texts, as far as the reviewer may read them; one that it may not is named and no more. Then
    the messages of `origins` that it may read, five of each at most."""
    memories = {str(pk): row for pk, row in readable(memories_in(refs), ctx).items()}
    rows = _messages(list(uuids_in(ref.id for ref, _ in refs if ref.kind == "message").values()), origins, ctx)
    messages = {str(row.pk): row for row in rows}
    found = []
    for ref, role in refs:
        if ref.kind == "memory" and ref.id in memories:
            found.append(related(memories[ref.id], role))
        elif ref.kind == "message" and ref.id in messages:
            found.append(_said(messages[ref.id], role))
        else:
            text = ref.id if ref.kind == "url" else UNREADABLE
            found.append(RelatedText(kind=ref.kind, id=ref.id, text=text, role=role))
    for origin in origins:
        found += [_said(row, "supporting") for row in rows if origin.names(row)][:MAX_NEIGHBOURS]
    return found


def _messages(ids: Sequence[UUID], origins: Sequence[Origin], ctx: Ctx) -> list[Message]:
    wanted = [Q(pk__in=ids)] if ids else []
    for origin in origins:
        place = Q(turn_id=origin.turn_id)
        if origin.message_id is not None:
            place &= Q(pk=origin.message_id)
        elif origin.position is not None:
            place &= Q(position=origin.position)
        else:
            place &= Q(position__lt=MAX_NEIGHBOURS)
        wanted.append(place)
    if not wanted:
        return []
    rows = Message.objects.filter(reduce(or_, wanted), turn__in=visible_turns(ctx)).select_related("turn__session")
    return list(rows.order_by("turn_id", "position"))


def rests_on(items: Sequence[MemoryItem], ctx: Ctx) -> tuple[list[Told], list[Origin]]:
    """What items rest on and what speaks against them; of one without such references, where it was learned."""
    own = links_around(items, ctx).own
    refs: list[Told] = []
    origins = []
    for item in items:
        links = [link for link in own if link.item == item.pk]
        refs += [(EvidenceRef.model_validate({"kind": link.kind, "id": link.ref}), link.role) for link in links]
        if not links and item.source_turn_id is not None:
            origins.append(Origin(item.source_turn_id, message_id=item.source_message_id))
    return refs, origins


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


def _instant(at: Any) -> str | None:
    return at.isoformat() if at is not None else None
