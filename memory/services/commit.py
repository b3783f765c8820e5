"""Storing one turn: limits, sequence, rows, links and index entries."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from django.db.models import F

from kernel.actions import Applied, Change
from kernel.canonical import canonical_json, digest
from kernel.conf import conf
from kernel.context import Ctx, Right
from kernel.errors import InvalidInputError, NotFoundError, TooLargeError
from memory.contracts import CommitTurnInput, CommitTurnResult, Event, Ignored, StoredCounts
from memory.models import Message, Ref, Session, SessionScopeLink, ToolCall, Turn
from scopes.contracts import SESSION, ScopeView
from scopes.selectors import Resolved, held
from scopes.services import ensure_scopes
from search import services as index
from search.contracts import Kind, NewEntry

if TYPE_CHECKING:
    from scopes.models import MemoryScope


@dataclass(frozen=True, slots=True)
class Place:
    """Where a turn goes: its session, and the key of the scope in which it can also be found."""

    session: Session
    links: dict[str, int]
    default_write: int | None


def check_limits(given: CommitTurnInput) -> None:
    """Refuse what is over a stated limit. Raises TooLargeError, InvalidInputError for ids given twice."""
    limits = conf()
    events = given.turn_events
    for name, rows in (("messages", events.messages), ("tool_calls", events.tool_calls), ("refs", events.refs)):
        if len(rows) > limits.max_items_per_commit:
            raise TooLargeError(
                f"turn_events.{name} has {len(rows)} entries; {limits.max_items_per_commit} at most: split the turn."
            )
        ids = [row.id for row in rows if row.id is not None]
        if len(set(ids)) != len(ids):
            raise InvalidInputError(f"turn_events.{name} gives one id twice.")
    texts = [("messages", message.content) for message in events.messages]
    texts += [("messages", canonical_json(message.meta)) for message in events.messages]
    texts += [("tool_calls", canonical_json([call.args, call.result])) for call in events.tool_calls]
    texts += [("refs", canonical_json(ref.ref_meta_json)) for ref in events.refs]
    for name, text in texts:
        if len(text) > limits.max_message_chars:
            raise TooLargeError(
                f"turn_events.{name} has a text of {len(text)} characters; {limits.max_message_chars} at most."
            )


def store_turn(given: CommitTurnInput, place: Resolved, ctx: Ctx) -> Applied[CommitTurnResult]:
    """Store a whole turn in the present transaction."""
    where, changes = _open_place(place, ctx)
    turn = _next_turn(where, ctx)
    events = given.turn_events
    messages = Message.objects.bulk_create(
        [
            Message(
                **_event(event, turn, position, ctx),
                role=event.role,
                name=event.name,
                content=event.content,
                model=event.model,
                meta=event.meta,
                recorded_at=ctx.now,
            )
            for position, event in enumerate(events.messages)
        ]
    )
    calls = ToolCall.objects.bulk_create(
        [
            ToolCall(
                **_event(event, turn, position, ctx),
                name=event.name,
                args=event.args,
                result=event.result,
                status=event.status,
            )
            for position, event in enumerate(events.tool_calls)
        ]
    )
    refs = Ref.objects.bulk_create(
        [
            Ref(
                **_event(event, turn, position, ctx),
                ref_type=event.ref_type,
                ref_uri=event.ref_uri,
                ref_meta=event.ref_meta_json,
            )
            for position, event in enumerate(events.refs)
        ]
    )
    index.add(_index_entries(where, turn, messages, calls, refs, ctx))
    changes += _changes(turn, messages, calls, refs)
    return _result(
        given,
        place,
        turn,
        messages,
        StoredCounts.model_construct(messages=len(messages), tool_calls=len(calls), refs=len(refs)),
    ), changes


def _open_place(place: Resolved, ctx: Ctx) -> tuple[Place, list[Change]]:
    """Open session, scopes and links where they are missing, and check again that they are the actor's to write."""
    if place.session is None:
        raise InvalidInputError("session_id is missing.")
    names = [place.session, *place.read, *place.write]
    rows, changes = ensure_scopes(place.domain_id, names, ctx, place.partition)
    own = rows[place.session]
    _recheck_sessions(place, rows, ctx)
    session, opened = Session.objects.get_or_create(
        scope=own, defaults={"domain_id": place.domain_id, "external_id": own.external_id, "created_at": ctx.now}
    )
    if opened:
        changes.append(Change("sessions", str(session.id), None, {"session_id": session.external_id}))
    changes += _link(session, place, {name: row.key for name, row in rows.items()}, ctx)
    default = rows[place.default_write].key if place.default_write else None
    return Place(session, {name: row.key for name, row in rows.items()}, default), changes


def _recheck_sessions(place: Resolved, rows: Mapping[str, MemoryScope], ctx: Ctx) -> None:
    """A session that was nobody's when the call was decided may have been opened by someone else since."""
    for name, row in rows.items():
        needed = Right.WRITE if name == place.session or name in place.write else Right.READ
        foreign = row.scope_type == SESSION and row.owner != ctx.actor.id
        if foreign and needed not in held(ctx, place.domain_id, name):
            raise NotFoundError(f"No scope {name!r} that you can see.")


