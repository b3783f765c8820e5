"""The action that derives the index of a domain anew."""

from __future__ import annotations

from kernel.actions import Action, Target, register
from kernel.context import Ctx, Right
from memory.contracts.indexing import RebuildIndexInput, RebuildIndexResult
from memory.services import indexing
from scopes.selectors import require_domain


def _target(given: RebuildIndexInput, ctx: Ctx) -> Target:
    require_domain(given.domain_id, ctx)
    return Target(given.domain_id)


REBUILD_INDEX = register(
    Action(
        "rebuild_index",
        "Derive index texts and entries of a domain anew from items, turns and documents, one batch a call; answers stay "
        "available.",
        RebuildIndexInput,
        RebuildIndexResult,
        Right.OPERATE,
        _target,
        lambda given, ctx: None,
        indexing.apply,
        queueable=False,
    )
)
