"""Actions on memory items: look at one or at several, list them."""

from __future__ import annotations

from uuid import UUID

from kernel.actions import Action, Target, register
from kernel.context import Ctx, Right
from kernel.errors import NotFoundError
from kernel.paging import page
from memory import selectors
from memory.contracts.items import (
    GetMemoryItemInput,
    GetMemoryItemResult,
    ListMemoryItemsInput,
    ListMemoryItemsResult,
    ShowMemoryItemsInput,
    ShowMemoryItemsResult,
)
from memory.models import MemoryItem
from scopes.selectors import require_domain


def _item_target(given: GetMemoryItemInput, ctx: Ctx) -> Target:
    item = selectors.get_item(given.id, ctx, within=given.scope_context)
    name = item.scope.name
    owned = frozenset({name}) if item.scope.owner == ctx.actor.id else frozenset()
    return Target(item.domain_id, (name,), owned)


def _get_item(given: GetMemoryItemInput, ctx: Ctx) -> GetMemoryItemResult:
    item = selectors.get_item(given.id, ctx, "chunk", "source_message", within=given.scope_context)
    versions = selectors.versions_of(item, ctx)
    return GetMemoryItemResult(
        item=selectors.view_item(item),
        text=item.chunk.text if hasattr(item, "chunk") else item.statement,
        successor_id=item.successor_id,
        versions=[selectors.view_item(row) for row in versions],
        history=selectors.history_of([item, *versions]),
        provenance=selectors.provenance_of(item),
    )


GET_MEMORY_ITEM = register(
    Action(
        "get_memory_item",
        "Show one memory with its versions, history and where it comes from.",
        GetMemoryItemInput,
        GetMemoryItemResult,
        Right.READ,
        _item_target,
        _get_item,
    )
)


def _named(given: ShowMemoryItemsInput, ctx: Ctx) -> dict[UUID, MemoryItem]:
    """The items named that the actor may see, read once in the call. Raises NotFoundError where there is none."""
    rows = ctx.once(("items", *given.ids), lambda: selectors.visible_items(ctx).filter(pk__in=given.ids).in_bulk())
    if not rows:
        raise NotFoundError("No memory item among these ids that you can see.")
    return rows


def _named_target(given: ShowMemoryItemsInput, ctx: Ctx) -> Target:
    """The domain in which they lie; the installation where they lie in several."""
    domains = {row.domain_id for row in _named(given, ctx).values()}
    return Target(domains.pop() if len(domains) == 1 else None, scopes=())


def _get_items(given: ShowMemoryItemsInput, ctx: Ctx) -> ShowMemoryItemsResult:
    rows, wanted = _named(given, ctx), list(dict.fromkeys(given.ids))
    return ShowMemoryItemsResult(
        items=[selectors.view_item(rows[each]) for each in wanted if each in rows],
        missing=[each for each in wanted if each not in rows],
    )


SHOW_MEMORY_ITEMS = register(
    Action(
        "show_memory_items",
        "Show several memories by their ids: what each says, where it lies, and whether it holds.",
        ShowMemoryItemsInput,
        ShowMemoryItemsResult,
        Right.READ,
        _named_target,
        _get_items,
    )
)


def _items_target(given: ListMemoryItemsInput, ctx: Ctx) -> Target:
    require_domain(given.domain_id, ctx)
    return Target(given.domain_id, scopes=())


def _list_items(given: ListMemoryItemsInput, ctx: Ctx) -> ListMemoryItemsResult:
    found, cursor = page(selectors.filter_items(given, ctx), given, "id", UUID, newest_first=True)
    return ListMemoryItemsResult(items=[selectors.view_item(row) for row in found], next_cursor=cursor)


LIST_MEMORY_ITEMS = register(
    Action(
        "list_memory_items",
        "List the memories you may read in one domain, newest first.",
        ListMemoryItemsInput,
        ListMemoryItemsResult,
        Right.READ,
        _items_target,
        _list_items,
        resource="memory_items",
    )
)
