"""Actions on one memory: take it back, correct it, narrow it, demote it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from uuid import UUID

from kernel.actions import Action, Applied, Change, Target, register
from kernel.context import Ctx, Right
from kernel.errors import ConflictError, ForbiddenError, InvalidInputError
from memory import selectors
from memory.actions.place import allowed_types
from memory.contracts.items import Lifecycle
from memory.contracts.lifecycle import (
    AlsoOutcome,
    CorrectItemInput,
    CorrectItemResult,
    DemoteFromScopeInput,
    DemoteInput,
    DemoteResult,
    NarrowItemInput,
    NarrowItemResult,
    Relation,
    RetractItemInput,
    RetractItemResult,
)
from memory.contracts.refs import EvidenceRef
from memory.models import KnowledgeEvent, MemoryItem
from memory.selectors.near import offered_with, view_also
from memory.selectors.refs import PlacedRef, checked_refs, distinct
from memory.services import lifecycle
from memory.services.copies import Making, require_in_force
from memory.services.items import is_governed
from memory.services.reversing import reverse
from scopes.contracts import SESSION
from scopes.selectors import check_ref, held
from scopes.services import ensure_scopes

_WIDTH = {"session": 0, "task": 1, "expert": 2, "project": 2, "global": 3}


@dataclass(frozen=True, slots=True)
class _Ready:
    """An item, what rests on the call's references, and what may concern the same decision."""

    item: MemoryItem
    refs: list[EvidenceRef]
    also: list[tuple[MemoryItem, Relation]]


def own_scope(item: MemoryItem, ctx: Ctx) -> tuple[str, frozenset[str]]:
    """The scope of an item in written form, and whether it is a session that the actor opened."""
    name = item.scope.name
    return name, frozenset({name}) if item.scope.owner == ctx.actor.id else frozenset()


def checked(field: str, refs: Sequence[EvidenceRef], item: MemoryItem, ctx: Ctx) -> list[EvidenceRef]:
    """The references of a field as they are stored, each once. Raises InvalidInputError that names the place."""
    placed = [PlacedRef((field, str(number)), ref) for number, ref in enumerate(refs)]
    return distinct(refs, checked_refs(placed, item.domain_id, ctx))


def _target(item_id: UUID, ctx: Ctx) -> Target:
    item = selectors.get_item(item_id, ctx)
    scope, owned = own_scope(item, ctx)
    return Target(item.domain_id, (scope,), owned)


def _retract_target(given: RetractItemInput, ctx: Ctx) -> Target:
    item = selectors.get_item(given.memory_item_id, ctx, within=given.scope_context)
    scope, owned = own_scope(item, ctx)
    scopes = [scope]
    for row in _named_along(given, item, ctx):
        name, mine = own_scope(row, ctx)
        if Right.WRITE in held(ctx, row.domain_id, name, mine):
            scopes.append(name)
            owned |= mine
    return Target(item.domain_id, tuple(dict.fromkeys(scopes)), owned, subject=f"retract_item:{item.id}")


def _named_along(given: RetractItemInput, item: MemoryItem, ctx: Ctx) -> Sequence[MemoryItem]:
    """The visible items of the same domain, within the given context, that are to go along with an item."""
    if not given.also:
        return []
    rows = selectors.visible_items(ctx).filter(domain_id=item.domain_id, pk__in=given.also)
    return [row for row in rows if selectors.is_within(row, given.scope_context)]


def _prepare_retraction(given: RetractItemInput, ctx: Ctx) -> _Ready:
    item = selectors.get_item(given.memory_item_id, ctx, within=given.scope_context)
    return _Ready(item, [], offered_with(item, ctx))


