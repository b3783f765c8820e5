"""Reading shadows: the rows of each key over several scopes, put in order by the one rule that composing uses."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING

from django.db.models import Count, Q, QuerySet

from governance.policies import ScopesPolicy, in_force
from kernel.context import Ctx
from kernel.db import byte_order, checked
from kernel.errors import InvalidInputError, NotFoundError
from kernel.ids import new_id
from kernel.paging import decode, encode
from memory.compose.values import KeyedRow
from memory.compose.winners import resolve
from memory.contracts.shadows import (
    InspectShadowsInput,
    InspectShadowsResult,
    KeyLadder,
    Rung,
    WhatIf,
    WhatIfResult,
)
from memory.models import MemoryItem
from memory.selectors.contexts import context_by_id
from memory.selectors.items import get_item, is_current, not_narrowed_away
from scopes.contracts import LEGACY_DOMAIN, ScopeView
from scopes.selectors import Resolved, partition_of, scope_rows, visible_scopes

if TYPE_CHECKING:
    from scopes.models import MemoryScope

NOWHERE = "Its scope is not among those read: nothing changes here."


@dataclass(frozen=True, slots=True)
class _Place:
    """Where and when to look."""

    domain_id: str
    scopes: Mapping[int, MemoryScope]
    at: datetime
    past: bool
    priority: Sequence[str]
    told: Q

    def rows(self) -> QuerySet[MemoryItem]:
        """The rows with a key that are, or were, in force there, but those that were narrowed to another scope since."""
        current = is_current(self.at, self.at if self.past else None)
        here = MemoryItem.objects.filter(
            current, self.told, *checked(domain_id=self.domain_id), scope_id__in=list(self.scopes), key__isnull=False
        )
        return here.order_by("id")


def inspect(given: InspectShadowsInput, resolved: Resolved | None, ctx: Ctx) -> InspectShadowsResult:
    """The ladders of the keys that several scopes hold, a page at a time; `resolved` is None for a recorded context."""
    place = _place(given, resolved, ctx)
    names, cursor = _keys(given, place)
    ladders = _ladders(names, place)
    return InspectShadowsResult(
        domain_id=place.domain_id,
        scopes=[ScopeView(type=row.scope_type, id=row.external_id) for row in place.scopes.values()],
        priority=list(place.priority),
        as_of=place.at,
        keys=[KeyLadder(type=kind, key=key, rungs=rungs) for (kind, key), rungs in ladders.items()],
        what_if=_thought(given.what_if, place, ctx) if given.what_if is not None else None,
        next_cursor=cursor,
    )


def _place(given: InspectShadowsInput, resolved: Resolved | None, ctx: Ctx) -> _Place:
    if resolved is None:
        return _recorded(given, ctx)
    rows = scope_rows(resolved.domain_id, resolved.read, resolved.partition)
    return _placed(resolved.domain_id, rows, ctx.now, ctx, past=False)


def _recorded(given: InspectShadowsInput, ctx: Ctx) -> _Place:
    """The scopes that a recorded context read, as far as the one who asks may see them, at its moment."""
    if given.context_id is None:
        raise InvalidInputError("give a session_id or a scope_context, or else a context_id")
    record = context_by_id(given.context_id, ctx)
    names = [f"{scope['type']}:{scope['id']}" for scope in record.package["debug"]["scopes_read"]]
    partition = record.actor_id if record.domain_id == LEGACY_DOMAIN else partition_of(record.domain_id, ctx)
    found = scope_rows(record.domain_id, names, partition)
    seen = set(visible_scopes(ctx).filter(pk__in=[row.pk for row in found]).values_list("pk", flat=True))
    return _placed(record.domain_id, [row for row in found if row.pk in seen], record.created_at, ctx, past=True)


def _placed(domain_id: str, rows: Iterable[MemoryScope], at: datetime, ctx: Ctx, *, past: bool) -> _Place:
    priority = in_force(domain_id, ctx).section(ScopesPolicy).conflict_priority
    told = not_narrowed_away(ctx) if past else Q()
    return _Place(domain_id, {row.key: row for row in rows}, at, past, priority, told)


def _keys(given: InspectShadowsInput, place: _Place) -> tuple[list[tuple[str, str]], str | None]:
    """One page of the types and keys that several scopes hold, in the order of their bytes."""
    rows = place.rows().order_by().values("type", "key").annotate(n=Count("id"))
    rows = rows.annotate(type_place=byte_order("type"), key_place=byte_order("key"))
    if given.type is not None:
        rows = rows.filter(type=given.type)
    rows = rows.filter(key=given.key) if given.key is not None else rows.filter(n__gt=1)
    after = decode(given, 2)
    if after is not None:
        rows = rows.filter(Q(type_place__gt=after[0]) | Q(type_place=after[0], key_place__gt=after[1]))
    found = [(row["type"], row["key"] or "") for row in rows.order_by("type_place", "key_place")[: given.limit + 1]]
    if len(found) <= given.limit:
        return found, None
    return found[: given.limit], encode(list(found[given.limit - 1]), given)


def _ladders(names: Sequence[tuple[str, str]], place: _Place) -> dict[tuple[str, str], list[Rung]]:
    if not names:
        return {}
    rows = place.rows().filter(type__in={kind for kind, _ in names}, key__in={key for _, key in names})
    by_key: defaultdict[tuple[str, str], list[MemoryItem]] = defaultdict(list)
    for row in rows:
        by_key[row.type, row.key or ""].append(row)
    return {name: _rungs(by_key[name], place) for name in names}


def _rungs(rows: Sequence[MemoryItem], place: _Place) -> list[Rung]:
    """The rows of one key in the order in which they count, by the rule of composing."""
    items = {row.pk: row for row in rows}
    winners, shadowed = resolve([_keyed(row, place.scopes[row.scope_id]) for row in rows], place.priority)
    rungs = [_rung(items[row.id], place) for row in winners]
    return [*rungs, *(_rung(items[each.loser_id], place, each.rule, each.reason) for each in shadowed)]


def _keyed(row: MemoryItem, scope: MemoryScope) -> KeyedRow:
    return KeyedRow(
        id=row.pk,
        type=row.type,
        key=row.key,
        scope_type=scope.scope_type,
        scope=scope.name,
        tier=row.tier,
        pinned=row.pinned,
        recorded_at=row.recorded_at,
    )


def _rung(row: MemoryItem, place: _Place, rule: str = "", reason: str = "") -> Rung:
    scope = place.scopes[row.scope_id]
    return Rung(
        memory_item_id=row.pk,
        scope=ScopeView(type=scope.scope_type, id=scope.external_id),
        statement=row.statement,
        tier=row.tier,
        pinned=row.pinned,
        recorded_at=row.recorded_at,
        wins=not rule,
        rule=rule,
        reason=reason,
    )


def _thought(asked: WhatIf, place: _Place, ctx: Ctx) -> WhatIfResult:
    """The ladder of the memory's key before and after; nothing is written."""
    item = get_item(asked.memory_item_id, ctx)
    if item.domain_id != place.domain_id:
        raise NotFoundError(f"No memory item {str(item.pk)!r} that you can see in {place.domain_id!r}.")
    if item.key is None:
        raise InvalidInputError("This memory has no key: it never gives way and never makes another give way.")
    rows = list(place.rows().filter(type=item.type, key=item.key))
    changed, explanation = _changed(asked, item, rows, place)
    before, after = _rungs(rows, place), _rungs(changed, place)
    if len(changed) < len(rows) and asked.target_scope is None:
        explanation += _follows(item, before, after)
    moves = [(rung.scope, rung.statement) for rung in before[:1]] != [
        (rung.scope, rung.statement) for rung in after[:1]
    ]
    return WhatIfResult(
        type=item.type, key=item.key, before=before, after=after, changes_winner=moves, explanation=explanation
    )


