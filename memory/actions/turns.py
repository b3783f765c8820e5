"""Actions on turns and sessions: commit a turn, read it back, list sessions."""

from __future__ import annotations

from uuid import UUID

from kernel.actions import Action, Target, register
from kernel.context import Ctx, Right
from kernel.paging import page
from memory import selectors
from memory.actions.holding import PARTS, held_types, holding_of
from memory.actions.place import allowed_types, place_of
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
)
from memory.models import Session
from memory.services.commit import Prepared, apply, prepare, scope_refs
from memory.services.holding import ELEVATED
from scopes.selectors import require_domain

MAX_SUMMARIES = 5


def _commit_target(given: CommitTurnInput, ctx: Ctx) -> Target:
    place = place_of(given, ctx)
    names = [name for name in (place.default_write, place.session) if name is not None]
    named = scope_refs(given.turn_events, held_types("write_memory_item", given.domain_id, ctx))
    names += [ref.name for ref in named if ref.name in place.write]
    return Target(place.domain_id, tuple(dict.fromkeys(names)), place.owned)


def _prepare_commit(given: CommitTurnInput, ctx: Ctx) -> Prepared:
    holding = holding_of(given.domain_id, ctx)
    return prepare(given, place_of(given, ctx), allowed_types(given.domain_id, ctx), holding, ctx)


COMMIT_TURN = register(
    Action(
        "commit_turn",
        "Store one turn of a conversation and learn from it: events, structured items and what the text says, all or nothing.",
        CommitTurnInput,
        CommitTurnResult,
        Right.WRITE,
        _commit_target,
        _prepare_commit,
        apply,
        parts=dict.fromkeys(PARTS, ELEVATED),
        instead="What was said stays on record: take back what was learned from it, item by item, with retract_item. Its"
        " audit entry names each of the memory_items.",
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
    found, cursor = page(selectors.turns_of(session, ctx), given, "seq", int, newest_first=given.newest_first)
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
    found, cursor = page(selectors.turns_of(session, ctx), given, "seq", int, newest_first=given.newest_first)
    return GetSessionResult(
        session=selectors.view_session(session),
        turns=[selectors.view_turn(row) for row in found],
        summaries=selectors.summaries_of(session, 0 if given.cursor else MAX_SUMMARIES, ctx),
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
