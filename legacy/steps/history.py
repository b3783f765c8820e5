"""Knowledge events of 0.2: what happened to a memory there stays in its history here."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from legacy.contracts import Outcome, SourceRow
from legacy.contracts.outcomes import moved
from legacy.source import Source
from legacy.steps.base import Run, each, free_ids, here, parents, put
from legacy.steps.scopes import metadata_of
from memory.models import KnowledgeEvent, MemoryItem

_KNOWN = frozenset(
    {
        "id", "memory_item_id", "event_type", "from_status", "to_status", "reason", "actor", "metadata", "metadata_json",
        "created_at",
    }
)  # fmt: skip

KIND = 64  # characters of what an event may be called
_WRITTEN = ("kind", "from_status", "to_status", "reason", "actor_name", "metadata", "created_at")


class History:
    """The step of knowledge events."""

    name = "knowledge_events"
    tables: tuple[str, ...] = ("knowledge_events",)

    def rows(self, source: Source) -> Iterator[SourceRow]:
        """Every event, by its time."""
        order = ["r.created_at"] if source.has("knowledge_events", "created_at") else []
        return source.rows("knowledge_events", order=order)

    def store(self, rows: Sequence[SourceRow], run: Run) -> list[Outcome]:
        """Store events with the memories that they are about."""
        there = parents("memory_items", (row.columns.get("memory_item_id") for row in rows))
        domains = dict(MemoryItem.objects.filter(pk__in=list(there.moved.values())).values_list("pk", "domain_id"))
        ids = free_ids(KnowledgeEvent, rows, run)
        made: list[KnowledgeEvent] = []

        def take(row: SourceRow) -> Outcome:
            item_id = there.target(row.text("memory_item_id"))
            told = row.text("event_type")
            cut = {"event_type": told} if len(told) > KIND else {}
            event = KnowledgeEvent(
                id=ids[row.id],
                domain_id=here(domains, item_id, "its memory"),
                item_id=item_id,
                kind=told[:KIND] or "updated",
                from_status=row.text("from_status", 30),
                to_status=row.text("to_status", 30),
                reason=row.text("reason"),
                actor_id=run.owner.id,
                actor_name=row.text("actor", 150) or run.owner.name,
                metadata={**row.beside(_KNOWN), **metadata_of(row), **cut},
                created_at=row.moment("created_at") or run.ctx.now,
            )
            made.append(event)
            note = f"event_type has {len(told)} characters: the whole stands in metadata" if cut else ""
            return moved(row, "knowledge_events", event.pk, note)

        outcomes = each(rows, take)
        put(made, run, _WRITTEN, ("item_id",))
        return outcomes
