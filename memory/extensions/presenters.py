"""How proposals about memory are shown: what they are about, each row before and after, what they rest on, what is near."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any
from uuid import UUID

from governance.contracts.presenting import Presentation, RelatedText, RowChange
from governance.hooks import Presenter
from kernel.actions import Change
from kernel.context import Ctx
from memory.contracts import CommitTurnInput
from memory.contracts.items import Lifecycle, Status
from memory.contracts.lifecycle import CorrectItemInput, DemoteFromScopeInput, DemoteInput, NarrowItemInput
from memory.contracts.promotion import PromoteToScopeInput, RaiseTierInput
from memory.contracts.refs import EvidenceRef
from memory.contracts.writing import WriteMemoryItemInput
from memory.extensions.showing import (
    TABLE,
    UNREADABLE,
    after_status,
    conflict_notes,
    evidence_of,
    evidence_texts,
    fields_of,
    in_the_place_of,
    neighbours,
    origin_of,
    related,
    row_change,
    short,
    superseded,
)
from memory.models import MemoryItem
from memory.selectors.items import visible_items
from memory.selectors.near import offered_with
from memory.statements import complete, reworded, statement

MAX_ROWS = 50


def _about(item_id: UUID) -> MemoryItem:
    """The item that a proposal names. Whoever decides on the proposal is offered what it says of it."""
    return MemoryItem.objects.select_related("scope", "source_session").get(pk=item_id)


def _copy(item: MemoryItem, scope: str, text: str | None) -> dict[str, Any]:
    """The fields of a row that is made from an item."""
    fields = fields_of(item)
    if text is not None:
        value = reworded(item.type, item.key or "", item.value, text)
        fields = {name: told for name, told in fields.items() if not name.startswith("value.")}
        fields |= {"statement": text, **{f"value.{name}": told for name, told in value.items() if name != "statement"}}
    return {**fields, "scope": scope, "lifecycle": _trusted(item)}


def _trusted(item: MemoryItem) -> str:
    return Lifecycle.PROMOTED.value if item.lifecycle_status == Lifecycle.CANDIDATE else item.lifecycle_status


def _new_row(after: dict[str, Any], place_of: MemoryItem | None) -> list[RowChange]:
    """A new row, compared with the one that makes way for it, and that row itself."""
    added = row_change(None, after, "new", str(after["statement"]))
    if place_of is None:
        return [added]
    compared = row_change(fields_of(place_of), after, "new", str(after["statement"]))
    return [compared.model_copy(update={"kind": "added"}), superseded(place_of)]


def _refs(refs: Sequence[EvidenceRef], role: str) -> list[tuple[EvidenceRef, str]]:
    return [(ref, role) for ref in refs]


def promotion(given: PromoteToScopeInput, changes: Sequence[Change], ctx: Ctx) -> Presentation:
    """A memory that is to enter another scope."""
    item, scope = _about(given.memory_item_id), given.target_scope.name
    after = _copy(item, scope, given.text)
    there = in_the_place_of(item.domain_id, scope, item.type, item.key, ctx)
    near = neighbours(after["statement"], item.domain_id, scope, ctx, there)
    evidence = [related(item, "source"), *evidence_texts(_refs(given.verification_refs, "verification"), ctx)]
    return Presentation(
        subject=f"Promote from {item.scope.name} to {scope}: {short(after['statement'])}",
        rows=_new_row(after, there),
        nearest=related(there) if there else next(iter(near), None),
        evidence=[*evidence, *evidence_of(item, ctx)],
        neighbours=near,
        conflicts=conflict_notes([item.pk, *([there.pk] if there else [])], ctx),
    )


def raising(given: RaiseTierInput, changes: Sequence[Change], ctx: Ctx) -> Presentation:
    """A memory that is to become tiered knowledge."""
    item = _about(given.memory_item_id)
    universal = given.tier == "dao_tian"
    after = {
        **_copy(item, item.scope.name, given.text),
        "tier": given.tier,
        "lifecycle": (Lifecycle.CANONICAL if universal else Lifecycle.PROMOTED).value,
        "pinned": universal,
    }
    refs = _refs(given.supporting_refs, "supporting")
    refs += [*_refs(given.verification_refs, "verification"), *_refs(given.teaching_refs, "teaching")]
    return Presentation(
        subject=f"Raise to {given.tier} in {item.scope.name}: {short(str(after['statement']))}",
        rows=_new_row(after, item),
        nearest=related(item),
        evidence=[*evidence_texts(refs, ctx), *evidence_of(item, ctx)],
        neighbours=neighbours(item.statement, item.domain_id, item.scope.name, ctx, item),
        conflicts=conflict_notes([item.pk], ctx),
    )


def writing(given: WriteMemoryItemInput, changes: Sequence[Change], ctx: Ctx) -> Presentation:
    """One new item for a scope."""
    key, scope = str(given.item.get("key", "")), given.scope.name
    beside = ("key", "confirmed", "remember", "evidence_refs", "valid_from", "valid_to", "review_by", "importance")
    value = complete(given.type, key, {name: told for name, told in given.item.items() if name not in beside})
    said = given.statement or statement(given.type, value)
    after = _fields(given.type, key, scope, said, value)
    there = in_the_place_of(given.domain_id, scope, given.type, key, ctx)
    near = neighbours(said, given.domain_id, scope, ctx, there)
    refs = given.item.get("evidence_refs")
    named = [EvidenceRef.model_validate(ref) for ref in refs] if isinstance(refs, list) else []
    return Presentation(
        subject=f"Write to {scope}: {short(said)}",
        rows=_new_row(after, there),
        nearest=related(there) if there else next(iter(near), None),
        evidence=[
            *origin_of(given.turn_id, given.message, None, ctx),
            *evidence_texts(_refs(named, "supporting"), ctx),
        ],
        neighbours=near,
        conflicts=conflict_notes([there.pk] if there else [], ctx),
    )


def _fields(item_type: str, key: str, scope: str, said: str, value: dict[str, Any]) -> dict[str, Any]:
    told = {f"value.{name}": inner for name, inner in sorted(value.items()) if name != "statement"}
    return {"statement": said, "scope": scope, "type": item_type, "key": key, **told}


def turn(given: CommitTurnInput, changes: Sequence[Change], ctx: Ctx) -> Presentation:
    """A whole turn that waits: its messages, and the items that it gives."""
    context = given.scope_context
    default = context.default_write.name if context and context.default_write else f"session:{given.session_id}"
    rows: list[RowChange] = []
    for _, item in list(given.turn_events.items())[:MAX_ROWS]:
        scope = item.scope_ref.name if item.scope_ref else default
        plain = item.model_dump(mode="json", exclude_none=True, exclude={"key", "scope_ref", "confirmed", "remember"})
        value = complete(item.of_type, item.key, plain)
        after = _fields(item.of_type, item.key, scope, statement(item.of_type, value), value)
        there = in_the_place_of(given.domain_id, scope, item.of_type, item.key, ctx)
        rows += _new_row(after, there)
    said = [
        RelatedText(
            kind="message", id=message.id or str(place), text=message.content, source=message.name or message.role
        )
        for place, message in enumerate(given.turn_events.messages)
    ]
    first = said[0].text if said else next((row.title for row in rows), "events only")
    return Presentation(
        subject=f"Commit a turn of session {given.session_id} to {default}: {short(first)}",
        rows=rows[:MAX_ROWS],
        evidence=said[:MAX_ROWS],
        neighbours=neighbours(first, given.domain_id, default, ctx),
    )


def retraction(given: Any, changes: Sequence[Change], ctx: Ctx) -> Presentation:
    """A memory that is to be taken back."""
    item = _about(given.memory_item_id)
    return Presentation(
        subject=f"Retract from {item.scope.name}: {short(item.statement)}",
        rows=[after_status(item, status=Status.RETRACTED.value), *_also(given.also, changes, ctx)],
        nearest=None,
        evidence=evidence_of(item, ctx),
        neighbours=[related(row, relation.value) for row, relation in offered_with(item, ctx)],
        conflicts=conflict_notes([item.pk], ctx),
    )


def _also(ids: Sequence[UUID], changes: Sequence[Change], ctx: Ctx) -> list[RowChange]:
    """What goes along; of a memory that the reviewer may not read, no more than that it does."""
    gone = {change.id for change in changes}
    seen = {row.pk: row for row in visible_items(ctx).filter(pk__in=ids)} if ids else {}
    named = [item_id for item_id in dict.fromkeys(ids) if str(item_id) in gone]
    return [
        after_status(seen[item_id], status=Status.RETRACTED.value)
        if item_id in seen
        else RowChange(table=TABLE, id=str(item_id), kind="changed", title=UNREADABLE, fields=[])
        for item_id in named[:MAX_ROWS]
    ]


def correction(given: CorrectItemInput, changes: Sequence[Change], ctx: Ctx) -> Presentation:
    """A memory of which something else is right."""
    item = _about(given.memory_item_id)
    before = fields_of(item)
    told = {f"value.{name}": inner for name, inner in (given.value or {}).items()}
    value = {**item.value, **(given.value or {})}
    words = given.text or statement(item.type, {name: each for name, each in value.items() if name != "statement"})
    after = {**before, **told, "statement": words}
    if given.value is None:
        after = _copy(item, item.scope.name, given.text)
    return Presentation(
        subject=f"Correct in {item.scope.name}: {short(words)}",
        rows=_new_row(after, item),
        nearest=related(item),
        evidence=[*evidence_texts(_refs(given.evidence_refs, "supporting"), ctx), *evidence_of(item, ctx)],
        neighbours=[related(row, relation.value) for row, relation in offered_with(item, ctx)],
        conflicts=conflict_notes([item.pk], ctx),
    )


def narrowing(given: NarrowItemInput, changes: Sequence[Change], ctx: Ctx) -> Presentation:
    """A memory that is to hold in a narrower scope only."""
    item, scope = _about(given.memory_item_id), given.target_scope.name
    after = _copy(item, scope, given.text)
    hidden = after_status(item, status=Status.SUPERSEDED.value, hidden_outside=scope)
    there = in_the_place_of(item.domain_id, scope, item.type, item.key, ctx)
    return Presentation(
        subject=f"Narrow from {item.scope.name} to {scope}: {short(str(after['statement']))}",
        rows=[*_new_row(after, there), hidden],
        nearest=related(item),
        evidence=evidence_of(item, ctx),
        neighbours=neighbours(item.statement, item.domain_id, scope, ctx),
        conflicts=conflict_notes([item.pk], ctx),
    )


def demotion(given: DemoteInput | DemoteFromScopeInput, changes: Sequence[Change], ctx: Ctx) -> Presentation:
    """A memory that is no longer to be trusted."""
    item = _about(given.memory_item_id)
    to = given.status if isinstance(given, DemoteInput) else Lifecycle.DEMOTED.value
    against = evidence_texts(_refs(given.evidence_refs, "counterexample"), ctx)
    return Presentation(
        subject=f"Demote in {item.scope.name} ({given.reason_type.value}): {short(item.statement)}",
        rows=[after_status(item, lifecycle=to)],
        evidence=[*against, *evidence_of(item, ctx)],
        neighbours=[related(row, relation.value) for row, relation in offered_with(item, ctx)],
        conflicts=conflict_notes([item.pk], ctx),
    )


PRESENTERS: dict[str, Presenter] = {
    "promote_to_scope": promotion,
    "raise_tier": raising,
    "write_memory_item": writing,
    "commit_turn": turn,
    "retract_item": retraction,
    "correct_item": correction,
    "narrow_item": narrowing,
    "demote": demotion,
    "demote_from_scope": demotion,
}
