"""The parts that presentations of memory are made of: rows field by field, neighbours, contradictions."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any
from uuid import UUID

from django.db.models import QuerySet
from django.urls import reverse

from governance.contracts.presenting import ConflictNote, FieldChange, RelatedText, RowChange
from kernel.context import Ctx, Right
from kernel.text import one_line
from memory.candidates import Candidate
from memory.contracts.items import TRUSTED, Lifecycle, Status, Tier
from memory.contracts.writing import defaults_of
from memory.models import MemoryItem
from memory.selectors.conflicts import conflicts_of
from memory.selectors.items import visible_items
from memory.selectors.near import in_force, similar_ids
from memory.statements import complete

TABLE = "memory_items"
UNREADABLE = "(you may not read this)"
MAX_NEIGHBOURS = 5
_SHORT = 120
_BRIEF = 60
_AS_EVER = {
    "status": Status.ACTIVE.value,
    "lifecycle": Lifecycle.PROMOTED.value,
    "tier": Tier.NONE.value,
    "importance": 0,
    "pinned": False,
}


def short(text: str, most: int = _SHORT) -> str:
    """A text in one line of at most so many characters."""
    return one_line(text, most)


def brief(text: object) -> str:
    """A text as the line above it names it, where it stands in full below."""
    return short(str(text), _BRIEF)


def page_of(item: MemoryItem | None, ctx: Ctx) -> str:
    """The address of a memory's page in the admin; empty for who may not read it."""
    if item is None or not ctx.may(Right.READ, item.domain_id, item.scope.name):
        return ""
    return reverse("admin:memory_memoryitem_change", args=[item.pk])


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
    return [related(row, ctx) for item_id, row in rows.items() if item_id != besides][:MAX_NEIGHBOURS]


def related(item: MemoryItem, ctx: Ctx, role: str = "") -> RelatedText:
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
        link=page_of(item, ctx),
    )


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


def after_status(item: MemoryItem, ctx: Ctx, **changed: Any) -> RowChange:
    """An item of which some fields change and the rest stays."""
    before = fields_of(item)
    told = row_change(before, {**before, **changed}, str(item.id), item.statement)
    return told.model_copy(update={"link": page_of(item, ctx)})


def superseded(item: MemoryItem, ctx: Ctx) -> RowChange:
    """An item that makes way for another."""
    return after_status(item, ctx, status=Status.SUPERSEDED.value)


def _instant(at: Any) -> str | None:
    return at.isoformat() if at is not None else None
