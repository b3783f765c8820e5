"""What a row here belongs to: that it is there, in the same domain, and that what must be named is named."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from django.db.models import Max, Model

from legacy.contracts.rows import as_uuid
from legacy.selectors.compared import COMPARISONS
from media.models import MediaObject, SourceDocument, Tag
from memory.models import Entity, EvidenceLink, KnowledgeEvent, MemoryItem, Message, Session, Turn
from scopes.models import MemoryScope


@dataclass(frozen=True, slots=True)
class Link:
    """A column of a row here that names another row; `needed` where it must name one."""

    attribute: str
    model: type[Model]
    needed: bool = False
    domain: bool = True  # the other row lies in a domain, and it must be the same


@dataclass(frozen=True, slots=True)
class Fault:
    """A rule, by the code of its check, that a row breaks."""

    code: str
    row: Model
    what: str


NO_PLACE, ORPHAN, CROSS_DOMAIN = "no_place", "orphan", "cross_domain"
WRONG_COUNT, NO_ORIGIN = "wrong_count", "no_origin"

_SESSION, _SCOPE = Link("source_session_id", Session, needed=True), Link("scope_id", MemoryScope, needed=True)
_TURN = Link("turn_id", Turn)
LINKS: dict[str, tuple[Link, ...]] = {
    "sessions": (Link("scope_id", MemoryScope),),
    "turns": (Link("session_id", Session), Link("default_write_id", MemoryScope)),
    "messages": (_TURN,),
    "tool_calls": (_TURN,),
    "refs": (_TURN,),
    "memory_items": (
        _SCOPE,
        _SESSION,
        Link("source_turn_id", Turn),
        Link("source_message_id", Message),
        Link("source_item_id", MemoryItem),
        Link("successor_id", MemoryItem),
    ),
    "entities": (_SCOPE, _SESSION),
    "entity_mentions": (Link("entity_id", Entity), _TURN),
    "summaries": (Link("session_id", Session),),
    "kg_edges": (_SCOPE, _SESSION, Link("source_turn_id", Turn)),
    "source_sections": (Link("document_id", SourceDocument),),
    "tags": (Link("parent_id", Tag),),
    "media_object_references": (
        Link("document_id", SourceDocument),
        Link("media_object_id", MediaObject, domain=False),
    ),
}
MODELS: dict[str, type[Model]] = {table: comparison.model for table, comparison in COMPARISONS.items()}


def faults_of(table: str, rows: Sequence[Any]) -> Iterator[Fault]:
    """What is wrong with rows of one table here."""
    for link in LINKS.get(table, ()):
        yield from _linked(link, rows)
    if table == "sessions":
        yield from _session_counts(rows)
    if table == "memory_items":
        yield from _evidence(rows)
        yield from _origins(rows)


def _linked(link: Link, rows: Sequence[Any]) -> Iterator[Fault]:
    wanted = {getattr(row, link.attribute) for row in rows} - {None}
    column = "domain_id" if link.domain else "pk"
    others = dict(link.model._default_manager.filter(pk__in=wanted).values_list("pk", column))
    name = link.attribute.removesuffix("_id").replace("_", " ")
    for row in rows:
        other = getattr(row, link.attribute)
        if other is None:
            if link.needed:
                yield Fault(NO_PLACE, row, f"It has no {name}.")
        elif other not in others:
            yield Fault(ORPHAN, row, f"Its {name} {other} is not there.")
        elif link.domain and others[other] != row.domain_id:
            yield Fault(CROSS_DOMAIN, row, f"It is in domain {row.domain_id}, its {name} in {others[other]}.")


def _session_counts(sessions: Sequence[Any]) -> Iterator[Fault]:
    """The next turn is numbered from what a session remembers of its last one."""
    ids = [session.pk for session in sessions]
    last = dict(Turn.objects.filter(session__in=ids).values_list("session_id").annotate(Max("seq")).order_by())
    for session in sessions:
        if session.last_seq != last.get(session.pk, 0):
            found = last.get(session.pk, 0)
            yield Fault(WRONG_COUNT, session, f"Its last turn should be {session.last_seq} and is {found}.")


def _evidence(items: Sequence[Any]) -> Iterator[Fault]:
    """Evidence is written as text, so the database does not see to it that it is there."""
    kinds: dict[str, type[Model]] = {"memory": MemoryItem, "message": Message, "turn": Turn}
    by_item = {item.pk: item for item in items}
    links = EvidenceLink.objects.filter(item__in=by_item, kind__in=kinds).order_by("pk")
    wanted: dict[str, set[str]] = defaultdict(set)
    for link in links:
        wanted[link.kind].add(link.ref)
    there = {kind: _existing(kinds[kind], refs) for kind, refs in wanted.items()}
    for link in links:
        if link.ref not in there[link.kind]:
            yield Fault(ORPHAN, by_item[link.item_id], f"Its evidence, {link.kind} {link.ref[:80]}, is not there.")


def _origins(items: Sequence[Any]) -> Iterator[Fault]:
    """The first step of its history says from which row a memory came."""
    told = set(
        KnowledgeEvent.objects.filter(item__in=[item.pk for item in items], kind="migrated").values_list(
            "item_id", flat=True
        )
    )
    for item in items:
        if item.pk not in told:
            yield Fault(NO_ORIGIN, item, "Its history does not say where it came from.")


def _existing(model: type[Model], refs: set[str]) -> set[str]:
    ids = [pk for pk in map(as_uuid, refs) if pk is not None]
    return {str(pk) for pk in model._default_manager.filter(pk__in=ids).values_list("pk", flat=True)}
