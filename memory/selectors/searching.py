"""Searching memory: ranked hits of the index, read again from their owners, a memory and its message as one result."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING
from uuid import UUID

from kernel.context import Ctx
from kernel.paging import bad_cursor, decode, encode
from kernel.text import fold
from media.pages import page_of
from media.selectors.found import own_scope
from media.selectors.retrieving import readable_sections
from memory.compose.contracts import OpenConflict
from memory.contracts.search import AsOf, ResultRef, SearchMemoryInput, SearchMode, SearchResult
from memory.models import MemoryItem
from memory.naming import fold_name, name_candidates
from memory.selectors.conflicts import told_among
from memory.selectors.graph import MAX_NAMES, named_entities, related_edges
from memory.selectors.items import held_at, taught_by
from scopes.contracts import ScopeView
from scopes.selectors import Resolved
from search import hooks
from search import selectors as index
from search.contracts import Hit, Hydrated, Kind, Query

if TYPE_CHECKING:
    from scopes.models import MemoryScope

CHUNK = 50  # hits read at a time


@dataclass(frozen=True, slots=True)
class Searched:
    """One page of results, the cursor of the next, and what was cut or replaced, by reason."""

    results: list[SearchResult]
    conflicts: list[OpenConflict]
    next_cursor: str | None
    warnings: list[str]


def search(given: SearchMemoryInput, place: Resolved, ctx: Ctx) -> Searched:
    """Answer one search within scopes that the caller was found to be allowed to read."""
    scopes = _scopes(given, place, ctx)
    query = _query(given, place, tuple(scopes), ctx)
    warnings = ["semantic_unavailable:used_hybrid"] if given.mode is SearchMode.SEMANTIC else []
    if given.mode is SearchMode.RELATIONAL:
        query = replace(query, text=" ".join([query.text, *related_names(query)]))
    found = index.find(query)
    warnings += found.warnings
    shown, texts, cursor = _shown(found.hits, query, given)
    results = _results(shown, texts, scopes, query)
    known = {row.ref.item_id for row in results if row.ref.item_id is not None}
    conflicts = told_among(sorted(known), place.domain_id, query.scope_keys)
    return Searched(results, conflicts, cursor, warnings)


def _scopes(given: SearchMemoryInput, place: Resolved, ctx: Ctx) -> dict[int, MemoryScope]:
    """The scopes that are read; where sections are looked for, that of the caller's own documents too."""
    own = own_scope(place.domain_id, ctx) if Kind.SECTION in given.kinds else None
    return place.scopes_read() | ({own.key: own} if own is not None else {})


def _query(given: SearchMemoryInput, place: Resolved, scope_keys: tuple[int, ...], ctx: Ctx) -> Query:
    window = given.time_range
    as_of = given.as_of if isinstance(given.as_of, AsOf) else AsOf(valid=given.as_of, recorded=given.as_of)
    kinds = (Kind.MEMORY,) if given.types else tuple(Kind(kind) for kind in given.kinds)
    return Query(
        text=given.query,
        domain_id=place.domain_id,
        scope_keys=scope_keys,
        kinds=kinds,
        valid_at=as_of.valid or ctx.now,
        since=window.since if window else None,
        until=window.until if window else None,
        recorded_at=as_of.recorded,
        labels=tuple(given.types),
        history=given.history,
        superseded=given.as_of is not None and not given.history,
        reader=ctx.actor.id,
        within=readable_sections(place, ctx) if Kind.SECTION in kinds else None,
    )


def related_names(query: Query) -> list[str]:
    """Names of entities that the query names, their aliases, and what they are related to, one step away."""
    wanted = name_candidates(query.text)
    found: dict[str, None] = {}
    for canonical, aliases in named_entities(wanted, query):
        found.update(dict.fromkeys([canonical, *aliases]))
    for edge in related_edges([*wanted, *(fold_name(name) for name in found)], query)[:MAX_NAMES]:
        found.update(dict.fromkeys([edge.subject, edge.object]))
    return list(found)


