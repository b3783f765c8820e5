"""The event store: opening sessions, taking sequence numbers, and storing what happened in a turn."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any
from uuid import UUID

from django.db.models import F, QuerySet

from kernel.actions import Change
from kernel.canonical import digest
from kernel.compiled import Given, compiled, instances, tuple_of
from kernel.context import Ctx, Right
from kernel.errors import InvalidInputError, NotFoundError, StaleError
from kernel.rows import insert
from memory.compose.recalled import without
from memory.contracts import Event, TurnEvents
from memory.models import Message, Ref, Session, SessionScopeLink, ToolCall, Turn
from memory.statements import tool_text
from scopes.contracts import SESSION
from scopes.selectors import Resolved, held
from scopes.services import ensure_scopes
from search.contracts import Kind, NewEntry

if TYPE_CHECKING:
    from scopes.models import MemoryScope


@dataclass(frozen=True, slots=True)
class Place:
    """Where a turn goes: its session, the rows of all scopes that it names, and the key of the scope in which its
    messages can also be found."""

    session: Session
    scopes: Mapping[str, MemoryScope]
    default_write: int | None


@dataclass(frozen=True, slots=True)
class StoredTurn:
    """A turn with its rows, in order."""

    turn: Turn
    messages: list[Message]
    tool_calls: list[ToolCall]
    refs: list[Ref]


def store_events(
    events: TurnEvents, where: Place, names: Sequence[str], recalled: Sequence[Sequence[tuple[int, int]]], ctx: Ctx
) -> tuple[StoredTurn, list[Change]]:
    """Store the events of a turn under the session's next number; `names` are its folded entity names, `recalled` the
    parts of each message that are rendered memory."""
    turn = _next_turn(where, names, ctx)
    messages = [
        Message(
            **_event(event, turn, position, ctx),
            role=event.role,
            name=event.name,
            content=event.content,
            model=event.model,
            meta=event.meta,
            recalled=[list(span) for span in spans],
            recorded_at=ctx.now,
        )
        for position, (event, spans) in enumerate(zip(events.messages, recalled, strict=True))
    ]
    calls = [
        ToolCall(
            **_event(event, turn, position, ctx),
            name=event.name,
            args=event.args,
            result=event.result,
            status=event.status,
        )
        for position, event in enumerate(events.tool_calls)
    ]
    refs = [
        Ref(
            **_event(event, turn, position, ctx),
            ref_type=event.ref_type,
            ref_uri=event.ref_uri,
            ref_meta=event.ref_meta_json,
        )
        for position, event in enumerate(events.refs)
    ]
    for rows in (messages, calls, refs):
        insert(rows)
    stored = StoredTurn(turn, messages, calls, refs)
    return stored, _changes(stored)


def open_place(place: Resolved, ctx: Ctx) -> tuple[Place, list[Change]]:
    """Open the session and the scopes that may be written where they are missing, link the scopes that are there, and
    check again that they are the actor's to use."""
    if place.session is None:
        raise InvalidInputError("session_id is missing.")
    rows, changes = ensure_scopes(
        place.domain_id, [place.session, *place.write], ctx, place.partition, also=place.read
    )
    own = rows[place.session]
    _recheck_sessions(place, rows, ctx)
    session, opened = _open_session(own, ctx)
    if opened:
        after = {"session_id": session.external_id}
        changes.append(Change("sessions", str(session.id), None, after, incidental=True))
    changes += _link(session, place, {name: row.key for name, row in rows.items()}, ctx)
    default = rows[place.default_write].key if place.default_write else None
    return Place(session, rows, default), changes


_SESSION = ("id", "domain_id", "external_id", "scope_id", "last_seq", "created_at")


@compiled(instances(Session, _SESSION))
def _session(scope: Given) -> QuerySet[Session, Any]:
    return Session.objects.filter(scope_id=scope).order_by().values_list(*_SESSION)


def _open_session(own: MemoryScope, ctx: Ctx) -> tuple[Session, bool]:
    for session in _session(scope=own.key):
        return session, False
    given = {"domain_id": own.domain_id, "external_id": own.external_id, "created_at": ctx.now}
    return Session.objects.get_or_create(scope=own, defaults=given)


@compiled(tuple_of)
def _links(session: Given) -> QuerySet[SessionScopeLink, Any]:
    return SessionScopeLink.objects.filter(session_id=session).order_by().values_list("scope_id", "id", "access_mode")


def _recheck_sessions(place: Resolved, rows: Mapping[str, MemoryScope], ctx: Ctx) -> None:
    """A session that was nobody's when the call was decided may have been opened by someone else since."""
    for name, row in rows.items():
        needed = Right.WRITE if name == place.session or name in place.write else Right.READ
        foreign = row.scope_type == SESSION and row.owner != ctx.actor.id
        if foreign and needed not in held(ctx, place.domain_id, name):
            raise NotFoundError(f"No scope {name!r} that you can see.")


