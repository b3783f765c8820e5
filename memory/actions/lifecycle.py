"""Actions on one memory: take it back, correct it, narrow it, demote it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING
from uuid import UUID

from kernel.actions import Action, Applied, Change, Target, register
from kernel.context import Ctx, Right
from kernel.errors import ConflictError, InvalidInputError
from memory import selectors
from memory.actions.along import NotInForceError, decide_along, named_along, own_scope, require_held, target_along
from memory.actions.place import allowed_types
from memory.actions.writing import WRITE_MEMORY_ITEM
from memory.contracts.items import OUT_OF_USE, Lifecycle
from memory.contracts.lifecycle import (
    CorrectItemInput,
    CorrectItemResult,
    DemoteFromScopeInput,
    DemoteInput,
    DemoteResult,
    NarrowItemInput,
    NarrowItemResult,
    RelatedItemsInput,
    RelatedItemsResult,
    Relation,
    RetractItemInput,
    RetractItemResult,
)
from memory.contracts.refs import EvidenceRef
from memory.correcting import FIELDS_ONLY, corrected, said_of
from memory.models import KnowledgeEvent, MemoryItem
from memory.selectors.near import offered_with, view_also
from memory.selectors.refs import PlacedRef, checked_refs, distinct
from memory.services import lifecycle
from memory.services.copies import DoesNotFitError, Making, require_in_force, require_in_use
from memory.services.reversing import reverse
from scopes.contracts import SESSION
from scopes.selectors import check_ref
from scopes.services import ensure_scopes

if TYPE_CHECKING:
    from scopes.models import MemoryScope

# What holds back new memory of a scope holds back what changes the memory that is there.
WRITING = (WRITE_MEMORY_ITEM.name,)
_WIDTH = {"session": 0, "task": 1, "expert": 2, "project": 2, "global": 3}


@dataclass(frozen=True, slots=True)
class _Ready:
    """An item, what rests on the call's references, and what may concern the same decision."""

    item: MemoryItem
    refs: list[EvidenceRef]
    also: list[tuple[MemoryItem, Relation]]


def narrower_types(scope_type: str) -> tuple[str, ...]:
    """The types of scope to which a memory of a scope of that type can be narrowed."""
    here = _WIDTH.get(scope_type, 0)
    return tuple(name for name, width in _WIDTH.items() if name != SESSION and width < here)


def checked(field: str, refs: Sequence[EvidenceRef], item: MemoryItem, ctx: Ctx) -> list[EvidenceRef]:
    """The references of a field as they are stored, each once. Raises InvalidInputError that names the place."""
    placed = [PlacedRef((field, str(number)), ref) for number, ref in enumerate(refs)]
    return distinct(refs, checked_refs(placed, item.domain_id, ctx))


def _target(item_id: UUID, ctx: Ctx) -> Target:
    item = selectors.get_item(item_id, ctx)
    scope, owned = own_scope(item, ctx)
    return Target(item.domain_id, (scope,), owned)


def _related_item(given: RelatedItemsInput, ctx: Ctx) -> MemoryItem:
    look = partial(selectors.get_item, given.memory_item_id, ctx, within=given.scope_context)
    return ctx.once(("item", given.memory_item_id), look)


def _related_target(given: RelatedItemsInput, ctx: Ctx) -> Target:
    item = _related_item(given, ctx)
    scope, owned = own_scope(item, ctx)
    return Target(item.domain_id, (scope,), owned)


def _related(given: RelatedItemsInput, ctx: Ctx) -> RelatedItemsResult:
    item = _related_item(given, ctx)
    also = [pair for pair in offered_with(item, ctx) if selectors.is_within(pair[0], given.scope_context)]
    return RelatedItemsResult(item=selectors.view_item(item), also=view_also(also))


RELATED_ITEMS = register(
    Action(
        "related_items",
        "Show what a decision on one memory may concern too: copies, its source, what rests on it, near-duplicates.",
        RelatedItemsInput,
        RelatedItemsResult,
        Right.READ,
        _related_target,
        _related,
    )
)