def _retract(given: RetractItemInput, ready: _Ready, ctx: Ctx) -> Applied[RetractItemResult]:
    lifecycle.hold([ready.item, *_named_along(given, ready.item, ctx)])
    done = lifecycle.retract_item(ready.item, given.reason, ctx)
    changes, told = [*done.changes], done.told
    outcomes = []
    for item_id in dict.fromkeys(given.also):
        outcome, more = _retract_too(given.model_copy(update={"also": [item_id]}), ready.item, ctx)
        outcomes.append(AlsoOutcome(id=item_id, outcome=outcome))
        changes += more.changes if more else []
        told += more.told if more else 0
    gone = {each.id for each in outcomes if each.outcome in ("done", "already")}
    result = RetractItemResult(
        item=selectors.view_item(selectors.item_by_id(ready.item.pk)),
        outcomes=outcomes,
        also=view_also((row, relation) for row, relation in ready.also if row.pk not in gone),
        notices=told,
        deduplicated=not done.changes,
    )
    return result, changes


def _retract_too(given: RetractItemInput, first: MemoryItem, ctx: Ctx) -> tuple[str, lifecycle.Done | None]:
    """What becomes of the one item that is named along."""
    row = next(iter(_named_along(given, first, ctx)), None)
    if row is None:
        return "not_found", None
    scope, owned = own_scope(row, ctx)
    if Right.WRITE not in held(ctx, row.domain_id, scope, owned):
        return "not_permitted", None
    if ctx.approval is not None and row.scope_id != first.scope_id and is_governed(row):
        return "governed", None  # who approved decides in the scope of the first item, and perhaps not here
    try:
        done = lifecycle.retract_item(row, given.reason, ctx)
    except ForbiddenError:
        return "governed", None
    return ("done", done) if done.changes else ("already", None)


RETRACT_ITEM = register(
    Action(
        "retract_item",
        "Take one memory back with a reason; copies and near-duplicates are offered, and agents that were shown it are told.",
        RetractItemInput,
        RetractItemResult,
        Right.WRITE,
        _retract_target,
        _prepare_retraction,
        _retract,
        reverse=reverse,
    )
)


def _correct_target(given: CorrectItemInput, ctx: Ctx) -> Target:
    return _target(given.memory_item_id, ctx)


def _prepare_correction(given: CorrectItemInput, ctx: Ctx) -> _Ready:
    item = selectors.get_item(given.memory_item_id, ctx, within=given.scope_context)
    if given.text is None and given.value is None:
        raise InvalidInputError("text: say what is right, in words or as fields of the value.")
    if given.value is None and item.type in ("entities", "profile"):
        raise InvalidInputError(f"value: {item.type} are corrected by their fields: give `value`.")
    refs = checked("evidence_refs", given.evidence_refs, item, ctx)
    require_in_force(item)
    return _Ready(item, refs, offered_with(item, ctx))


def _correct(given: CorrectItemInput, ready: _Ready, ctx: Ctx) -> Applied[CorrectItemResult]:
    said = (given.text, given.value)
    done, old = lifecycle.correct_item(ready.item, said, given.reason, tuple(ready.refs), ctx)
    key = KnowledgeEvent.objects.filter(
        item__scope_id=old.scope_id, item__type=old.type, item__key=old.key, kind="corrected"
    )
    result = CorrectItemResult(
        item=selectors.view_item(selectors.item_by_id(done.item.pk)),
        replaced=selectors.view_item(selectors.item_by_id(old.pk)),
        corrections=key.count(),
        also=view_also(ready.also),
        notices=done.told,
    )
    return result, done.changes


CORRECT_ITEM = register(
    Action(
        "correct_item",
        "Put what is right in the place of one memory, named by its id; the old one stays as history with its successor.",
        CorrectItemInput,
        CorrectItemResult,
        Right.WRITE,
        _correct_target,
        _prepare_correction,
        _correct,
        reverse=reverse,
    )
)


def _narrow_target(given: NarrowItemInput, ctx: Ctx) -> Target:
    item = selectors.get_item(given.memory_item_id, ctx, within=given.scope_context)
    scope, owned = own_scope(item, ctx)
    check_ref(given.target_scope, item.domain_id, allowed_types(item.domain_id, ctx))
    subject = f"narrow_item:{item.id}"
    return Target(item.domain_id, (scope, given.target_scope.name), owned, subject=subject)


