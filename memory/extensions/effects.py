"""What a change would do to memory: rows, index lines, who gains or loses sight, and the contexts that showed the rows."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from uuid import UUID

from governance.contracts.presenting import EffectLine
from kernel.actions import Change
from kernel.context import Ctx
from memory.contracts.items import TRUSTED, Status
from memory.extensions.showing import TABLE, short
from memory.models import ContextShown, MemoryItem
from scopes.selectors import readers_of

MAX_NAMED = 20


def effect_on_memory(changes: Sequence[Change], ctx: Ctx) -> list[EffectLine]:
    """Lines of the preview; runs while the change is in force, inside the transaction that is rolled back."""
    ours = {UUID(change.id): change for change in changes if change.table == TABLE}
    if not ours:
        return []
    rows = list(MemoryItem.objects.filter(pk__in=ours).select_related("scope", "narrowed_to").order_by("id"))
    added = [row for row in rows if ours[row.pk].before is None]
    changed = [row for row in rows if ours[row.pk].before is not None]
    lines = [
        _rows("new memories", added, "added to"),
        _rows("memories changed", changed, "changed in"),
        EffectLine(kind="index", what="index lines", count=len(rows)),
        *_sight(added, changed),
    ]
    known = [row.pk for row in changed] + _sources(added)
    records = ContextShown.objects.filter(object_id__in=known).values("record").distinct().count()
    lines.append(EffectLine(kind="contexts", what="recorded contexts that showed these memories", count=records))
    return [line for line in lines if line.count]


def _rows(what: str, rows: Sequence[MemoryItem], done: str) -> EffectLine:
    named = [short(row.statement) for row in rows[:MAX_NAMED]]
    return EffectLine(kind="rows", what=what, count=len(rows), rows=named, instead_of=f"{done} {TABLE}")


def _sources(added: Iterable[MemoryItem]) -> list[UUID]:
    return [row.source_item_id for row in added if row.source_item_id is not None]


def _sight(added: Sequence[MemoryItem], changed: Sequence[MemoryItem]) -> list[EffectLine]:
    """Whose contexts may hold something that they could not, and whose no longer hold what they could."""
    gained, lost = (
        _readers(row for row in added if _is_shown(row)),
        _readers(row for row in changed if not _is_shown(row)),
    )
    sources = MemoryItem.objects.filter(pk__in=_sources(added)).select_related("scope")
    knew = _readers(sources)
    gains, loses = sorted(gained - lost - knew), sorted(lost - gained)
    return [
        EffectLine(kind="gains_sight", what="principals gain sight", count=len(gains), who=gains[:MAX_NAMED]),
        EffectLine(kind="loses_sight", what="principals lose sight", count=len(loses), who=loses[:MAX_NAMED]),
    ]


def _is_shown(row: MemoryItem) -> bool:
    return row.current_until is None and row.status == Status.ACTIVE and row.lifecycle_status in TRUSTED


def _readers(rows: Iterable[MemoryItem]) -> set[str]:
    places = {(row.domain_id, row.scope.name, row.scope.owner) for row in rows}
    return {name for domain_id, scope, owner in places for name in readers_of(domain_id, scope, owner)}
