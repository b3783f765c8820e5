"""How proposals about memory are shown: what they are about, each row before and after, what they rest on, what is near."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import partial
from typing import Any
from uuid import UUID

from django.db.models import OuterRef, Subquery

from governance.contracts.presenting import Presentation, RelatedText, RowChange
from governance.hooks import Presenter
from governance.policies import in_force
from kernel.actions import Change
from kernel.context import Ctx
from kernel.errors import InvalidInputError
from kernel.ids import uuids_in
from memory.candidates import as_candidate, written_alone
from memory.contracts import CommitTurnInput
from memory.contracts.items import Lifecycle, Status
from memory.contracts.lifecycle import CorrectItemInput, DemoteFromScopeInput, DemoteInput, NarrowItemInput
from memory.contracts.promotion import PromoteToScopeInput, RaiseTierInput
from memory.contracts.refs import EvidenceRef
from memory.contracts.writing import WriteMemoryItemInput
from memory.correcting import corrected, said_of
from memory.extensions.along import offered, rows_along
from memory.extensions.evidence import Origin, Told, evidence_texts, memories_in, messages_of, rests_on, words_of
from memory.extensions.recorded import MAX_ROWS, Place, fields_then, rows_then
from memory.extensions.showing import (
    after_status,
    brief,
    conflict_notes,
    fields_of,
    fields_of_new,
    in_the_place_of,
    neighbours,
    related,
    replaced_by,
    row_change,
    superseded,
)
from memory.models import MemoryItem
from memory.policies import RetentionPolicy
from memory.selectors.near import read_in, readable
from memory.statements import reworded
from scopes.models import MemoryScope
from scopes.selectors import scope_rows


@dataclass(frozen=True, slots=True)
class _Entering:
    """An item that is to enter a scope: the key of the scope's row where there is one, and the id of the visible item in
    force that would make way."""

    item: MemoryItem
    scope_keys: list[int]
    there: UUID | None


def _about(item_id: UUID, ctx: Ctx) -> MemoryItem:
    """The item that a proposal names. Whoever decides on the proposal is offered what it says of it."""
    item = MemoryItem.objects.select_related("scope", "source_session").get(pk=item_id)
    read_in(ctx)[item.pk] = item
    return item


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
    read_in(ctx)[item.pk] = item
    return _Entering(item, [item.scope_there] if item.scope_there is not None else [], item.item_there)


def _copy(item: MemoryItem, scope: str, text: str | None, then: datetime | None = None) -> dict[str, Any]:
    """The fields of a row that is made from an item."""
    fields = fields_of(item) if then is None else fields_then(item)
    if text is not None:
        fields = _told(fields, reworded(item.type, item.key or "", item.value, text), text)
    trusted = {"lifecycle": _trusted(item)} if then is None else {}
    return {**fields, "scope": scope, "status": Status.ACTIVE.value, **trusted}


def _told(fields: Mapping[str, Any], value: Mapping[str, Any], words: str) -> dict[str, Any]:
    """The fields of a row with another value and other words."""
    kept = {name: told for name, told in fields.items() if not name.startswith("value.")}
    return {
        **kept,
        "statement": words,
        **{f"value.{name}": told for name, told in value.items() if name != "statement"},
    }


def _trusted(item: MemoryItem) -> str:
    return Lifecycle.PROMOTED.value if item.lifecycle_status == Lifecycle.CANDIDATE else item.lifecycle_status


def _new_row(after: dict[str, Any], place_of: MemoryItem | None, ctx: Ctx) -> list[RowChange]:
    """A new row, compared with the one that makes way for it, and that row itself."""
    added = row_change(None, after, "new", str(after["statement"]))
    if place_of is None:
        return [added]
    compared = row_change(fields_of(place_of), after, "new", str(after["statement"]))
    return [compared.model_copy(update={"kind": "added"}), superseded(place_of, ctx)]


def _new_then(after: Mapping[str, Any], item: MemoryItem, changes: Sequence[Change], ctx: Ctx) -> list[RowChange]:
    """What came of a row that was to be made from an item, as it is on record."""
    return rows_then(changes, {(str(after["scope"]), item.type, item.key): after}, [item], ctx)


def _refs(refs: Sequence[EvidenceRef], role: str) -> list[Told]:
    return [(ref, role) for ref in refs]


def _rests(
    given: Sequence[Told], item: MemoryItem, ctx: Ctx, then: datetime | None
) -> tuple[list[Told], list[Origin]]:
    """What a call names, and then what its item rests on besides."""
    own, origins = rests_on([item], ctx, then)
    return [*given, *(each for each in own if then is None or each not in given)], origins


def promotion(
    given: PromoteToScopeInput, changes: Sequence[Change], ctx: Ctx, then: datetime | None = None
) -> Presentation:
    """A memory that is to enter another scope."""
    scope = given.target_scope.name
    told = _refs(given.verification_refs, "verification")
    if then is not None:
        item = _about(given.memory_item_id, ctx)
        refs, origins = _rests(told, item, ctx, then)
        after = _copy(item, scope, given.text, then)
        shown = Presentation(subject="", rows=_new_then(after, item, changes, ctx))
    else:
        entering = _entering(given.memory_item_id, scope, ctx)
        item, after = entering.item, _copy(entering.item, scope, given.text)
        refs, origins = _rests(told, item, ctx, then)
        along = [*memories_in(refs), *([entering.there] if entering.there else [])]
        near = neighbours(after["statement"], item.domain_id, entering.scope_keys, ctx, entering.there, along)
        there = readable(along, ctx).get(entering.there) if entering.there else None
        shown = Presentation(
            subject="",
            rows=_new_row(after, there, ctx),
            nearest=related(there, ctx) if there else next(iter(near), None),
            neighbours=near,
            conflicts=conflict_notes([item.pk, *([there.pk] if there else [])], ctx),
        )
    return shown.model_copy(
        update={
            "subject": f"Promote from {item.scope.name} to {scope}: {brief(after['statement'])}",
            "source": _source(item, given.text, ctx),
            "evidence": [related(item, ctx, "source"), *evidence_texts(refs, ctx, origins)],
        }
    )


def _source(item: MemoryItem, text: str | None, ctx: Ctx) -> RelatedText | None:
    """The item as the text that a call gives other words for; None where it leaves the words as they are."""
    return related(item, ctx, "source") if text is not None and text.strip() != item.statement else None


def raising(given: RaiseTierInput, changes: Sequence[Change], ctx: Ctx, then: datetime | None = None) -> Presentation:
    """A memory that is to become tiered knowledge."""
    item = _about(given.memory_item_id, ctx)
    universal = given.tier == "dao_tian"
    after = {
        **_copy(item, item.scope.name, given.text, then),
        "tier": given.tier,
        "lifecycle": (Lifecycle.CANONICAL if universal else Lifecycle.PROMOTED).value,
        "pinned": universal,
    }
    told = [*_refs(given.supporting_refs, "supporting"), *_refs(given.verification_refs, "verification")]
    refs, origins = _rests([*told, *_refs(given.teaching_refs, "teaching")], item, ctx, then)
    shown = Presentation(
        subject=f"Raise to {given.tier} in {item.scope.name}: {brief(after['statement'])}",
        rows=_new_row(after, item, ctx) if then is None else _new_then(after, item, changes, ctx),
        source=_source(item, given.text, ctx),
    )
    if then is None:
        near = neighbours(item.statement, item.domain_id, [item.scope_id], ctx, item.pk, memories_in(refs))
        shown = _beside(shown, item, near, ctx)
    return shown.model_copy(update={"evidence": evidence_texts(refs, ctx, origins)})


def _beside(shown: Presentation, item: MemoryItem, near: list[RelatedText], ctx: Ctx) -> Presentation:
    """An open proposal with what stands beside its item now."""
    return shown.model_copy(update={"neighbours": near, "conflicts": conflict_notes([item.pk], ctx)})


def writing(
    given: WriteMemoryItemInput, changes: Sequence[Change], ctx: Ctx, then: datetime | None = None
) -> Presentation:
    """One new item for a scope."""
    levels = in_force(given.domain_id, ctx).section(RetentionPolicy).confidence
    made, scope = written_alone(given, levels), given.scope.name
    said, place = made.statement, (scope, made.type, made.key)
    refs = _refs(made.evidence, "supporting")
    words = words_of(said, made.value)
    origins = [Origin(given.turn_id, given.message, words=words)] if given.turn_id is not None else []
    if then is not None:
        shown = Presentation(subject="", rows=rows_then(changes, {place: fields_of_new(made, scope, None)}, [], ctx))
    else:
        there = in_the_place_of(given.domain_id, [place], ctx).get(place)
        keys = [there.scope_id] if there else [row.key for row in scope_rows(given.domain_id, [scope], "")]
        near = neighbours(said, given.domain_id, keys, ctx, there.pk if there else None, memories_in(refs))
        shown = Presentation(
            subject="",
            rows=_new_row(fields_of_new(made, scope, there), there, ctx),
            nearest=related(there, ctx) if there else next(iter(near), None),
            neighbours=near,
            conflicts=conflict_notes([there.pk] if there else [], ctx),
        )
    evidence = evidence_texts(refs, ctx, origins)
    return shown.model_copy(update={"subject": f"Write to {scope}: {brief(said)}", "evidence": evidence})


def turn(given: CommitTurnInput, changes: Sequence[Change], ctx: Ctx, then: datetime | None = None) -> Presentation:
    """A whole turn that waits: its messages, and the items that it gives."""
    context = given.scope_context
    default = context.default_write.name if context and context.default_write else f"session:{given.session_id}"
    levels = in_force(given.domain_id, ctx).section(RetentionPolicy).confidence
    told = [as_candidate(path, item, levels) for path, item in list(given.turn_events.items())[:MAX_ROWS]]
    places: list[Place] = [(made.scope or default, made.type, made.key) for made in told]
    refs = [ref for made in told for ref in _refs(made.evidence, "supporting")]
    words = [text for made in told for text in words_of(made.statement, made.value)]
    said = messages_of(given, words, next(iter(_made(changes)), None) if then is not None else None, ctx)
    near: list[RelatedText] = []
    if then is not None:
        new = {place: fields_of_new(made, place[0], None) for place, made in zip(places, told, strict=True)}
        rows = rows_then(changes, new, [], ctx)
        first = said[0].text if said else next((row.title for row in rows), "events only")
    else:
        there = in_the_place_of(given.domain_id, places, ctx)
        rows = []
        for place, made in zip(places, told, strict=True):
            old = there.get(place)
            rows += _new_row(fields_of_new(made, place[0], old), old, ctx)
        first = said[0].text if said else next((row.title for row in rows), "events only")
        keys = [row.key for row in scope_rows(given.domain_id, [default], "")]
        near = neighbours(first, given.domain_id, keys, ctx, along=memories_in(refs))
    return Presentation(
        subject=f"Commit a turn of session {given.session_id} to {default}: {brief(first)}",
        rows=rows[:MAX_ROWS],
        evidence=[*said, *evidence_texts(refs, ctx)][:MAX_ROWS],
        neighbours=near,
    )


def _made(changes: Sequence[Change]) -> Iterable[UUID]:
    """The turns that a recorded call made, or would have made."""
    return uuids_in(change.id for change in changes if change.table == "turns" and change.before is None).values()


def retraction(given: Any, changes: Sequence[Change], ctx: Ctx, then: datetime | None = None) -> Presentation:
    """A memory that is to be taken back."""
    item = _about(given.memory_item_id, ctx)
    shown = Presentation(subject=f"Retract from {item.scope.name}: {brief(item.statement)}")
    refs, origins = rests_on([item], ctx, then)
    if then is not None:
        rows = rows_then(changes, {}, [item], ctx)
    else:
        shown = _beside(shown, item, offered(item, [*memories_in(refs), *given.also], ctx), ctx)

        def gone(row: MemoryItem) -> list[RowChange]:
            return [after_status(row, ctx, status=Status.RETRACTED.value)]

        rows = [*gone(item), *rows_along(given.also, changes, gone, ctx)]
    return shown.model_copy(update={"rows": rows, "evidence": evidence_texts(refs, ctx, origins)})


def correction(
    given: CorrectItemInput, changes: Sequence[Change], ctx: Ctx, then: datetime | None = None
) -> Presentation:
    """A memory of which something else is right."""
    item = _about(given.memory_item_id, ctx)
    before = fields_of(item) if then is None else fields_then(item)
    after = {**_told(before, *_right(given, item)), "status": Status.ACTIVE.value}
    refs, origins = _rests(_refs(given.evidence_refs, "supporting"), item, ctx, then)
    shown = Presentation(
        subject=f"Correct in {item.scope.name}: {brief(after['statement'])}",
        source=_source(item, given.text, ctx),
    )
    if then is not None:
        rows = _new_then(after, item, changes, ctx)
    else:
        shown = _beside(shown, item, offered(item, [*memories_in(refs), *given.also], ctx), ctx)
        right = partial(_right_along, given, (item.type, str(after["statement"])), ctx)
        rows = [*_new_row(after, item, ctx), *rows_along(given.also, changes, right, ctx)]
    return shown.model_copy(update={"rows": rows, "evidence": evidence_texts(refs, ctx, origins)})


def _right(given: CorrectItemInput, item: MemoryItem) -> tuple[dict[str, Any], str]:
    """The value and the words that a correction makes. Of one that is refused by now, what it says as it stands."""
    try:
        return corrected(item.type, item.key or "", item.value, given.text, given.value)
    except InvalidInputError:
        return {**item.value, **(given.value or {})}, given.text or item.statement


def _right_along(given: CorrectItemInput, first: tuple[str, str], ctx: Ctx, row: MemoryItem) -> list[RowChange]:
    """What becomes of an item that is corrected along with the `first`, of which type and words are told."""
    text, value = said_of(row.type, given.text, given.value, first)
    told = _right(given.model_copy(update={"text": text, "value": value}), row)
    return _new_row({**_told(fields_of(row), *told), "status": Status.ACTIVE.value}, row, ctx)


def narrowing(
    given: NarrowItemInput, changes: Sequence[Change], ctx: Ctx, then: datetime | None = None
) -> Presentation:
    """A memory that is to hold in a narrower scope only."""
    scope = given.target_scope.name
    if then is not None:
        item = _about(given.memory_item_id, ctx)
        refs, origins = rests_on([item], ctx, then)
        after = _copy(item, scope, given.text, then)
        shown = Presentation(subject="", rows=_new_then(after, item, changes, ctx))
    else:
        entering = _entering(given.memory_item_id, scope, ctx)
        item, after = entering.item, _copy(entering.item, scope, given.text)
        refs, origins = rests_on([item], ctx)
        along = [*memories_in(refs), *([entering.there] if entering.there else []), *given.also]
        near = offered(item, along, ctx)
        there = readable(along, ctx).get(entering.there) if entering.there else None

        def hidden(row: MemoryItem) -> list[RowChange]:
            return [after_status(row, ctx, status=Status.SUPERSEDED.value, hidden_outside=scope)]

        rows = [*_new_row(after, there, ctx), *hidden(item), *rows_along(given.also, changes, hidden, ctx)]
        shown = _beside(Presentation(subject="", rows=rows), item, near, ctx)
    return shown.model_copy(
        update={
            "subject": f"Narrow from {item.scope.name} to {scope}: {brief(after['statement'])}",
            "source": _source(item, given.text, ctx),
            "evidence": evidence_texts(refs, ctx, origins),
        }
    )


def demotion(
    given: DemoteInput | DemoteFromScopeInput, changes: Sequence[Change], ctx: Ctx, then: datetime | None = None
) -> Presentation:
    """A memory that is no longer to be trusted."""
    item = _about(given.memory_item_id, ctx)
    to = given.status if isinstance(given, DemoteInput) else Lifecycle.DEMOTED.value
    refs, origins = _rests(_refs(given.evidence_refs, "counterexample"), item, ctx, then)
    shown = Presentation(subject=f"Demote in {item.scope.name} ({given.reason_type.value}): {brief(item.statement)}")
    if then is not None:
        rows = rows_then(changes, {}, [item], ctx)
    else:
        shown = _beside(shown, item, offered(item, memories_in(refs), ctx), ctx)
        rows = [after_status(item, ctx, lifecycle=to)]
    return shown.model_copy(update={"rows": rows, "evidence": evidence_texts(refs, ctx, origins)})


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
