"""Reading the conversation that a context continues: newest messages, summary and references of the caller's session."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, NamedTuple
from uuid import UUID

from django.db.models import OuterRef, QuerySet, Subquery

from kernel.compiled import Given, compiled, tuple_of
from kernel.context import Ctx, Right
from memory.compose.contracts import RecentTurn
from memory.compose.recalled import without
from memory.models import Message, Ref, Session, Summary
from memory.selectors.telling import keeps_apart, told_to
from scopes.selectors import Resolved, held

REFS = 20


class SessionSeen(NamedTuple):
    """A session as far as a context needs it: its id, the number of its last turn, and its newest summary."""

    id: UUID
    last_seq: int
    summary: str | None


@dataclass(frozen=True, slots=True)
class Conversation:
    """What was said so far; everything is empty for a session that does not exist or may not be read."""

    recent: list[RecentTurn] = field(default_factory=list)
    summary: str = ""
    refs: list[str] = field(default_factory=list)


def session_of(place: Resolved, ctx: Ctx) -> SessionSeen | None:
    """The caller's own session, where it exists and may be read; looked up once in a call."""
    return ctx.once("session", lambda: _session_of(place, ctx))


def _session_of(place: Resolved, ctx: Ctx) -> SessionSeen | None:
    scope = place.rows.get(place.session) if place.session is not None else None
    if scope is None or Right.READ not in held(ctx, place.domain_id, scope.name, place.owned):
        return None
    return next(iter(_sessions(scope=scope.key)), None)


@compiled(SessionSeen)
def _sessions(scope: Given) -> QuerySet[Session, Any]:
    newest = Summary.objects.filter(session=OuterRef("pk")).order_by("-version").values("text")[:1]
    return Session.objects.filter(scope_id=scope).values_list("id", "last_seq", Subquery(newest))


@compiled(tuple_of)
def _messages(session: Given, after: Given) -> QuerySet[Message, Any]:
    rows = Message.objects.filter(turn__session_id=session, turn__seq__gt=after).order_by("turn__seq", "position")
    return rows.values_list("role", "content", "recalled", "turn_id", "external_id", "id", "created_at")


@compiled(tuple_of)
def _refs(session: Given, after: Given) -> QuerySet[Ref, Any]:
    rows = Ref.objects.filter(turn__session_id=session, turn__seq__gt=after).order_by("-turn__seq", "position")
    return rows.values_list("ref_uri")[:REFS]


def read_conversation(place: Resolved, turns: int, ctx: Ctx) -> Conversation:
    """The newest `turns` turns of the caller's session, the oldest of them first, but messages of recalled text alone.
    Where another opened it, what taught a memory that was narrowed away from the caller is left out, and its summary."""
    session = session_of(place, ctx)
    if session is None:
        return Conversation()
    window = {"session": session.id, "after": session.last_seq - turns}
    apart = place.session not in place.owned and keeps_apart(session.id, ctx)
    untold = _untold(session.id, session.last_seq - turns, ctx) if apart else set()
    recent = [
        RecentTurn(
            role=role,
            content=own,
            turn_id=turn_id,
            message_id=external_id or str(pk),
            created_at=at,
        )
        for role, content, recalled, turn_id, external_id, pk, at in _messages(**window)
        if pk not in untold and ((own := without(content, recalled)) or not recalled)
    ]
    return Conversation(recent, "" if apart else session.summary or "", [uri for (uri,) in _refs(**window)])


def _untold(session: UUID, after: int, ctx: Ctx) -> set[UUID]:
    """The messages since a turn of which the caller is told nothing."""
    rows = Message.objects.filter(~told_to(ctx), turn__session=session, turn__seq__gt=after)
    return set(rows.order_by().values_list("pk", flat=True))
