"""What became of a memory that is no longer in force: the version that took its place."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from django.http import HttpRequest, QueryDict
from django.urls import reverse

from governance.adminbase import ctx_of, page_url
from kernel.context import Ctx
from memory.admin.deeds import CORRECT, Deed, hindrance
from memory.admin.listed import looked_up
from memory.admin.wording import kept, typed, value_fields
from memory.models import MemoryItem
from memory.selectors import visible_items

AT_ONCE, STRIDES = 10, 5  # versions that one look ahead follows, and how many of these there are
_AHEAD = ["__".join(["successor"] * steps) for steps in range(1, AT_ONCE + 1)]


def newest_of(row: MemoryItem, ctx: Ctx) -> MemoryItem:
    """The last version that took the place of a row, as far as the person may see them; the row itself where none did.
    Two statements for ten versions, and no more than fifty are followed."""
    for _ in range(STRIDES):
        if not _is_replaced(row):
            break
        ahead = visible_items(ctx).filter(pk=row.pk).values_list(*_AHEAD).first() or ()
        known = visible_items(ctx).in_bulk([pk for pk in ahead if pk is not None])
        begun = row
        while _is_replaced(row) and row.successor_id in known:
            row = known[row.successor_id]
        if row is begun:
            break
    return row


def _is_replaced(row: MemoryItem) -> bool:
    return row.successor_id is not None and row.current_until is not None


def instead_of(deed: Deed, row: MemoryItem, request: HttpRequest, steps: Sequence[str]) -> dict[str, Any]:
    """What an act page says of a replaced memory: what took its place, read through the gate so that the look is on
    record, where the same act is done on that, and what was typed, to go along. Empty where nothing took its place."""
    new, sent = newest_of(row, ctx_of(request)), request.POST
    if new.pk == row.pk:
        return {}
    may = not hindrance(deed, new)
    shown = looked_up("show_memory_items", [new], request, "items").get(new.pk)
    return {
        "item": new,
        "statement": shown.statement if shown else "",
        "page": page_url(new),
        "act": reverse("admin:memory_item_act", args=[new.pk, deed.action]) if may else "",
        "kept": [pair for pair in kept(sent, steps) if pair[1] and pair not in _as_it_was(deed, row, sent)],
    }


def _as_it_was(deed: Deed, row: MemoryItem, sent: QueryDict) -> set[tuple[str, str]]:
    """What the form filled in by itself from the old version, which nobody typed."""
    if deed is not CORRECT:
        return set()
    told = {"text": row.statement, **{f"field.{field.name}": field.text for field in value_fields(row)}}
    return {
        (name, str(sent.get(name, ""))) for name, text in told.items() if name in sent and typed(sent, name) == text
    }