def _retract_target(given: RetractItemInput, ctx: Ctx) -> Target:
    item = selectors.get_item(given.memory_item_id, ctx, within=given.scope_context)
    return replace(target_along(item, given.also, given, ctx), subject=f"retract_item:{item.id}")


def _prepare_retraction(given: RetractItemInput, ctx: Ctx) -> _Ready:
    item = selectors.get_item(given.memory_item_id, ctx, within=given.scope_context)
    return _Ready(item, [], offered_with(item, ctx))


def _retract(given: RetractItemInput, ready: _Ready, ctx: Ctx) -> Applied[RetractItemResult]:
    lifecycle.hold([ready.item, *named_along(ready.item, given.also, given, ctx)])
    done = lifecycle.retract_item(ready.item, given.reason, ctx)
    along = decide_along(ready.item, given.also, given, lambda row: _retracted(row, given.reason, ctx), ctx)
    result = RetractItemResult(
        item=selectors.view_item(selectors.item_by_id(ready.item.pk)),
        outcomes=along.outcomes,
        also=along.left_of(ready.also),
        notices=done.told + along.told,
        deduplicated=not done.changes,
    )
    return result, [*done.changes, *along.changes]


def _retracted(row: MemoryItem, reason: str, ctx: Ctx) -> lifecycle.Done | None:
    done = lifecycle.retract_item(row, reason, ctx)
    return done if done.changes else None


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
        or_decide=True,
        judged_as=WRITING,
    )
)


def _correct_target(given: CorrectItemInput, ctx: Ctx) -> Target:
    item = selectors.get_item(given.memory_item_id, ctx)
    return target_along(item, given.also, given, ctx)


def _prepare_correction(given: CorrectItemInput, ctx: Ctx) -> _Ready:
    item = selectors.get_item(given.memory_item_id, ctx, within=given.scope_context)
    if given.text is None and given.value is None:
        raise InvalidInputError("text: say what is right, in words or as fields of the value.")
    if given.value is None and item.type in FIELDS_ONLY:
        raise InvalidInputError(f"value: {item.type} are corrected by their fields: give `value`.")
    refs = checked("evidence_refs", given.evidence_refs, item, ctx)
    require_in_force(item)
    if item.key is not None:
        corrected(item.type, item.key, item.value, given.text, given.value)
    return _Ready(item, refs, offered_with(item, ctx))


def _correct(given: CorrectItemInput, ready: _Ready, ctx: Ctx) -> Applied[CorrectItemResult]:
    lifecycle.hold([ready.item, *named_along(ready.item, given.also, given, ctx)])
    said = (given.text, given.value)
    done, old = lifecycle.correct_item(ready.item, said, given.reason, tuple(ready.refs), ctx)
    along = decide_along(old, given.also, given, lambda row: _correct_too(row, given, ready, done.item, ctx), ctx)
    key = KnowledgeEvent.objects.filter(
        item__scope_id=old.scope_id, item__type=old.type, item__key=old.key, kind="corrected"
    )
    result = CorrectItemResult(
        item=selectors.view_item(selectors.item_by_id(done.item.pk)),
        replaced=selectors.view_item(selectors.item_by_id(old.pk)),
        corrections=key.count(),
        outcomes=along.outcomes,
        also=along.left_of(ready.also),
        notices=done.told + along.told,
    )
    return result, [*done.changes, *along.changes]


def _correct_too(
    row: MemoryItem, given: CorrectItemInput, ready: _Ready, right: MemoryItem, ctx: Ctx
) -> lifecycle.Done | None:
    """Correct an item that says the same wrong thing as the first: by what was said of that where it is of its type, else
    by the words that are right now."""
    if row.pk == right.pk:
        return None
    require_held(row)
    said = said_of(row.type, given.text, given.value, (ready.item.type, right.statement))
    return lifecycle.correct_item(row, said, given.reason, tuple(ready.refs), ctx)[0]


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
        or_decide=True,
        judged_as=WRITING,
        undone_as=("retract_item",),
    )
)


