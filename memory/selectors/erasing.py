"""What of memory a call to erase reaches: memories and sessions in sight, and what depends on what is to go."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import Any
from uuid import UUID

from django.db.models import Q

from governance.contracts.presenting import RelatedText
from governance.hooks import Dependent
from kernel.context import Ctx
from kernel.rows import batches
from media.selectors.erasing import DOCUMENT, section_refs
from memory.models import (
    Conflict,
    Entity,
    EntityMention,
    EvidenceLink,
    KgEdge,
    KnowledgeEvent,
    MemoryItem,
    Message,
    Ref,
    Session,
    SessionScopeLink,
    Summary,
    ToolCall,
    Turn,
)
from memory.selectors.events import visible_sessions
from memory.selectors.items import visible_items

ITEM, SESSION = "memory", "session"
_SHOWN_MESSAGES = 20
_Key = tuple[int, str, str]  # scope, type and key of a memory, or its id where it has no key
_Ref = tuple[str, str]  # kind and id of a reference to evidence


def erasable_items(ids: Collection[UUID], domain_id: str, ctx: Ctx) -> Mapping[UUID, tuple[str, ...]]:
    """Memories of a domain that the actor sees, each with its scope."""
    found: dict[UUID, tuple[str, ...]] = {}
    for batch in batches(ids):
        for row in visible_items(ctx).filter(pk__in=batch, domain_id=domain_id):
            found[row.pk] = (row.scope.name,)
    return found


def erasable_sessions(ids: Collection[UUID], domain_id: str, ctx: Ctx) -> Mapping[UUID, tuple[str, ...]]:
    """Sessions of a domain that the actor sees, each with its own scope and those of relations and entities that it
    brought into the graph."""
    found: defaultdict[UUID, set[str]] = defaultdict(set)
    for batch in batches(ids):
        for row in visible_sessions(ctx).filter(pk__in=batch, domain_id=domain_id).select_related("scope"):
            found[row.pk].add(row.scope.name)
    for batch in batches(list(found)):
        for model in (KgEdge, Entity):
            facts = model._default_manager.filter(source_session__in=batch).select_related("scope")
            for fact in facts.only("source_session_id", "scope"):
                if fact.source_session_id is not None:
                    found[fact.source_session_id].add(fact.scope.name)
    return {pk: tuple(sorted(names)) for pk, names in found.items()}


def names_of_items(ids: Collection[UUID]) -> frozenset[str]:
    """The ids by which records quote memories: their own, those of their history, of the entities that they are about with
    the relations that go along, of the conflicts that any of these is a side of, and of the summaries that go with them."""
    about = _ids_where(Entity, "item", ids)
    relations = relations_of(ids)
    conflicts = (*conflicts_of("item", ids), *conflicts_of("edge", relations))
    sessions = {
        pk
        for batch in batches(ids)
        for pk in MemoryItem.objects.filter(pk__in=batch)
        .exclude(source_session=None)
        .values_list("source_session", flat=True)
    }
    hanging = [*_ids_where(KnowledgeEvent, "item", ids), *_ids_where(EntityMention, "entity", about)]
    hanging += _ids_where(Summary, "session", sessions)
    return frozenset(map(str, (*ids, *about, *relations, *conflicts, *hanging)))


def _ids_where(model: Any, column: str, ids: Collection[UUID]) -> list[UUID]:
    """The ids of rows whose column is any of these."""
    return [
        pk
        for batch in batches(ids)
        for pk in model.objects.filter(**{f"{column}__in": batch}).values_list("pk", flat=True)
    ]


def conflicts_of(sides: str, ids: Collection[UUID]) -> set[UUID]:
    """The conflicts, decided or not, that any of these memories (`item`) or relations (`edge`) is a side of."""
    return {
        pk
        for batch in batches(ids)
        for side in ("a", "b")
        for pk in Conflict.objects.filter(**{f"{sides}_{side}__in": batch}).values_list("pk", flat=True)
    }


def relations_of(ids: Collection[UUID]) -> dict[UUID, UUID]:
    """The relations that go with memories of entities, each with its memory: those that name the entity, in its scope,
    and were told in the same turn as it or another version of it that goes too. What other turns told of it stays."""
    turns = _turns_of(ids)
    found: dict[UUID, UUID] = {}
    for batch in batches(ids):
        about: dict[tuple[int, str, UUID], UUID] = {}  # scope, name and turn of a relation, and its memory
        for entity in Entity.objects.filter(item__in=batch).select_related("item").order_by("pk"):
            if (item := entity.item) is not None:
                told = turns[item.scope_id, item.type, item.key or str(item.pk)]
                about |= {(entity.scope_id, entity.canonical_folded, turn_id): item.pk for turn_id in told}
        for part in batches(about.keys()):
            found |= _told_of({each: about[each] for each in part})
    return found


def _turns_of(ids: Collection[UUID]) -> defaultdict[_Key, set[UUID]]:
    """The turns in which memories were told, together for versions of the same."""
    turns: defaultdict[_Key, set[UUID]] = defaultdict(set)
    for batch in batches(ids):
        rows = MemoryItem.objects.filter(pk__in=batch)
        for pk, scope_id, kind, key, turn_id in rows.values_list("pk", "scope_id", "type", "key", "source_turn_id"):
            if turn_id is not None:
                turns[scope_id, kind, key or str(pk)].add(turn_id)
    return turns


def _told_of(about: Mapping[tuple[int, str, UUID], UUID]) -> dict[UUID, UUID]:
    """The relations that name something in its scope and were told in its turn, each with the memory of that."""
    scopes, names, turns = (set(column) for column in zip(*about, strict=True))
    named = Q(subject_folded__in=names) | Q(object_folded__in=names)
    rows = KgEdge.objects.filter(named, scope__in=scopes, source_turn__in=turns).order_by("pk")
    columns = ("pk", "scope_id", "source_turn_id", "subject_folded", "object_folded")
    return {
        pk: about[scope_id, name, turn_id]
        for pk, scope_id, turn_id, *ends in rows.values_list(*columns)
        for name in ends
        if (scope_id, name, turn_id) in about
    }


def names_of_sessions(ids: Collection[UUID]) -> frozenset[str]:
    """The ids by which records quote sessions: their own, and those of their turns, of all that was said in them, of their
    summaries and links to scopes, of what they brought into the graph, and of conflicts of that."""
    turns = _ids_where(Turn, "session", ids)
    said = {pk for pks in said_in(ids).values() for pk in pks}
    edges, entities = (_ids_where(model, "source_session", ids) for model in (KgEdge, Entity))
    hanging = [pk for model in (Summary, SessionScopeLink) for pk in _ids_where(model, "session", ids)]
    hanging += _ids_where(EntityMention, "turn", turns)
    return frozenset(map(str, (*ids, *turns, *said, *edges, *entities, *conflicts_of("edge", edges), *hanging)))


def said_in(ids: Collection[UUID]) -> dict[UUID, list[UUID]]:
    """The messages, tool calls and references of sessions, by session."""
    found: defaultdict[UUID, list[UUID]] = defaultdict(list)
    for batch in batches(ids):
        for model in (Message, ToolCall, Ref):
            rows = model._default_manager.filter(turn__session__in=batch)
            for session_id, pk in rows.values_list("turn__session_id", "pk"):
                found[session_id].append(pk)
    return dict(found)


def show_items(ids: Sequence[UUID], ctx: Ctx) -> list[RelatedText]:
    """Memories as a reviewer sees them."""
    rows = visible_items(ctx).filter(pk__in=ids).order_by("pk")
    return [
        RelatedText(kind=ITEM, id=str(row.pk), text=row.statement, role="subject", scope=row.scope.name)
        for row in rows
    ]


def show_sessions(ids: Sequence[UUID], ctx: Ctx) -> list[RelatedText]:
    """The first messages of sessions, as a reviewer sees them."""
    sessions = visible_sessions(ctx).filter(pk__in=ids)
    rows = Message.objects.filter(turn__session__in=sessions).select_related("turn__session__scope")
    return [
        RelatedText(
            kind="message",
            id=str(row.pk),
            text=row.content,
            role="subject",
            source=f"{row.turn.session.external_id} turn {row.turn.seq}",
            scope=row.turn.session.scope.name,
        )
        for row in rows.order_by("turn__session", "turn__seq", "position")[:_SHOWN_MESSAGES]
    ]


def dependents(kind: str, ids: Collection[UUID], domain_id: str) -> list[Dependent]:
    """What of memory depends on things that are to go."""
    if kind == ITEM:
        refs = {("memory", str(pk)): pk for pk in ids}
        return [*_versions(ids), *_copies(ids), *_resting_on(refs)]
    if kind == SESSION:
        refs = {("message", str(pk)): session_id for session_id, pks in said_in(ids).items() for pk in pks}
        return [*_learned(ids), *_resting_on(refs)]
    if kind == DOCUMENT:
        found = section_refs(ids)
        return list(_resting_on({(each, ref): pk for ref, pk in found.items() for each in ("section", "document")}))
    return []


def _versions(ids: Collection[UUID]) -> Iterator[Dependent]:
    """Other versions of the same memories: of the same key in the same scope, and what they replaced or gave way to."""
    for batch in batches(ids):
        rows = MemoryItem.objects.filter(pk__in=batch)
        keyed = rows.exclude(key=None).values_list("pk", "scope_id", "type", "key")
        keys = {(scope_id, kind, key or ""): pk for pk, scope_id, kind, key in keyed}
        same = MemoryItem.objects.filter(
            scope__in={key[0] for key in keys}, type__in={key[1] for key in keys}, key__in={key[2] for key in keys}
        )
        for pk, scope_id, kind, key in same.values_list("pk", "scope_id", "type", "key"):
            of = keys.get((scope_id, kind, key or ""))
            if of is not None and of != pk:
                yield Dependent(of, ITEM, str(pk), "another version of it", part=True)
        after = rows.exclude(successor=None).values_list("successor_id", "pk")
        yield from (Dependent(of, ITEM, str(pk), "another version of it", part=True) for pk, of in after)
        before = MemoryItem.objects.filter(successor__in=batch).values_list("pk", "successor_id")
        yield from (Dependent(of, ITEM, str(pk), "another version of it", part=True) for pk, of in before)


def _copies(ids: Collection[UUID]) -> Iterator[Dependent]:
    for batch in batches(ids):
        rows = MemoryItem.objects.filter(source_item__in=batch).values_list("pk", "source_item_id")
        yield from (Dependent(of, ITEM, str(pk), "a memory was made from it") for pk, of in rows)


def _resting_on(refs: Mapping[_Ref, UUID]) -> Iterator[Dependent]:
    """Memories whose evidence one of these is."""
    for batch in batches(refs.keys()):
        rows = EvidenceLink.objects.filter(ref__in={ref for _, ref in batch}, kind__in={kind for kind, _ in batch})
        for kind, ref, item_id in rows.values_list("kind", "ref", "item_id"):
            if (kind, ref) in refs:
                yield Dependent(refs[kind, ref], ITEM, str(item_id), "a memory rests on it")


def _learned(ids: Collection[UUID]) -> Iterator[Dependent]:
    """Memories in the sessions' own scopes, which are parts of them, and those that were learned from them elsewhere."""
    for batch in batches(ids):
        own = dict(Session.objects.filter(pk__in=batch).values_list("scope_id", "pk"))
        rows = MemoryItem.objects.filter(Q(scope__in=own) | Q(source_session__in=own.values()))
        for pk, scope_id, session_id in rows.values_list("pk", "scope_id", "source_session_id"):
            of, part = (own[scope_id], True) if scope_id in own else (session_id, False)
            if of is not None:
                yield Dependent(of, ITEM, str(pk), "a memory was learned from it", part=part)


def wholes_of_items(ids: Collection[UUID]) -> dict[UUID, tuple[str, UUID]]:
    """The sessions that memories are parts of: those in whose own scopes they lie."""
    found: dict[UUID, tuple[str, UUID]] = {}
    for batch in batches(ids):
        rows = MemoryItem.objects.filter(pk__in=batch).values("scope_id")
        own = dict(Session.objects.filter(scope__in=rows).values_list("scope_id", "pk"))
        for pk, scope_id in MemoryItem.objects.filter(pk__in=batch, scope__in=own).values_list("pk", "scope_id"):
            found[pk] = (SESSION, own[scope_id])
    return found
