"""Reading memory items: which are current, which may be seen, and where each comes from."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

from django.db.models import Exists, OuterRef, Q, QuerySet

from governance.selectors import subjects_proposed
from kernel.compiled import Given, compiled, tuple_of
from kernel.context import Ctx
from kernel.db import checked
from kernel.errors import NotFoundError
from memory.contracts.items import (
    TRUSTED,
    HistoryStep,
    ItemView,
    Lifecycle,
    ListMemoryItemsInput,
    ProvenanceView,
    Status,
    Tier,
)
from memory.models import KnowledgeEvent, MemoryItem
from memory.selectors.sight import in_sight
from scopes.contracts import ScopeContext, ScopeView
from scopes.selectors import visible_scopes

MAX_VERSIONS = 50
MAX_STEPS = 200


def visible_items(ctx: Ctx) -> QuerySet[MemoryItem]:
    """The base queryset: items of the scopes that the actor may read, but those that were narrowed to another scope."""
    rows = MemoryItem.objects.filter(*in_sight(ctx)).filter(not_narrowed_away(ctx))
    return rows.select_related("scope", "source_session")


def not_narrowed_away(ctx: Ctx) -> Q:
    """A filter of items: those that were narrowed to no other scope, or to one that the actor reads."""
    return Q(narrowed_to=None) | Q(Exists(visible_scopes(ctx).filter(pk=OuterRef("narrowed_to_id"))))


def is_current(valid_at: Any, recorded_at: datetime | None = None) -> Q:
    """The one predicate of what is current: trusted, active, the version in force, and valid in the world at a moment.

    With `recorded_at`, what was in force in the system at that moment, whatever became of it since.
    """
    holds = Q(*checked(lifecycle_status__in=TRUSTED))
    holds &= Q(valid_from=None) | Q(valid_from__lte=valid_at)
    holds &= Q(valid_to=None) | Q(valid_to__gt=valid_at)
    if recorded_at is None:
        return holds & Q(*checked(status=Status.ACTIVE), current_until=None)
    return holds & Q(recorded_at__lte=recorded_at) & (Q(current_until=None) | Q(current_until__gt=recorded_at))


def held_at(ids: Sequence[UUID], valid_at: datetime, recorded_at: datetime | None) -> list[UUID]:
    """Those of the items that hold for a moment of the world, as known at a moment of the system or, without one, now.

    What was superseded by a version whose validity begins later holds until then: its range ends where that of its
    successor begins. Neither what was retracted nor what a later version covers holds.
    """
    known = Q() if recorded_at is None else Q(recorded_at__lte=recorded_at)
    begun = Q(valid_from=None) | Q(valid_from__lte=valid_at)
    later = MemoryItem.objects.filter(
        known, begun, scope_id=OuterRef("scope_id"), type=OuterRef("type"), key=OuterRef("key"),
        version__gt=OuterRef("version"),
    )  # fmt: skip
    open_still = (
        Q(current_until=None) if recorded_at is None else Q(current_until=None) | Q(current_until__gt=recorded_at)
    )
    of_its_time = Q(successor__valid_from__gt=valid_at) & ~Q(status=Status.RETRACTED) & ~Exists(later)
    rows = MemoryItem.objects.filter(open_still | of_its_time, pk__among=ids)
    holding = set(rows.order_by().values_list("pk", flat=True))
    return [each for each in ids if each in holding]


def current_items(domain_id: Any, scope_keys: Any, valid_at: Any) -> QuerySet[MemoryItem]:
    """The current items of scopes that the caller was found to be allowed to read. Each may be a value to be given."""
    return MemoryItem.objects.filter(is_current(valid_at), *checked(domain_id=domain_id), scope_id__among=scope_keys)


def get_item(item_id: UUID, ctx: Ctx, *related: str, within: ScopeContext | None = None) -> MemoryItem:
    """One visible item, read together with its `related` rows. A given context only narrows: an item of none of the
    scopes that it reads is not there. Raises NotFoundError."""
    row = visible_items(ctx).select_related("scope", "source_session", *related).filter(pk=item_id).first()
    if row is None or not is_within(row, within):
        raise NotFoundError(f"No memory item {str(item_id)!r} that you can see.")
    return row


def is_within(row: MemoryItem, context: ScopeContext | None) -> bool:
    """Whether an item is of one of the scopes that a given context reads; without one, every item is."""
    return context is None or any(
        (ref.name, ref.domain_id or row.domain_id) == (row.scope.name, row.domain_id) for ref in context.read
    )


def item_by_id(item_id: UUID) -> MemoryItem:
    """An item that the call at hand has just changed and may answer, with what shows it."""
    return MemoryItem.objects.select_related("scope", "source_session").get(pk=item_id)


def filter_items(given: ListMemoryItemsInput, ctx: Ctx) -> QuerySet[MemoryItem]:
    """Visible items that fit the filters."""
    rows = visible_items(ctx).filter(domain_id=given.domain_id)
    if given.scope is not None:
        rows = rows.filter(scope__scope_type=given.scope.type, scope__external_id=given.scope.id)
    wanted = {"type": given.type, "key": given.key, "status": given.status, "lifecycle_status": given.lifecycle_status}
    rows = rows.filter(**{column: value for column, value in wanted.items() if value is not None})
    if given.overdue:
        rows = rows.filter(review_by__lt=ctx.now)
    if given.proposable:
        rows = _never_proposed(rows, given.domain_id)
    past = given.history or given.status in (Status.SUPERSEDED, Status.RETRACTED)
    return rows if past else rows.filter(current_until=None)


def _never_proposed(rows: QuerySet[MemoryItem], domain_id: str) -> QuerySet[MemoryItem]:
    """Trusted items in force, below the widest scope, that were neither copied to another scope nor proposed to one."""
    proposed = {subject.split(":")[1] for subject in subjects_proposed(domain_id, "promote_to_scope")}
    copied = Exists(KnowledgeEvent.objects.filter(item=OuterRef("pk"), kind="copied"))
    kept = rows.filter(~copied, status=Status.ACTIVE, lifecycle_status__in=TRUSTED, source_item=None)
    return kept.exclude(scope__scope_type="global").exclude(pk__in=[UUID(text) for text in proposed])


def versions_of(item: MemoryItem, ctx: Ctx) -> list[MemoryItem]:
    """The other visible versions of an item's key in its scope, newest first."""
    if item.key is None:
        return []
    rows = visible_items(ctx).filter(scope_id=item.scope_id, type=item.type, key=item.key).exclude(pk=item.pk)
    return list(rows.order_by("-recorded_at", "-id")[:MAX_VERSIONS])


