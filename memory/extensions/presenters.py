"""How proposals about memory are shown: what they are about, each row before and after, what they rest on, what is near."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from django.db.models import OuterRef, Subquery

from governance.contracts.presenting import Presentation, RelatedText, RowChange
from governance.hooks import Presenter
from governance.policies import in_force
from kernel.actions import Change
from kernel.context import Ctx
from memory.candidates import as_candidate, written_alone
from memory.contracts import CommitTurnInput
from memory.contracts.items import Lifecycle, Status
from memory.contracts.lifecycle import CorrectItemInput, DemoteFromScopeInput, DemoteInput, NarrowItemInput
from memory.contracts.promotion import PromoteToScopeInput, RaiseTierInput
from memory.contracts.refs import EvidenceRef
from memory.contracts.writing import WriteMemoryItemInput
from memory.extensions.showing import (
    TABLE,
    UNREADABLE,
    Origin,
    Told,
    after_status,
    conflict_notes,
    evidence_texts,
    fields_of,
    fields_of_new,
    in_the_place_of,
    memories_in,
    neighbours,
    related,
    replaced_by,
    rests_on,
    row_change,
    short,
    superseded,
)
from memory.models import MemoryItem
from memory.policies import RetentionPolicy
from memory.selectors.near import offered_with, readable
from memory.statements import reworded, statement
from scopes.models import MemoryScope
from scopes.selectors import scope_rows

MAX_ROWS = 50


@dataclass(frozen=True, slots=True)
class _Entering:
    """An item that is to enter a scope: the key of the scope's row where there is one, and the id of the visible item in
    force that would make way."""

    item: MemoryItem
    scope_keys: list[int]
    there: UUID | None


def _about(item_id: UUID) -> MemoryItem:
    """The item that a proposal names. Whoever decides on the proposal is offered what it says of it."""
    return MemoryItem.objects.select_related("scope", "source_session").get(pk=item_id)


def _entering(item_id: UUID, scope: str, ctx: Ctx) -> _Entering:
    """The item that a proposal names and what waits for it in its new scope, in one statement."""
    kind, _, external_id = scope.partition(":")
    here = {"domain_id": OuterRef("domain_id"), "scope_type": kind, "external_id": external_id, "partition": ""}
    there = replaced_by(OuterRef("domain_id"), scope, OuterRef("type"), OuterRef("key"), ctx)
    rows = MemoryItem.objects.select_related("scope", "source_session").annotate(
        scope_there=Subquery(MemoryScope.objects.filter(**here).values("key")[:1]),
        item_there=Subquery(there.order_by("id").values("pk")[:1]),
    )
    item = rows.get(pk=item_id)
    return _Entering(item, [item.scope_there] if item.scope_there is not None else [], item.item_there)


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


def _refs(refs: Sequence[EvidenceRef], role: str) -> list[Told]:
    return [(ref, role) for ref in refs]


def promotion(given: PromoteToScopeInput, changes: Sequence[Change], ctx: Ctx) -> Presentation:
    """A memory that is to enter another scope."""
    scope = given.target_scope.name
    entering = _entering(given.memory_item_id, scope, ctx)
    item, after = entering.item, _copy(entering.item, scope, given.text)
    own, origins = rests_on([item], ctx)
    refs = [*_refs(given.verification_refs, "verification"), *own]
    along = [*memories_in(refs), *([entering.there] if entering.there else [])]
    near = neighbours(after["statement"], item.domain_id, entering.scope_keys, ctx, entering.there, along)
    there = readable(along, ctx).get(entering.there) if entering.there else None
    return Presentation(
        subject=f"Promote from {item.scope.name} to {scope}: {short(after['statement'])}",
        rows=_new_row(after, there),
        nearest=related(there) if there else next(iter(near), None),
        evidence=[related(item, "source"), *evidence_texts(refs, ctx, origins)],
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
    own, origins = rests_on([item], ctx)
    refs = _refs(given.supporting_refs, "supporting")
    refs += [*_refs(given.verification_refs, "verification"), *_refs(given.teaching_refs, "teaching"), *own]
    near = neighbours(item.statement, item.domain_id, [item.scope_id], ctx, item.pk, memories_in(refs))
    return Presentation(
        subject=f"Raise to {given.tier} in {item.scope.name}: {short(str(after['statement']))}",
        rows=_new_row(after, item),
        nearest=related(item),
        evidence=evidence_texts(refs, ctx, origins),
        neighbours=near,
        conflicts=conflict_notes([item.pk], ctx),
    )


def writing(given: WriteMemoryItemInput, changes: Sequence[Change], ctx: Ctx) -> Presentation:
    """One new item for a scope."""
    levels = in_force(given.domain_id, ctx).section(RetentionPolicy).confidence
    made, scope = written_alone(given, levels), given.scope.name
    said, place = made.statement, (scope, made.type, made.key)
    there = in_the_place_of(given.domain_id, [place], ctx).get(place)
    after = fields_of_new(made, scope, there)
    refs = _refs(made.evidence, "supporting")
    keys = [there.scope_id] if there else [row.key for row in scope_rows(given.domain_id, [scope], "")]
    near = neighbours(said, given.domain_id, keys, ctx, there.pk if there else None, memories_in(refs))
    origins = [Origin(given.turn_id, given.message)] if given.turn_id is not None else []
    return Presentation(
        subject=f"Write to {scope}: {short(said)}",
        rows=_new_row(after, there),
        nearest=related(there) if there else next(iter(near), None),
        evidence=evidence_texts(refs, ctx, origins),
        neighbours=near,
        conflicts=conflict_notes([there.pk] if there else [], ctx),
    )


def turn(given: CommitTurnInput, changes: Sequence[Change], ctx: Ctx) -> Presentation:
    """A whole turn that waits: its messages, and the items that it gives."""
    context = given.scope_context
    default = context.default_write.name if context and context.default_write else f"session:{given.session_id}"
    levels = in_force(given.domain_id, ctx).section(RetentionPolicy).confidence
    told = [as_candidate(path, item, levels) for path, item in list(given.turn_events.items())[:MAX_ROWS]]
    places = [(made.scope or default, made.type, made.key) for made in told]
    there = in_the_place_of(given.domain_id, places, ctx)
    rows: list[RowChange] = []
    for place, made in zip(places, told, strict=True):
        old = there.get(place)
        rows += _new_row(fields_of_new(made, place[0], old), old)
    said = [
        RelatedText(
            kind="message", id=message.id or str(place), text=message.content, source=message.name or message.role
        )
        for place, message in enumerate(given.turn_events.messages)
    ]
    first = said[0].text if said else next((row.title for row in rows), "events only")
    keys = [row.key for row in scope_rows(given.domain_id, [default], "")]
    refs = [ref for made in told for ref in _refs(made.evidence, "supporting")]
    near = neighbours(first, given.domain_id, keys, ctx, along=memories_in(refs))
    return Presentation(
        subject=f"Commit a turn of session {given.session_id} to {default}: {short(first)}",
        rows=rows[:MAX_ROWS],
        evidence=[*said, *evidence_texts(refs, ctx)][:MAX_ROWS],
        neighbours=near,
    )


def retraction(given: Any, changes: Sequence[Change], ctx: Ctx) -> Presentation:
    """A memory that is to be taken back."""
    item = _about(given.memory_item_id)
    refs, origins = rests_on([item], ctx)
    offered = _offered(item, [*memories_in(refs), *given.also], ctx)
    return Presentation(
        subject=f"Retract from {item.scope.name}: {short(item.statement)}",
        rows=[after_status(item, status=Status.RETRACTED.value), *_also(given.also, changes, ctx)],
        nearest=None,
        evidence=evidence_texts(refs, ctx, origins),
        neighbours=offered,
        conflicts=conflict_notes([item.pk], ctx),
    )


def _offered(item: MemoryItem, along: Sequence[UUID], ctx: Ctx) -> list[RelatedText]:
    """What a decision on an item may concern too; `along` names further items to be read in the same statement."""
    return [related(row, relation.value) for row, relation in offered_with(item, ctx, along)]


def _also(ids: Sequence[UUID], changes: Sequence[Change], ctx: Ctx) -> list[RowChange]:
    """What goes along; of a memory that the reviewer may not read, no more than that it does."""
    gone = {change.id for change in changes}
    seen = readable(ids, ctx)
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
    own, origins = rests_on([item], ctx)
    refs = [*_refs(given.evidence_refs, "supporting"), *own]
    offered = _offered(item, memories_in(refs), ctx)
    return Presentation(
        subject=f"Correct in {item.scope.name}: {short(words)}",
        rows=_new_row(after, item),
        nearest=related(item),
        evidence=evidence_texts(refs, ctx, origins),
        neighbours=offered,
        conflicts=conflict_notes([item.pk], ctx),
    )


def narrowing(given: NarrowItemInput, changes: Sequence[Change], ctx: Ctx) -> Presentation:
    """A memory that is to hold in a narrower scope only."""
    scope = given.target_scope.name
    entering = _entering(given.memory_item_id, scope, ctx)
    item, after = entering.item, _copy(entering.item, scope, given.text)
    hidden = after_status(item, status=Status.SUPERSEDED.value, hidden_outside=scope)
    refs, origins = rests_on([item], ctx)
    along = [*memories_in(refs), *([entering.there] if entering.there else [])]
    near = neighbours(item.statement, item.domain_id, entering.scope_keys, ctx, along=along)
    there = readable(along, ctx).get(entering.there) if entering.there else None
    return Presentation(
        subject=f"Narrow from {item.scope.name} to {scope}: {short(str(after['statement']))}",
        rows=[*_new_row(after, there), hidden],
        nearest=related(item),
        evidence=evidence_texts(refs, ctx, origins),
        neighbours=near,
        conflicts=conflict_notes([item.pk], ctx),
    )


def demotion(given: DemoteInput | DemoteFromScopeInput, changes: Sequence[Change], ctx: Ctx) -> Presentation:
    """A memory that is no longer to be trusted."""
    item = _about(given.memory_item_id)
    to = given.status if isinstance(given, DemoteInput) else Lifecycle.DEMOTED.value
    own, origins = rests_on([item], ctx)
    refs = [*_refs(given.evidence_refs, "counterexample"), *own]
    offered = _offered(item, memories_in(refs), ctx)
    return Presentation(
        subject=f"Demote in {item.scope.name} ({given.reason_type.value}): {short(item.statement)}",
        rows=[after_status(item, lifecycle=to)],
        evidence=evidence_texts(refs, ctx, origins),
        neighbours=offered,
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