def _shown(
    hits: list[Hit], query: Query, given: SearchMemoryInput
) -> tuple[list[Hit], dict[UUID, Hydrated], str | None]:
    """One page of the hits that may be shown, with their texts, and the cursor of the next page.

    Hits are read in rank order and no further than the page needs. Of a message and the memories that came from it
    either the message or the memories count, whichever comes first, so those before the page are read too.
    """
    place = decode(given, 2)
    start = _start_after(hits, place) if place is not None else 0
    texts: dict[UUID, Hydrated] = {}
    said: set[UUID] = set()
    taught: set[UUID] = set()
    shown: list[Hit] = []
    for first in range(0, len(hits), CHUNK):
        chunk = hits[first : first + CHUNK]
        texts.update(_hydrate(chunk, query))
        for number, hit in enumerate(chunk, start=first):
            text = texts.get(hit.object_id)
            if text is None or not _fits(hit, text, given) or (text.message_uuid or hit.object_id) in said:
                continue
            if text.message_uuid is not None:
                taught.add(text.message_uuid)
            elif hit.object_id in taught:
                continue
            else:
                said.add(hit.object_id)
            if number < start:
                continue
            if len(shown) == given.limit:
                last = shown[-1]
                return shown, texts, encode([f"{last.score:.6f}", str(last.object_id)], given)
            shown.append(hit)
    return shown, texts, None


def _fits(hit: Hit, text: Hydrated, given: SearchMemoryInput) -> bool:
    if hit.confidence < given.min_confidence:
        return False
    return given.mode is not SearchMode.EXACT or fold(given.query) in fold(text.text)


def _hydrate(hits: list[Hit], query: Query) -> dict[UUID, Hydrated]:
    texts: dict[UUID, Hydrated] = {}
    for kind in query.kinds:
        ids = [hit.object_id for hit in hits if hit.kind == kind]
        if ids:
            if kind is Kind.MEMORY and query.superseded:
                ids = held_at(ids, query.valid_at, query.recorded_at)
            texts.update(hooks.hydrate(kind, ids, query))
    return texts


def _start_after(hits: list[Hit], place: list[str]) -> int:
    """Where to go on: after the hit that the cursor names, or where it stood if it is no longer found."""
    try:
        score, object_id = float(place[0]), UUID(place[1])
    except ValueError as exc:
        raise bad_cursor() from exc
    there = next((n + 1 for n, hit in enumerate(hits) if hit.object_id == object_id), None)
    if there is not None:
        return there
    below = (-score, -object_id.int)
    return next((n for n, hit in enumerate(hits) if (-hit.score, -hit.object_id.int) > below), len(hits))


def _results(
    shown: Sequence[Hit], texts: Mapping[UUID, Hydrated], scopes: Mapping[int, MemoryScope], query: Query
) -> list[SearchResult]:
    """The hits as results: a message names the memory that came from it, and what no longer holds says so."""
    memories = [hit.object_id for hit in shown if hit.kind is Kind.MEMORY]
    messages = [hit.object_id for hit in shown if hit.kind is Kind.MESSAGE]
    taught = taught_by(messages, query.domain_id, query.scope_keys) if messages else {}
    stale = {message_id for message_id, each in taught.items() if each.is_stale()}
    if query.history or query.superseded:
        stale.update(
            MemoryItem.objects.filter(pk__in=memories).exclude(current_until=None).values_list("pk", flat=True)
        )
    results = []
    for hit in shown:
        text, known = texts[hit.object_id], taught.get(hit.object_id)
        text = replace(text, item_id=known.item_id) if known is not None else text
        key = text.shared_key if hit.kind is Kind.SECTION else hit.scope_key
        page = page_of(text.pages, text.text, query.text)
        results.append(_result(hit, text, page, scopes[key] if key is not None else None, hit.object_id not in stale))
    return results


def _result(hit: Hit, text: Hydrated, page: int | None, scope: MemoryScope | None, current: bool) -> SearchResult:
    return SearchResult(
        id=hit.object_id,
        kind=hit.kind,
        text=text.text,
        author=text.author,
        score=hit.score,
        confidence=hit.confidence,
        current=current,
        weak=hit.confidence < index.WEAK_BELOW,
        signals=hit.signals,
        ref=ResultRef(
            item_id=text.item_id,
            session_id=text.session_id,
            turn_id=text.turn_id,
            message_id=text.message_id,
            section_id=text.section_id,
            document_id=text.document_id,
            document=text.document,
            section=text.title if text.section_id else "",
            page=page,
        ),
        scope=ScopeView(type=scope.scope_type, id=scope.external_id) if scope is not None else None,
        source_session_id=text.session_id,
        event_time=text.event_time,
        recorded_at=text.recorded_at,
    )