def _narrow_target(given: NarrowItemInput, ctx: Ctx) -> Target:
    item = selectors.get_item(given.memory_item_id, ctx, within=given.scope_context)
    check_ref(given.target_scope, item.domain_id, allowed_types(item.domain_id, ctx))
    target = target_along(item, given.also, given, ctx, given.target_scope.name)
    return replace(target, subject=f"narrow_item:{item.id}")


def _prepare_narrowing(given: NarrowItemInput, ctx: Ctx) -> _Ready:
    item = selectors.get_item(given.memory_item_id, ctx, within=given.scope_context)
    wanted, here = given.target_scope.type, item.scope.scope_type
    if not _is_narrower(wanted, here):
        raise InvalidInputError(f"target_scope: {wanted} is not narrower than {here}: name a narrower scope.")
    if given.text is not None and item.type == "entities":
        raise InvalidInputError("text: an entity is known by its names and has no words of its own; leave it out.")
    require_in_force(item)
    require_in_use(item)
    offered = offered_with(item, ctx)
    return _Ready(item, [], [pair for pair in offered if _is_narrower(wanted, pair[0].scope.scope_type)])


def _is_narrower(wanted: str, here: str) -> bool:
    return wanted in narrower_types(here)


def _narrow(given: NarrowItemInput, ready: _Ready, ctx: Ctx) -> Applied[NarrowItemResult]:
    rows, opened = ensure_scopes(ready.item.domain_id, [given.target_scope.name], ctx, "")
    scope = rows[given.target_scope.name]
    lifecycle.hold([ready.item, *named_along(ready.item, given.also, given, ctx)], scope.key)
    making = Making("narrowed", given.reason, text=given.text)
    made, told = lifecycle.narrow_item(ready.item, scope, making, ctx)
    there = {(made.item.type, made.item.key): made.item}
    along = decide_along(ready.item, given.also, given, lambda row: _narrow_too(row, scope, there, given, ctx), ctx)
    result = NarrowItemResult(
        item=selectors.view_item(selectors.item_by_id(made.item.pk)),
        narrowed_item_id=ready.item.pk,
        outcomes=along.outcomes,
        also=along.left_of(ready.also),
        notices=told + along.told,
        deduplicated=made.deduplicated,
    )
    return result, [*opened, *made.changes, *along.changes]


def _narrow_too(
    row: MemoryItem,
    scope: MemoryScope,
    there: dict[tuple[str, str | None], MemoryItem],
    given: NarrowItemInput,
    ctx: Ctx,
) -> lifecycle.Done | None:
    """Keep another item for the narrower scope too, in its own words; where this call put its key there already, that is
    what the scope holds. `there` is what the call put there, by type and key."""
    if row.narrowed_to_id == scope.key or row.scope_id == scope.key:
        return None
    if not _is_narrower(scope.scope_type, row.scope.scope_type):
        raise DoesNotFitError
    require_held(row)
    if row.lifecycle_status in OUT_OF_USE:
        raise NotInForceError
    known = there.get((row.type, row.key))
    if known is not None:
        return lifecycle.hide_item(row, known, scope, given.reason, ctx)
    made, told = lifecycle.narrow_item(row, scope, Making("narrowed", given.reason), ctx)
    there[made.item.type, made.item.key] = made.item
    return lifecycle.Done(selectors.item_by_id(row.pk), made.changes, told)


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
        or_decide=True,
        judged_as=WRITING,
        undone_as=("retract_item",),
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


TRUSTING = ("promote_to_scope", "raise_tier")  # what trusts again what was demoted

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
        undone_as=TRUSTING,
        judged_as=WRITING,
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
        undone_as=TRUSTING,
        judged_as=WRITING,
    )
)