def _link(session: Session, place: Resolved, keys: dict[str, int], ctx: Ctx) -> list[Change]:
    """Remember the scopes that the session uses; a link only widens from read to read_write."""
    known = {link.scope_id: link for link in SessionScopeLink.objects.filter(session=session)}
    changes = []
    used = enumerate(dict.fromkeys([*place.read, *place.write]))
    for priority, name in sorted(used, key=lambda pair: keys[pair[1]]):  # one order for all writers: no deadlock
        mode = "read_write" if name in place.write else "read"
        link = known.get(keys[name])
        if link is None:
            link, _ = SessionScopeLink.objects.get_or_create(
                session=session,
                scope_id=keys[name],
                defaults={"access_mode": mode, "priority": priority, "created_at": ctx.now},
            )
            changes.append(Change("session_scope_links", str(link.id), None, {"scope": name, "access_mode": mode}))
        elif mode == "read_write" and link.access_mode == "read":
            SessionScopeLink.objects.filter(pk=link.pk).update(access_mode=mode)
            before = {"access_mode": "read"}
            changes.append(Change("session_scope_links", str(link.id), before, {"access_mode": mode}))
    return changes


def _next_turn(where: Place, ctx: Ctx) -> Turn:
    """Take the next sequence number: the update locks the session's row until the transaction ends."""
    session = where.session
    Session.objects.filter(pk=session.pk).update(last_seq=F("last_seq") + 1)
    session.refresh_from_db(fields=["last_seq"])
    return Turn.objects.create(
        domain_id=session.domain_id,
        session=session,
        seq=session.last_seq,
        default_write_id=where.default_write,
        author_id=ctx.actor.id,
        author_name=ctx.actor.name,
        created_at=ctx.now,
    )


def _event(event: Event, turn: Turn, position: int, ctx: Ctx) -> dict[str, Any]:
    return {
        "domain_id": turn.domain_id,
        "turn": turn,
        "position": position,
        "external_id": event.id,
        "created_at": event.created_at or ctx.now,
    }


def _index_entries(
    where: Place,
    turn: Turn,
    messages: Sequence[Message],
    calls: Sequence[ToolCall],
    refs: Sequence[Ref],
    ctx: Ctx,
) -> list[NewEntry]:
    """A text is findable in its own session and in the default_write scope of its commit, nowhere else."""
    scope_keys = dict.fromkeys([where.session.scope_id, *([where.default_write] if where.default_write else [])])
    texts: list[tuple[Message | ToolCall | Ref, str, str]] = [(row, row.name, row.content) for row in messages]
    texts += [(row, row.name, canonical_json([row.args, row.result])) for row in calls]
    texts += [(row, "", row.ref_uri) for row in refs]
    return [
        NewEntry(
            kind=Kind.MESSAGE,
            object_id=row.id,
            domain_id=turn.domain_id,
            scope_key=scope_key,
            text=text,
            event_time=row.created_at,
            recorded_at=ctx.now,
            session_key=where.session.scope_id,
            sequence=(turn.seq << 12) + place,
            author=author,
        )
        for scope_key in scope_keys
        for place, (row, author, text) in enumerate(texts)
    ]


def _changes(turn: Turn, messages: Sequence[Message], calls: Sequence[ToolCall], refs: Sequence[Ref]) -> list[Change]:
    """What the audit log keeps of events: their shape and digests, never their text."""
    after = {"session": str(turn.session_id), "seq": turn.seq}
    kept = [Change("turns", str(turn.id), None, after)]
    kept += [
        Change("messages", str(row.id), None, {"role": row.role, "sha256": digest(row.content)}) for row in messages
    ]
    kept += [Change("tool_calls", str(row.id), None, {"name": row.name, "status": row.status}) for row in calls]
    kept += [Change("refs", str(row.id), None, {"ref_type": row.ref_type}) for row in refs]
    return kept


def _result(
    given: CommitTurnInput, place: Resolved, turn: Turn, messages: Sequence[Message], stored: StoredCounts
) -> CommitTurnResult:
    scope_type, _, scope_id = (place.default_write or "").partition(":")
    events = given.turn_events
    ignored = [
        Ignored(path=f"turn_events.{name}.{number}.scope_ref", reason="events_belong_to_their_session")
        for name, rows in (("messages", events.messages), ("tool_calls", events.tool_calls), ("refs", events.refs))
        for number, row in enumerate(rows)
        if row.scope_ref is not None
    ]
    return CommitTurnResult(
        commit_id=turn.id,
        domain_id=place.domain_id,
        session_id=given.session_id,
        turn_id=turn.id,
        seq=turn.seq,
        default_write=ScopeView(type=scope_type, id=scope_id) if place.default_write else None,
        message_ids=[row.external_id or str(row.id) for row in messages],
        stored=stored,
        ignored=ignored,
    )
