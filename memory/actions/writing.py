"""The action that writes one memory item by itself."""

from __future__ import annotations

from governance import gate
from governance.contracts import QueuedAnswer
from kernel.actions import Action, Target, register
from kernel.context import Ctx, Right
from memory.actions.place import allowed_types
from memory.contracts.writing import WriteMemoryItemInput, WriteMemoryItemResult
from memory.services.reversing import reverse
from memory.services.writing import Prepared, apply, prepare, subject_of
from scopes.selectors import check_ref, require_domain


def _target(given: WriteMemoryItemInput, ctx: Ctx) -> Target:
    require_domain(given.domain_id, ctx)
    check_ref(given.scope, given.domain_id, allowed_types(given.domain_id, ctx))
    subject, evidence = subject_of(given, ctx)
    return Target(given.domain_id, (given.scope.name,), subject=subject, evidence=evidence)


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
    )
)


def hold_back(given: WriteMemoryItemInput, ctx: Ctx) -> QueuedAnswer | None:
    """Queue the item where policy wants a person to look at it first; None where the commit may store it."""
    return gate.queue_within(WRITE_MEMORY_ITEM, given, ctx)
