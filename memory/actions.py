"""Memory's actions: commit a turn, read it back, list sessions, search."""

from __future__ import annotations

from uuid import UUID

from governance.policies import ScopesPolicy, effective
from kernel.actions import Action, Applied, Target, register
from kernel.conf import conf
from kernel.context import Ctx, Right
from kernel.errors import TooLargeError
from kernel.paging import bad_cursor, decode, encode, page
from memory import selectors
from memory.contracts import (
    CommitTurnInput,
    CommitTurnResult,
    GetSessionInput,
    GetSessionResult,
    GetTurnInput,
    GetTurnResult,
    ListSessionsInput,
    ListSessionsResult,
    ListTurnsInput,
    ListTurnsResult,
    ResultRef,
    SearchMemoryInput,
    SearchMemoryResult,
    SearchResult,
)
from memory.models import Session
from memory.services.commit import check_limits, store_turn
from scopes.contracts import Scoped, ScopeView
from scopes.selectors import Resolved, require_domain, resolve, scope_rows
from search import hooks
from search import selectors as index
from search.contracts import Hit, Hydrated, Query

WEAK_BELOW = 0.35


def _resolve(given: Scoped, ctx: Ctx) -> Resolved:
    return resolve(given, ctx, effective(given.domain_id).section(ScopesPolicy).allowed_types)


def _commit_target(given: CommitTurnInput, ctx: Ctx) -> Target:
    place = _resolve(given, ctx)
    names = [name for name in (place.default_write, place.session) if name is not None]
    return Target(place.domain_id, tuple(dict.fromkeys([*names, *place.write])), place.owned)


def _prepare_commit(given: CommitTurnInput, ctx: Ctx) -> Resolved:
    check_limits(given)
    return _resolve(given, ctx)


def _commit(given: CommitTurnInput, place: Resolved, ctx: Ctx) -> Applied[CommitTurnResult]:
    return store_turn(given, place, ctx)


COMMIT_TURN = register(
    Action(
        "commit_turn",
        "Store one turn of a conversation: messages, tool calls and references, all or nothing.",
        CommitTurnInput,
        CommitTurnResult,
        Right.WRITE,
        _commit_target,
        _prepare_commit,
        _commit,
    )
)


def _session_target(session: Session, ctx: Ctx) -> Target:
    name = session.scope.name
    owned = frozenset({name}) if session.scope.owner == ctx.actor.id else frozenset()
    return Target(session.domain_id, (name,), owned)


def _turns_target(given: ListTurnsInput, ctx: Ctx) -> Target:
    require_domain(given.domain_id, ctx)
    return _session_target(selectors.get_session(given.domain_id, given.session_id, ctx), ctx)


def _list_turns(given: ListTurnsInput, ctx: Ctx) -> ListTurnsResult:
    session = selectors.get_session(given.domain_id, given.session_id, ctx)
    found, cursor = page(selectors.turns_of(session), given, "seq", int, newest_first=given.newest_first)
    return ListTurnsResult(
        session_id=session.external_id, turns=[selectors.view_turn(row) for row in found], next_cursor=cursor
    )


LIST_TURNS = register(
    Action(
        "list_turns",
        "Read a session back, turn by turn, with everything that was committed.",
        ListTurnsInput,
        ListTurnsResult,
        Right.READ,
        _turns_target,
        _list_turns,
        resource="turns",
    )
)


def _get_session(given: GetSessionInput, ctx: Ctx) -> GetSessionResult:
    session = selectors.session_by_id(given.id, ctx)
    found, cursor = page(selectors.turns_of(session), given, "seq", int, newest_first=given.newest_first)
    return GetSessionResult(
        session=selectors.view_session(session),
        turns=[selectors.view_turn(row) for row in found],
        next_cursor=cursor,
    )


GET_SESSION = register(
    Action(
        "get_session",
        "Read one session by its server id, turn by turn.",
        GetSessionInput,
        GetSessionResult,
        Right.READ,
        lambda given, ctx: _session_target(selectors.session_by_id(given.id, ctx), ctx),
        _get_session,
    )
)


def _get_turn(given: GetTurnInput, ctx: Ctx) -> GetTurnResult:
    row = selectors.turn_by_id(given.turn_id, ctx)
    return GetTurnResult(session=selectors.view_session(row.session), turn=selectors.view_turn(row))