def _link(session: Session, place: Resolved, keys: dict[str, int], ctx: Ctx) -> list[Change]:
    """Remember the scopes that the session uses; a link only widens from read to read_write."""
    known = {scope_id: (link_id, held_mode) for scope_id, link_id, held_mode in _links(session=session.pk)}
    changes = []
    used = enumerate(name for name in dict.fromkeys([*place.read, *place.write]) if name in keys)
    for priority, name in sorted(used, key=lambda pair: keys[pair[1]]):  # one order for all writers: no deadlock
        mode = "read_write" if name in place.write else "read"
        link_id, known_mode = known.get(keys[name], (None, ""))
        if link_id is None:
            link, _ = SessionScopeLink.objects.get_or_create(
                session=session,
                scope_id=keys[name],
                defaults={"access_mode": mode, "priority": priority, "created_at": ctx.now},
            )
            after = {"scope": name, "access_mode": mode}
            changes.append(Change("session_scope_links", str(link.id), None, after, incidental=True))
        elif mode == "read_write" and known_mode == "read":
            SessionScopeLink.objects.filter(pk=link_id).update(access_mode=mode)
            before, after = {"access_mode": "read"}, {"access_mode": mode}
            changes.append(Change("session_scope_links", str(link_id), before, after, incidental=True))
    return changes


def _next_turn(where: Place, names: Sequence[str], ctx: Ctx) -> Turn:
    """Take the next sequence number: the update locks the session's row until the transaction ends."""
    session = where.session
    if not Session.objects.filter(pk=session.pk).update(last_seq=F("last_seq") + 1):
        raise StaleError(f"Session {session.external_id} was erased at this moment: send the turn again.")
    ((session.last_seq,),) = _last_seq(session=session.pk)
    turn = Turn(
        domain_id=session.domain_id,
        session=session,
        seq=session.last_seq,
        default_write_id=where.default_write,
        author_id=ctx.actor.id,
        author_name=ctx.actor.name,
        entity_names=list(names),
        created_at=ctx.now,
    )
    insert([turn])
    return turn


@compiled(tuple_of)
def _last_seq(session: Given) -> QuerySet[Session, Any]:
    return Session.objects.filter(pk=session).order_by().values_list("last_seq")


def _event(event: Event, turn: Turn, position: int, ctx: Ctx) -> dict[str, Any]:
    return {
        "domain_id": turn.domain_id,
        "turn": turn,
        "position": position,
        "external_id": event.id,
        "created_at": event.created_at or ctx.now,
    }


def index_entries(where: Place, stored: StoredTurn, of: Collection[UUID] | None = None) -> list[NewEntry]:
    """The index entries of a turn that is being stored; where `of` is given those of these rows, in their place among all:
    the words of the others are not looked at."""
    texts = _texts(stored.messages, stored.tool_calls, stored.refs, of)
    entries = _entries(stored.turn, (where.session.scope_id, where.default_write), texts)
    return entries if of is None else [entry for entry in entries if entry.object_id in of]


def entries_of(turn: Turn) -> list[NewEntry]:
    """The index entries of a stored turn, from its rows."""
    texts = _texts(turn.messages.all(), turn.tool_calls.all(), turn.refs.all())
    return _entries(turn, (turn.session.scope_id, turn.default_write_id), texts)


_Text = tuple[Message | ToolCall | Ref, str, str]  # a row, who said it, and its words


def _texts(
    messages: Iterable[Message], calls: Iterable[ToolCall], refs: Iterable[Ref], of: Collection[UUID] | None = None
) -> list[_Text]:
    """The words of each row in order; none of those that are not among `of`."""

    def asked(row: Message | ToolCall | Ref) -> bool:
        return of is None or row.pk in of

    found: list[_Text] = [
        (row, row.name, without(row.content, row.recalled) if asked(row) else "") for row in messages
    ]
    found += [(row, "", tool_text(row.name, row.args, row.result) if asked(row) else "") for row in calls]
    return found + [(row, "", row.ref_uri) for row in refs]


def _entries(turn: Turn, scopes: tuple[int, int | None], texts: Sequence[_Text]) -> list[NewEntry]:
    """A text is findable in its own session and in the default_write scope of its commit, nowhere else."""
    session_key, default_write = scopes
    return [
        NewEntry(
            kind=Kind.MESSAGE,
            object_id=row.id,
            domain_id=turn.domain_id,
            scope_key=scope_key,
            text=text,
            event_time=row.created_at,
            recorded_at=turn.created_at,
            session_key=session_key,
            sequence=(turn.seq << 12) + place,
            author=author,
        )
        for scope_key in dict.fromkeys([session_key, *([default_write] if default_write else [])])
        for place, (row, author, text) in enumerate(texts)
    ]


def _changes(stored: StoredTurn) -> list[Change]:
    """What the audit log keeps of events: their shape and digests, never their text."""
    turn = stored.turn
    after = {"session": str(turn.session_id), "seq": turn.seq}
    kept = [Change("turns", str(turn.id), None, after)]
    kept += [
        Change("messages", str(row.id), None, {"role": row.role, "sha256": digest(row.content)})
        for row in stored.messages
    ]
    kept += [
        Change("tool_calls", str(row.id), None, {"name": row.name, "status": row.status}) for row in stored.tool_calls
    ]
    kept += [Change("refs", str(row.id), None, {"ref_type": row.ref_type}) for row in stored.refs]
    return kept
