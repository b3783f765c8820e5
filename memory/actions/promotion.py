"""Actions that let a memory enter another scope or tier, take a copy out again, and show its line."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from kernel.actions import Action, Applied, Target, register
from kernel.canonical import digest
from kernel.context import Ctx, Right
from kernel.errors import InvalidInputError, NotFoundError
from memory import selectors
from memory.actions.along import own_scope
from memory.actions.lifecycle import checked
from memory.actions.place import allowed_types
from memory.contracts.promotion import (
    LineageInput,
    LineageResult,
    PromoteToScopeInput,
    PromoteToScopeResult,
    RaiseTierInput,
    RaiseTierResult,
)
from memory.contracts.refs import EvidenceRef
from memory.knowledge import require_evidence, tier_columns
from memory.models import MemoryItem
from memory.selectors.lineage import lineage_of, promoted_before, promotion_of, view_promotion
from memory.selectors.proof import require_proof, scopes_of_proof
from memory.selectors.refs import identities, pieces_of
from memory.services.copies import Making, make, require_in_force, require_in_use
from memory.services.reversing import reverse
from scopes.contracts import SESSION, ScopeRef
from scopes.selectors import check_ref, held
from scopes.services import ensure_scopes, lock_scopes


@dataclass(frozen=True, slots=True)
class _Promotion:
    """A promotion made ready: the source, what verifies it, and the row that an earlier call gave."""

    source: MemoryItem
    verification: list[EvidenceRef]
    before: MemoryItem | None


def target_of(item: MemoryItem, wanted: ScopeRef, ctx: Ctx) -> str:
    """The written form of the scope that an item is to enter. Raises InvalidInputError or NotFoundError."""
    check_ref(wanted, item.domain_id, allowed_types(item.domain_id, ctx))
    if wanted.type == SESSION:
        raise InvalidInputError(
            "target_scope: a session learns from its own turns only; name a task or a wider scope."
        )
    if Right.READ not in held(ctx, item.domain_id, wanted.name):
        raise NotFoundError(f"No scope {wanted.name!r} that you can see.")
    if wanted.name == item.scope.name:
        raise InvalidInputError(f"target_scope: the memory is in {wanted.name} already.")
    return wanted.name


def resting(target: Target, refs: Sequence[EvidenceRef], ctx: Ctx) -> Target:
    """The target of a call with what it rests on, however that is spelt."""
    found = sorted(identities(refs, target.domain_id or "", ctx))
    whole = digest([found, ""])  # with "" as rejections on record have it, which hold as long as this is equal
    return replace(target, evidence=whole, rests_on=pieces_of(found))


def _promote_target(given: PromoteToScopeInput, ctx: Ctx) -> Target:
    item = selectors.get_item(given.memory_item_id, ctx, within=given.scope_context)
    scope, owned = own_scope(item, ctx)
    target = target_of(item, given.target_scope, ctx)
    about = Target(item.domain_id, (scope,), owned, subject=f"promote_to_scope:{item.id}:{target}", place=target)
    return resting(about, given.verification_refs, ctx)


def _prepare_promotion(given: PromoteToScopeInput, ctx: Ctx) -> _Promotion:
    source = selectors.get_item(given.memory_item_id, ctx, within=given.scope_context)
    verification = checked("verification_refs", given.verification_refs, source, ctx)
    if any(ref.kind == "memory" and ref.id == str(source.id) for ref in verification):
        raise InvalidInputError("verification_refs: a memory cannot verify itself: name something else.")
    require_proof({"verification": verification}, source)
    require_in_force(source)
    require_in_use(source)
    if given.text is not None and source.type == "entities":
        raise InvalidInputError("text: an entity is known by its names and has no words of its own; leave it out.")
    return _Promotion(source, verification, promoted_before(source, given.target_scope.name, given.text))


def _known_promotion(given: PromoteToScopeInput, ready: _Promotion, ctx: Ctx) -> PromoteToScopeResult | None:
    if ready.before is None:
        return None
    return PromoteToScopeResult(
        item=selectors.view_item(ready.before),
        promotion=promotion_of(ready.before, ready.source.pk),
        deduplicated=True,
    )


def _promote(given: PromoteToScopeInput, ready: _Promotion, ctx: Ctx) -> Applied[PromoteToScopeResult]:
    source = ready.source
    rows, opened = ensure_scopes(source.domain_id, [given.target_scope.name], ctx, "")
    proof = {"verification": ready.verification}
    lock_scopes({source.scope_id, rows[given.target_scope.name].key, *scopes_of_proof(proof)})
    require_proof(proof, source)
    again = replace(ready, before=promoted_before(source, given.target_scope.name, given.text))
    if (known := _known_promotion(given, again, ctx)) is not None:
        return known, opened  # someone else was first while this call waited for the scope
    making = Making(
        "promoted",
        given.reason,
        text=given.text,
        refs={"verification": ready.verification},
        claimed_reviewer=given.reviewer or "",
    )
    made = make(source, rows[given.target_scope.name], making, ctx)
    result = PromoteToScopeResult(
        item=selectors.view_item(selectors.item_by_id(made.item.pk)),
        promotion=view_promotion(made.event),
        replaced_item_ids=made.replaced,
        deduplicated=made.deduplicated,
    )
    return result, [*opened, *made.changes]


PROMOTE_TO_SCOPE = register(
    Action(
        "promote_to_scope",
        "Let a memory enter another scope as a new row that can be traced to its source; from an agent it waits for a person.",
        PromoteToScopeInput,
        PromoteToScopeResult,
        Right.PROMOTE,
        _promote_target,
        _prepare_promotion,
        _promote,
        known=_known_promotion,
        reviewed=True,
        reverse=reverse,
        undone_as=("retract_item", "demote_from_scope"),
    )
)


@dataclass(frozen=True, slots=True)
class _Raise:
    source: MemoryItem
    refs: dict[str, list[EvidenceRef]]


def _raise_target(given: RaiseTierInput, ctx: Ctx) -> Target:
    item = selectors.get_item(given.memory_item_id, ctx, within=given.scope_context)
    scope, owned = own_scope(item, ctx)
    rests_on = [*given.supporting_refs, *given.verification_refs, *given.teaching_refs]
    about = Target(item.domain_id, (scope,), owned, subject=f"raise_tier:{item.id}:{given.tier}")
    return resting(about, rests_on, ctx)


def _prepare_raise(given: RaiseTierInput, ctx: Ctx) -> _Raise:
    source = selectors.get_item(given.memory_item_id, ctx, within=given.scope_context)
    refs = {
        "supporting": checked("supporting_refs", given.supporting_refs, source, ctx),
        "verification": checked("verification_refs", given.verification_refs, source, ctx),
        "teaching": checked("teaching_refs", given.teaching_refs, source, ctx),
    }
    require_proof(refs, source)
    require_in_force(source)
    _require_enough(given, source, refs)
    require_in_use(source)
    return _Raise(source, refs)


def _require_enough(given: RaiseTierInput, source: MemoryItem, refs: dict[str, list[EvidenceRef]]) -> None:
    against = source.evidence.filter(role="counterexample").count()
    require_evidence(given.tier, source, refs, against)


def _raise(given: RaiseTierInput, ready: _Raise, ctx: Ctx) -> Applied[RaiseTierResult]:
    lock_scopes({ready.source.scope_id, *scopes_of_proof(ready.refs)})
    require_proof(ready.refs, ready.source)
    _require_enough(given, ready.source, ready.refs)
    columns = tier_columns(given.tier, given.field or ready.source.field)
    making = Making("raised", given.reason, text=given.text, refs=ready.refs, columns=columns, decided=True)
    made = make(ready.source, ready.source.scope, making, ctx)
    view = selectors.view_item(selectors.item_by_id(made.item.pk))
    return RaiseTierResult(item=view, promotion=view_promotion(made.event)), made.changes


RAISE_TIER = register(
    Action(
        "raise_tier",
        "Make tiered knowledge of a memory, on enough distinct evidence; the row exists only once a person decided.",
        RaiseTierInput,
        RaiseTierResult,
        Right.PROMOTE,
        _raise_target,
        _prepare_raise,
        _raise,
        reviewed=True,
        reverse=reverse,
        undone_as=("retract_item", "demote"),
    )
)


def _lineage_target(given: LineageInput, ctx: Ctx) -> Target:
    item = selectors.get_item(given.memory_item_id, ctx, within=given.scope_context)
    scope, owned = own_scope(item, ctx)
    return Target(item.domain_id, (scope,), owned)


LINEAGE = register(
    Action(
        "lineage",
        "Show where a memory comes from, up to the conversation, and every copy that was made of it, with what happened.",
        LineageInput,
        LineageResult,
        Right.READ,
        _lineage_target,
        lambda given, ctx: lineage_of(selectors.get_item(given.memory_item_id, ctx, within=given.scope_context), ctx),
    )
)