def _follows(item: MemoryItem, before: Sequence[Rung], after: Sequence[Rung]) -> str:
    """What that means for the key: another row counts only where the one that leaves did."""
    if before[0].memory_item_id != item.pk:
        return ". It gave way before too: the same row counts."
    return ", and the next row counts." if after else ", and no row of this key is left."


def _changed(asked: WhatIf, item: MemoryItem, rows: list[MemoryItem], place: _Place) -> tuple[list[MemoryItem], str]:
    if asked.target_scope is None:
        left = [row for row in rows if row.pk != item.pk]
        if len(left) == len(rows):
            return rows, NOWHERE
        word = "is demoted: it is no longer shown by itself" if asked.act == "demote" else "is retracted: it is gone"
        return left, f"The row of {item.scope.name} {word}"
    target = next((row for row in place.scopes.values() if row.name == asked.target_scope.name), None)
    if target is None:
        return rows, NOWHERE
    copy = MemoryItem(
        **{name: getattr(item, name) for name in ("domain_id", "type", "key", "value", "statement", "tier", "pinned")},
        id=new_id(),
        scope_id=target.pk,
        recorded_at=place.at,
    )
    kept = [row for row in rows if row.scope_id != target.pk]
    over = " in place of the row there" if len(kept) < len(rows) else ""
    return [*kept, copy], f"{target.name} gets a copy{over}; the source stays."