GET_TURN = register(
    Action(
        "get_turn",
        "Read one turn by its server id, such as a search result names.",
        GetTurnInput,
        GetTurnResult,
        Right.READ,
        lambda given, ctx: _session_target(selectors.turn_by_id(given.turn_id, ctx).session, ctx),
        _get_turn,
    )
)


def _sessions_target(given: ListSessionsInput, ctx: Ctx) -> Target:
    require_domain(given.domain_id, ctx)
    return Target(given.domain_id, scopes=())


def _list_sessions(given: ListSessionsInput, ctx: Ctx) -> ListSessionsResult:
    rows = selectors.visible_sessions(ctx).filter(domain_id=given.domain_id)
    found, cursor = page(rows, given, "id", UUID, newest_first=True)
    return ListSessionsResult(sessions=[selectors.view_session(row) for row in found], next_cursor=cursor)


LIST_SESSIONS = register(
    Action(
        "list_sessions",
        "List the sessions you may read in one domain, newest first.",
        ListSessionsInput,
        ListSessionsResult,
        Right.READ,
        _sessions_target,
        _list_sessions,
        resource="sessions",
    )
)


def _search_target(given: SearchMemoryInput, ctx: Ctx) -> Target:
    place = _resolve(given, ctx)
    return Target(place.domain_id, place.read, place.owned)


def _search(given: SearchMemoryInput, ctx: Ctx) -> SearchMemoryResult:
    if len(given.query) > conf().max_query_chars:
        raise TooLargeError(f"query has {len(given.query)} characters; {conf().max_query_chars} at most.")
    place = _resolve(given, ctx)
    names = {row.key: row for row in scope_rows(place.domain_id, place.read, place.partition)}
    window = given.time_range
    query = Query(
        text=given.query,
        domain_id=place.domain_id,
        scope_keys=tuple(names),
        kinds=tuple(given.kinds),
        since=window.since if window else None,
        until=window.until if window else None,
    )
    found = index.find(query)
    hits = [hit for hit in found.hits if hit.confidence >= given.min_confidence]
    shown, cursor = _page_of(hits, given)
    texts = _hydrate(shown, query)
    results = [
        _result(hit, texts[hit.object_id], ScopeView(type=scope.scope_type, id=scope.external_id))
        for hit in shown
        if hit.object_id in texts
        for scope in [names[hit.scope_key]]
    ]
    return SearchMemoryResult(results=results, next_cursor=cursor, warnings=found.warnings)


def _page_of(hits: list[Hit], given: SearchMemoryInput) -> tuple[list[Hit], str | None]:
    """The hits after the cursor's place, and the cursor of the next page."""
    place = decode(given, 2)
    start = _start_after(hits, place) if place is not None else 0
    shown = hits[start : start + given.limit]
    more = len(hits) > start + given.limit
    return shown, encode([f"{shown[-1].score:.6f}", str(shown[-1].object_id)], given) if more else None


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


def _hydrate(hits: list[Hit], query: Query) -> dict[UUID, Hydrated]:
    texts: dict[UUID, Hydrated] = {}
    for kind in query.kinds:
        ids = [hit.object_id for hit in hits if hit.kind == kind]
        if ids:
            texts.update(hooks.hydrate(kind, ids, query.domain_id, query.scope_keys))
    return texts


def _result(hit: Hit, text: Hydrated, scope: ScopeView) -> SearchResult:
    return SearchResult(
        id=hit.object_id,
        kind=hit.kind,
        text=text.text,
        author=text.author,
        score=hit.score,
        confidence=hit.confidence,
        weak=hit.confidence < WEAK_BELOW,
        signals=hit.signals,
        ref=ResultRef(
            item_id=text.item_id,
            session_id=text.session_id,
            turn_id=text.turn_id,
            message_id=text.message_id,
            section_id=text.section_id,
        ),
        scope=scope,
        source_session_id=text.session_id,
        event_time=text.event_time,
        recorded_at=text.recorded_at,
    )


SEARCH_MEMORY = register(
    Action(
        "search_memory",
        "Find what was said or learned in the scopes you read; words in any language, best first.",
        SearchMemoryInput,
        SearchMemoryResult,
        Right.READ,
        _search_target,
        _search,
    )
)
