"""Erasing memories: their rows with texts, evidence, history, conflicts, notices and index entries."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Mapping, Sequence
from typing import Any
from uuid import UUID

from django.db.models import Count

from governance.hooks import Erased
from kernel.canonical import digest
from kernel.ids import oldest
from kernel.rows import batches
from memory.models import (
    Conflict,
    ConflictSignature,
    ContextRecord,
    Entity,
    EvidenceLink,
    KgEdge,
    KnowledgeEvent,
    MemoryChunk,
    MemoryItem,
    Notice,
    Summary,
)
from memory.selectors.erasing import relations_of
from memory.services.erasing.quotes import delete_contexts
from search import services as index
from search.contracts import Kind

_HANGING: dict[str, Any] = {
    "texts": MemoryChunk, "evidence": EvidenceLink, "events": KnowledgeEvent, "notices": Notice,
}  # fmt: skip
_TOLD = ("id", "type", "key", "value", "statement", "content_hash", "version", "author_id")


def hold_items(ids: Collection[UUID]) -> set[int]:
    """The scopes that are to be locked before memories are erased."""
    return {
        key
        for batch in batches(ids)
        for key in MemoryItem.objects.filter(pk__in=batch).values_list("scope_id", flat=True)
    }


def erase_items(ids: Sequence[UUID]) -> list[Erased]:
    """Delete memories, all versions that are named. Summaries of the sessions that they come from, which may quote them,
    go too and are made anew in time; so do entities that they are about, with the relations told in the same turn."""
    relations: defaultdict[UUID, list[UUID]] = defaultdict(list)
    for relation, item_id in relations_of(ids).items():
        relations[item_id].append(relation)
    for batch in batches(ids):
        _unlink(batch)
    return [each for batch in batches(ids) for each in _erase(batch, relations)]


def _unlink(ids: Sequence[UUID]) -> None:
    """Let nothing that stays point at them, nor one of them at another that goes in a later batch."""
    MemoryItem.objects.filter(pk__in=ids).update(successor=None, source_item=None)
    MemoryItem.objects.filter(successor__in=ids).update(successor=None)


def _erase(ids: Sequence[UUID], relations: Mapping[UUID, Sequence[UUID]]) -> list[Erased]:
    rows = list(MemoryItem.objects.filter(pk__in=ids).order_by("pk"))
    hanging: dict[str, dict[UUID, list[str]]] = {name: _ids_of(model, ids) for name, model in _HANGING.items()}
    conflicts = _conflicts_of(ids)
    _forget_graph(ids, [pk for each in ids for pk in relations.get(each, ())])
    _forget_summaries(rows)
    ConflictSignature.objects.filter(item__in=ids).delete()
    index.remove(Kind.MEMORY, ids)
    MemoryItem.objects.filter(pk__in=ids).delete()
    return [
        Erased(
            row.pk,
            digest(
                [*(_plain(getattr(row, name)) for name in _TOLD), [hanging[name].get(row.pk, []) for name in hanging]]
            ),
            {
                **{name: len(found.get(row.pk, [])) for name, found in hanging.items()},
                "conflicts": conflicts[row.pk],
                "relations": len(relations.get(row.pk, ())),
            },
            tuple(("kg_edges", str(pk)) for pk in relations.get(row.pk, ())),
        )
        for row in rows
    ]


def _ids_of(model: Any, ids: Sequence[UUID]) -> dict[UUID, list[str]]:
    found: defaultdict[UUID, list[str]] = defaultdict(list)
    for item_id, pk in model.objects.filter(item__in=ids).order_by("pk").values_list("item_id", "pk"):
        found[item_id].append(str(pk))
    return found


def _conflicts_of(ids: Sequence[UUID]) -> defaultdict[UUID, int]:
    """How many conflicts each of them is a side of: their texts go with either side."""
    counts: defaultdict[UUID, int] = defaultdict(int)
    for side in ("item_a", "item_b"):
        rows = Conflict.objects.filter(**{f"{side}__in": ids}).order_by().values_list(side).annotate(n=Count("pk"))
        for pk, count in rows:
            counts[pk] += count
    return counts


def _forget_summaries(rows: Sequence[MemoryItem]) -> None:
    """Delete the summaries of the sessions that the memories come from, and the contexts that may have shown them."""
    sessions = {row.source_session_id for row in rows if row.source_session_id}
    if Summary.objects.filter(session__in=sessions).delete()[0]:
        later = ContextRecord.objects.filter(session__in=sessions, pk__gt=oldest(row.pk for row in rows))
        delete_contexts(list(later.values_list("pk", flat=True)))


def _forget_graph(ids: Sequence[UUID], relations: Sequence[UUID]) -> None:
    for batch in batches(relations):
        KgEdge.objects.filter(pk__in=batch).delete()
    Entity.objects.filter(item__in=ids).delete()


def _plain(value: Any) -> Any:
    return str(value) if isinstance(value, UUID) else value
