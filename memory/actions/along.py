"""What goes along with an act on a memory: items named for the same decision, each checked, decided on and reported."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import Literal
from uuid import UUID

from kernel.actions import Change, Target
from kernel.context import Ctx, Right, suffices
from kernel.errors import ForbiddenError, InvalidInputError
from memory.contracts.items import Status
from memory.contracts.lifecycle import AlsoOutcome, AlsoView, ItemInput, Relation
from memory.models import MemoryItem
from memory.selectors import is_within, visible_items
from memory.selectors.near import view_also
from memory.services.copies import DoesNotFitError
from memory.services.items import is_governed
from memory.services.lifecycle import Done, UnchangedError
from scopes.selectors import held

Outcome = Literal["done", "already", "not_permitted", "not_found", "governed", "not_in_force", "does_not_fit"]
DECIDED = ("done", "already")


@dataclass(slots=True)
class Along:
    """What became of the items that were named along, all that changed, and how many agents are to be told."""

    outcomes: list[AlsoOutcome] = field(default_factory=list)
    changes: list[Change] = field(default_factory=list)
    told: int = 0

    def left_of(self, offered: Iterable[tuple[MemoryItem, Relation]]) -> list[AlsoView]:
        """Those of the offered items on which no decision was taken by now."""
        gone = {each.id for each in self.outcomes if each.outcome in DECIDED}
        return view_also((row, relation) for row, relation in offered if row.pk not in gone)


def own_scope(item: MemoryItem, ctx: Ctx) -> tuple[str, frozenset[str]]:
    """The scope of an item in written form, and whether it is a session that the actor opened."""
    name = item.scope.name
    return name, frozenset({name}) if item.scope.owner == ctx.actor.id else frozenset()


def target_along(item: MemoryItem, also: Sequence[UUID], given: ItemInput, ctx: Ctx, *scopes: str) -> Target:
    """What a call is about that acts on an item, in further `scopes`, and on others along with it: their scopes too, as
    far as the actor may write there."""
    scope, owned = own_scope(item, ctx)
    names = [scope, *scopes]
    for row in named_along(item, also, given, ctx):
        if _may_write(row, ctx):
            name, mine = own_scope(row, ctx)
            names.append(name)
            owned |= mine
    return Target(item.domain_id, tuple(dict.fromkeys(names)), owned)


def named_along(item: MemoryItem, also: Sequence[UUID], given: ItemInput, ctx: Ctx) -> list[MemoryItem]:
    """The visible items of the same domain, within the given context, that are named along with an item."""
    if not also:
        return []
    rows = visible_items(ctx).filter(domain_id=item.domain_id, pk__in=also)
    return [row for row in rows if is_within(row, given.scope_context)]


def decide_along(
    first: MemoryItem,
    also: Sequence[UUID],
    given: ItemInput,
    act: Callable[[MemoryItem], Done | None],
    ctx: Ctx,
) -> Along:
    """Act on each of the items that are named along with the first. The caller has let other writers of their scopes
    wait. `act` gives None where an item stood so before, and writes nothing where it raises that it does not fit."""
    along = Along()
    for item_id in dict.fromkeys(also):
        outcome, done = ("already", None) if item_id == first.pk else _decide(item_id, first, given, act, ctx)
        became = done.item.successor_id or done.item.pk if done is not None else None
        successor = became if became != item_id else None
        along.outcomes.append(AlsoOutcome(id=item_id, outcome=outcome, successor_id=successor))
        along.changes += done.changes if done is not None else []
        along.told += done.told if done is not None else 0
    return along


def _decide(
    item_id: UUID, first: MemoryItem, given: ItemInput, act: Callable[[MemoryItem], Done | None], ctx: Ctx
) -> tuple[Outcome, Done | None]:
    row = next(iter(named_along(first, [item_id], given, ctx)), None)
    if row is None:
        return "not_found", None
    if not _may_write(row, ctx):
        return "not_permitted", None
    if ctx.approval is not None and row.scope_id != first.scope_id and is_governed(row):
        return "governed", None  # who approved decides in the scope of the first item, and perhaps not here
    try:
        done = act(row)
    except ForbiddenError:
        return "governed", None
    except UnchangedError:
        return "already", None
    except NotInForceError:
        return "not_in_force", None
    except (DoesNotFitError, InvalidInputError):
        return "does_not_fit", None
    return ("done", done) if done is not None else ("already", None)


class NotInForceError(DoesNotFitError):
    """This memory is history or out of use, so there is nothing to correct or to narrow; nothing was written."""


def require_held(row: MemoryItem) -> None:
    """Raise NotInForceError for an item that is named along and is history by now."""
    if row.current_until is not None or row.status != Status.ACTIVE:
        raise NotInForceError


def _may_write(row: MemoryItem, ctx: Ctx) -> bool:
    """Whether the actor may change an item where it lies, by the rule that the gate has for the first one."""
    return suffices(held(ctx, row.domain_id, *own_scope(row, ctx)), Right.WRITE, ctx.actor.kind, or_decide=True)
