"""Actions that write one part of what is learned by itself: an item, a relation, a denial."""

from __future__ import annotations

from kernel.actions import Action, Target, register
from kernel.context import Ctx, Right
from memory.actions.place import allowed_types
from memory.contracts.writing import (
    WriteDenialInput,
    WriteDenialResult,
    WriteMemoryItemInput,
    WriteMemoryItemResult,
    WriteRelationInput,
    WriteRelationResult,
)
from memory.services import saying
from memory.services.reversing import reverse
from memory.services.writing import Prepared, apply, prepare, subject_of
from scopes.selectors import check_ref, require_domain


def _check_place(given: WriteMemoryItemInput | WriteRelationInput | WriteDenialInput, ctx: Ctx) -> None:
    """Refuse a domain that the caller does not reach and a scope that is not in it."""
    require_domain(given.domain_id, ctx)
    check_ref(given.scope, given.domain_id, allowed_types(given.domain_id, ctx))


def _target(given: WriteMemoryItemInput, ctx: Ctx) -> Target:
    _check_place(given, ctx)
    subject, evidence, rests_on = subject_of(given, ctx)
    return Target(given.domain_id, (given.scope.name,), subject=subject, evidence=evidence, rests_on=rests_on)


def _prepare(given: WriteMemoryItemInput, ctx: Ctx) -> Prepared:
    return prepare(given, allowed_types(given.domain_id, ctx), ctx)


WRITE_MEMORY_ITEM = register(
    Action(
        "write_memory_item",
        "Write one memory item to a scope, in the grammar of turn_events; policy may let it wait for a person.",
        WriteMemoryItemInput,
        WriteMemoryItemResult,
        Right.WRITE,
        _target,
        _prepare,
        apply,
        reverse=reverse,
        undone_as=("retract_item",),
    )
)


def _relation_target(given: WriteRelationInput, ctx: Ctx) -> Target:
    _check_place(given, ctx)
    return Target(given.domain_id, (given.scope.name,), subject=saying.subject_of_relation(given))


WRITE_RELATION = register(
    Action(
        "write_relation",
        "Write one relation between two names to a scope; policy may let it wait for a person.",
        WriteRelationInput,
        WriteRelationResult,
        Right.WRITE,
        _relation_target,
        lambda given, ctx: saying.prepare(given, allowed_types(given.domain_id, ctx), ctx),
        saying.write_relation,
        reverse=saying.reverse_relation,
        undone_as=("retract_item",),
        judged_as=(WRITE_MEMORY_ITEM.name,),
    )
)


def _denial_target(given: WriteDenialInput, ctx: Ctx) -> Target:
    _check_place(given, ctx)
    return Target(given.domain_id, (given.scope.name,), subject=saying.subject_of_denial(given))


WRITE_DENIAL = register(
    Action(
        "write_denial",
        "Keep that something does not hold of which the scope knows nothing; policy may let it wait for a person.",
        WriteDenialInput,
        WriteDenialResult,
        Right.WRITE,
        _denial_target,
        lambda given, ctx: saying.prepare(given, allowed_types(given.domain_id, ctx), ctx),
        saying.write_denial,
        instead="A denial is in force for nothing: write with write_memory_item what holds, and that is what is shown.",
        judged_as=("retract_item", WRITE_MEMORY_ITEM.name),
    )
)