def history_of(items: Sequence[MemoryItem]) -> list[HistoryStep]:
    """The steps in the life of these items, oldest first."""
    rows = KnowledgeEvent.objects.filter(item__in=[item.pk for item in items]).order_by("created_at", "id")[:MAX_STEPS]
    return [
        HistoryStep(
            item_id=row.item_id,
            kind=row.kind,
            from_status=row.from_status,
            to_status=row.to_status,
            reason=row.reason,
            actor=row.actor_name,
            at=row.created_at,
        )
        for row in rows
    ]


def provenance_of(item: MemoryItem) -> ProvenanceView:
    """Where an item comes from."""
    message = item.source_message
    return ProvenanceView(
        origin=item.origin,
        session_id=item.source_session.external_id if item.source_session else None,
        turn_id=item.source_turn_id,
        message_id=(message.external_id or str(message.id)) if message else None,
        source_item_id=item.source_item_id,
        promotion_event_id=item.promotion_event,
        evidence=[{"kind": link.kind, "id": link.ref, "role": link.role} for link in item.evidence.all()],
    )


def view_item(row: MemoryItem) -> ItemView:
    """An item as answers show it."""
    return ItemView(
        id=row.id,
        type=row.type,
        key=row.key,
        value=row.value,
        statement=row.statement,
        confidence=row.confidence,
        status=Status(row.status),
        lifecycle_status=Lifecycle(row.lifecycle_status),
        tier=Tier(row.tier),
        pinned=row.pinned,
        current=row.current_until is None and row.status == Status.ACTIVE,
        domain_id=row.domain_id,
        scope=ScopeView(type=row.scope.scope_type, id=row.scope.external_id),
        source_session_id=row.source_session.external_id if row.source_session else None,
        version=row.version,
        valid_from=row.valid_from,
        valid_to=row.valid_to,
        recorded_at=row.recorded_at,
        current_until=row.current_until,
        review_by=row.review_by,
        author=row.author_name,
    )


@dataclass(frozen=True, slots=True)
class Taught:
    """What one message taught: the newest memory of it that is still in force, and how much of its text is no longer."""

    item_id: UUID | None
    spent_chars: int

    def is_stale(self) -> bool:
        """Whether all that the message taught was superseded or retracted."""
        return self.item_id is None and self.spent_chars > 0


@compiled(tuple_of)
def _taught(domain: Given, scopes: Given, messages: Given) -> QuerySet[MemoryItem, Any]:
    here = checked(domain_id=domain, scope_id__among=scopes)
    rows = MemoryItem.objects.filter(*here, source_message_id__among=messages).order_by("id")
    return rows.values_list("source_message_id", "id", "statement", "current_until", "lifecycle_status")


def taught_by(message_ids: Sequence[UUID], domain_id: str, scope_keys: Sequence[int]) -> Mapping[UUID, Taught]:
    """What each of the messages taught in these scopes; nothing for one that taught nothing."""
    found: dict[UUID, Taught] = {}
    rows = _taught(domain=domain_id, scopes=scope_keys, messages=message_ids)
    for message_id, item_id, said, until, lifecycle in rows:
        known = found.get(message_id, Taught(None, 0))
        in_force = until is None and lifecycle in TRUSTED
        spent = len(said) if until is not None else 0
        found[message_id] = Taught(item_id if in_force else known.item_id, known.spent_chars + spent)
    return found
