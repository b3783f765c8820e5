"""Reading the line of a memory: what it was made from, and what was made of it, as far as the one who asks may see."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from django.db.models import Exists, OuterRef, Q

from kernel.context import Ctx
from memory.contracts.items import TRUSTED, Status
from memory.contracts.promotion import LineageNode, LineageResult, OriginView, PromotionView
from memory.models import KnowledgeEvent, MemoryItem, Message
from memory.selectors.events import visible_messages, visible_turns
from memory.selectors.items import history_of, view_item, visible_items
from scopes.contracts import ScopeView

MAX_NODES = 200
MAX_DEPTH = 50
MAX_SAID, MAX_TEXT = 10, 4000  # messages and characters of a turn
MADE = ("promoted", "narrowed", "raised")
# What the event of an act that made a row tells of it; others of these kinds, such as of a candidate that was asserted
# again or of a row that was moved in, are steps of one row alone.
TOLD = ("source_item_id", "source_scope", "target_scope", "proposed_by", "reviewer", "claimed_reviewer", "reworded")
_WAS_COPIED = Exists(KnowledgeEvent.objects.filter(item=OuterRef("pk"), kind="copied"))


@dataclass(frozen=True, slots=True)
class _Made:
    """That one row was made from another."""

    source: UUID
    item: UUID


def promoted_before(source: MemoryItem, scope: str, text: str | None) -> MemoryItem | None:
    """The trusted row in force that an earlier promotion of the source to the scope gave, worded alike."""
    events = KnowledgeEvent.objects.filter(item=source, kind="copied").order_by("-id")
    ids = [
        row.metadata["item_id"]
        for row in events[:MAX_NODES]
        if "item_id" in row.metadata and row.metadata["scope"] == scope
    ]
    rows = MemoryItem.objects.filter(
        pk__in=ids, current_until=None, status=Status.ACTIVE, lifecycle_status__in=TRUSTED
    )
    found = rows.select_related("scope", "source_session").order_by("-id")
    return next((row for row in found if text is None or row.statement == text.strip()), None)


def promotion_of(item: MemoryItem, source: UUID) -> PromotionView | None:
    """How an item was made from another."""
    return _promotions([item.pk]).get((item.pk, source))


def _promotions(item_ids: Sequence[UUID]) -> dict[tuple[UUID, UUID], PromotionView]:
    """How items were made, by item and source: by the act that made the row, else the last of several."""
    events = KnowledgeEvent.objects.filter(item__in=item_ids, kind__in=MADE).select_related("item").order_by("id")
    rows = sorted(events[: 2 * MAX_NODES], key=lambda row: row.id == row.item.promotion_event)
    views = [(row.item_id, view_promotion(row)) for row in rows if row.metadata.keys() >= set(TOLD)]
    return {(item_id, view.source_item_id): view for item_id, view in views}


def view_promotion(event: KnowledgeEvent) -> PromotionView:
    """A promotion as answers show it."""
    told = event.metadata
    return PromotionView.model_validate(
        {
            "event_id": event.id,
            "kind": event.kind,
            "at": event.created_at,
            "source_item_id": UUID(told["source_item_id"]),
            "source_scope": _scope(told["source_scope"]),
            "target_scope": _scope(told["target_scope"]),
            "proposed_by": told["proposed_by"],
            "reviewer": told["reviewer"],
            "claimed_reviewer": told["claimed_reviewer"],
            "reason": event.reason,
            "reworded": told["reworded"],
            "supporting": told.get("supporting") or [{"kind": "memory", "id": told["source_item_id"]}],
            "verification": told.get("verification", []),
        }
    )


@dataclass(frozen=True, slots=True)
class Line:
    """The rows of a line, the oldest first, and where it begins; `rows` are those that the caller may read."""

    nodes: list[LineageNode]
    origin: OriginView
    rows: dict[UUID, MemoryItem]
    truncated: bool


def lineage_of(item: MemoryItem, ctx: Ctx) -> LineageResult:
    """The line of a visible item with what happened to its rows."""
    line = line_of(item, ctx)
    return LineageResult(
        item=view_item(item),
        origin=line.origin,
        nodes=line.nodes,
        events=history_of([line.rows[node.item_id] for node in line.nodes if node.item_id in line.rows]),
        truncated=line.truncated,
    )


def line_of(item: MemoryItem, ctx: Ctx) -> Line:
    """The line of a visible item. A row above it that the caller may not read is named by its id alone, which the row
    below tells anyway; copies that the caller may not read are left out."""
    above, rows = _above(item, ctx)
    below, truncated = _below(item, ctx)
    rows[item.pk] = item
    rows |= {row.pk: row for _, _, row in below}
    placed: list[tuple[int, UUID, UUID | None]] = []
    for place, made in enumerate(reversed(above)):
        placed.append((place - len(above), made.source, above[len(above) - place].source if place else None))
    placed.append((0, item.pk, above[0].source if above else None))
    placed += [(level, row.pk, source) for level, source, row in below]
    made_how = _promotions([item_id for _, item_id, _ in placed]) if len(placed) > 1 else {}
    nodes = [
        LineageNode(
            item_id=item_id,
            depth=depth,
            from_item_id=source,
            item=view_item(rows[item_id]) if item_id in rows else None,
            promotion=made_how.get((item_id, source)) if item_id in rows and source is not None else None,
        )
        for depth, item_id, source in placed
    ]
    return Line(nodes, _origin(rows.get(nodes[0].item_id), item, ctx), rows, truncated)


def _above(item: MemoryItem, ctx: Ctx) -> tuple[list[_Made], dict[UUID, MemoryItem]]:
    """What the item was made from, and what that was made from, the nearest first; and those of these rows that the
    caller may read."""
    line: list[_Made] = []
    readable: dict[UUID, MemoryItem] = {}
    seen = Exists(visible_items(ctx).filter(pk=OuterRef("pk")))
    sources: Any = MemoryItem.objects.select_related("scope", "source_session").annotate(seen=seen)
    current: Any = item
    while current.source_item_id is not None and len(line) < MAX_DEPTH:
        line.append(_Made(current.source_item_id, current.pk))
        current = sources.get(pk=current.source_item_id)
        readable |= {current.pk: current} if current.seen else {}
    return line, readable


def _below(item: MemoryItem, ctx: Ctx) -> tuple[list[tuple[int, UUID, MemoryItem]], bool]:
    """The visible copies, level by level: depth, what each was made from, the copy. True: there are more."""
    found: list[tuple[int, UUID, MemoryItem]] = []
    seen = {item.pk}
    level: Sequence[UUID] = [item.pk]
    depth = 0
    while level and depth < MAX_DEPTH:
        depth += 1
        made = _made_of(level)
        wanted = [each.item for each in made if each.item not in seen]
        visible: Any = visible_items(ctx).filter(pk__in=wanted).annotate(was_copied=_WAS_COPIED)
        rows = {row.pk: row for row in visible}
        onward = {row.pk for row in visible if row.was_copied}
        for each in made:
            if each.item in rows and each.item not in seen:
                if len(found) == MAX_NODES:
                    return found, True
                seen.add(each.item)
                found.append((depth, each.source, rows[each.item]))
        level = [row.pk for place, _, row in found if place == depth and row.pk in onward]
    return found, False


def _made_of(sources: Sequence[UUID]) -> list[_Made]:
    """Which rows were made from these, in the order in which they were made."""
    events = KnowledgeEvent.objects.filter(item__in=sources, kind="copied").order_by("id")
    rows = [row for row in events[: MAX_NODES + 1] if "item_id" in row.metadata]
    return [_Made(row.item_id, UUID(row.metadata["item_id"])) for row in rows]


def _origin(first: MemoryItem | None, item: MemoryItem, ctx: Ctx) -> OriginView:
    """Where the line begins; every row of it names the same turn. What was said there is told to its readers only."""
    message = item.source_message
    heard = _heard(item.source_turn_id, message, ctx) if item.source_turn_id else []
    seq, at = heard[0][:2] if heard else (None, None)
    text = (message.content if heard and heard[0][2] else None) if message else _said(heard)
    return OriginView(
        session_id=item.source_session.external_id if item.source_session else None,
        turn_id=item.source_turn_id,
        turn_seq=seq,
        message_id=(message.external_id or str(message.id)) if message else None,
        author=first.author_name if first is not None else "",
        at=message.created_at if message else at,
        text=text,
    )


def _heard(turn_id: UUID, message: Message | None, ctx: Ctx) -> list[tuple[Any, ...]]:
    """Number and moment of a turn; with a message, whether it is told, without one the first messages that are, a row for
    each. Nothing for a turn out of sight."""
    turn = visible_turns(ctx).filter(pk=turn_id).order_by()
    spoken = visible_messages(ctx)
    if message is not None:
        return list(turn.annotate(told=Exists(spoken.filter(pk=message.pk))).values_list("seq", "created_at", "told"))
    told = turn.filter(Q(messages=None) | Q(messages__in=spoken.filter(turn=turn_id).values("pk")))
    said = ("messages__name", "messages__role", "messages__content")
    return list(told.order_by("messages__position").values_list("seq", "created_at", *said)[:MAX_SAID])


def _said(heard: Sequence[tuple[Any, ...]]) -> str | None:
    """What was said in the turn, where no one message says it."""
    lines = [f"{name or role}: {content}" for _, _, name, role, content in heard if role is not None]
    return "\n".join(lines)[:MAX_TEXT] or None


def _scope(name: str) -> ScopeView:
    kind, _, external_id = name.partition(":")
    return ScopeView(type=kind, id=external_id)