def _prepare_narrowing(given: NarrowItemInput, ctx: Ctx) -> _Ready:
    item = selectors.get_item(given.memory_item_id, ctx, within=given.scope_context)
    wanted, here = given.target_scope.type, item.scope.scope_type
    if wanted == SESSION or _WIDTH.get(wanted, 0) >= _WIDTH.get(here, 0):
        raise InvalidInputError(f"target_scope: {wanted} is not narrower than {here}: name a narrower scope.")
    if given.text is not None and item.type == "entities":
        raise InvalidInputError("text: an entity is known by its names and has no words of its own; leave it out.")
    require_in_force(item)
    if item.lifecycle_status in (Lifecycle.DEMOTED, Lifecycle.RETIRED):
        raise ConflictError(f"Memory item {item.id} is {item.lifecycle_status}: nobody is shown it.")
    return _Ready(item, [], [])


def _narrow(given: NarrowItemInput, ready: _Ready, ctx: Ctx) -> Applied[NarrowItemResult]:
    rows, opened = ensure_scopes(ready.item.domain_id, [given.target_scope.name], ctx, "")
    making = Making("narrowed", given.reason, text=given.text)
    made, told = lifecycle.narrow_item(ready.item, rows[given.target_scope.name], making, ctx)
    view = selectors.view_item(selectors.item_by_id(made.item.pk))
    result = NarrowItemResult(item=view, narrowed_item_id=ready.item.pk, notices=told, deduplicated=made.deduplicated)
    return result, [*opened, *made.changes]


NARROW_ITEM = register(
    Action(
        "narrow_item",
        "Keep a memory for a narrower scope only: those outside no longer see the wide original, not even as history.",
        NarrowItemInput,
        NarrowItemResult,
        Right.WRITE,
        _narrow_target,
        _prepare_narrowing,
        _narrow,
        reverse=reverse,
    )
)


def _prepare_demotion(given: DemoteInput | DemoteFromScopeInput, ctx: Ctx) -> _Ready:
    item = selectors.get_item(given.memory_item_id, ctx, within=given.scope_context)
    if isinstance(given, DemoteFromScopeInput) and item.source_item_id is None:
        raise ConflictError(
            f"Memory item {item.id} was not promoted into {item.scope.name}: use `demote` or retract it."
        )
    refs = checked("evidence_refs", given.evidence_refs, item, ctx)
    require_in_force(item)
    return _Ready(item, refs, offered_with(item, ctx))


def _demote(given: DemoteInput | DemoteFromScopeInput, ready: _Ready, ctx: Ctx) -> Applied[DemoteResult]:
    to = Lifecycle(given.status) if isinstance(given, DemoteInput) else Lifecycle.DEMOTED
    why = (given.reason_type.value, given.reason)
    done, was = lifecycle.demote_item(ready.item, to, ready.refs, why, ctx)
    result = DemoteResult(
        item=selectors.view_item(selectors.item_by_id(done.item.pk)),
        from_status=was,
        source_item_id=done.item.source_item_id,
        also=view_also((row, relation) for row, relation in ready.also if relation is not Relation.SOURCE),
        notices=done.told,
    )
    return result, list[Change](done.changes)


DEMOTE = register(
    Action(
        "demote",
        "Say on evidence that a memory is no longer to be trusted, or retire it: it leaves contexts and searches.",
        DemoteInput,
        DemoteResult,
        Right.PROMOTE,
        lambda given, ctx: _target(given.memory_item_id, ctx),
        _prepare_demotion,
        _demote,
        reverse=reverse,
    )
)

DEMOTE_FROM_SCOPE = register(
    Action(
        "demote_from_scope",
        "Take a promoted copy out of use in its scope on evidence; what it was made from stays as it is.",
        DemoteFromScopeInput,
        DemoteResult,
        Right.PROMOTE,
        lambda given, ctx: _target(given.memory_item_id, ctx),
        _prepare_demotion,
        _demote,
        reverse=reverse,
    )
)
