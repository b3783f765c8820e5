"""Reading the conversation that a context continues: newest messages, summary and references of the caller's session."""

from __future__ import annotations

from dataclasses import dataclass, field

from kernel.context import Ctx, Right
from memory.compose.contracts import RecentTurn
from memory.models import Message, Ref, Session, Summary
from scopes.contracts import SESSION
from scopes.selectors import Resolved, held

REFS = 20


@dataclass(frozen=True, slots=True)
class Conversation:
    """What was said so far; everything is empty for a session that does not exist or may not be read."""

    session: Session | None = None
    recent: list[RecentTurn] = field(default_factory=list)
    summary: str = ""
    refs: list[str] = field(default_factory=list)


def session_of(place: Resolved, ctx: Ctx) -> Session | None:
    """The caller's own session, where it exists and may be read; looked up once in a call."""
    return ctx.once("session", lambda: _session_of(place, ctx))


def _session_of(place: Resolved, ctx: Ctx) -> Session | None:
    if place.session is None or Right.READ not in held(ctx, place.domain_id, place.session, place.owned):
        return None
    return Session.objects.filter(
        scope__domain_id=place.domain_id,
        scope__scope_type=SESSION,
        scope__external_id=place.session.removeprefix(f"{SESSION}:"),
        scope__partition=place.partition,
    ).first()


def read_conversation(place: Resolved, turns: int, ctx: Ctx) -> Conversation:
    """The newest `turns` turns of the caller's session, the oldest of them first."""
    session = session_of(place, ctx)
    if session is None:
        return Conversation()
    rows = (
        Message.objects.filter(turn__session=session, turn__seq__gt=session.last_seq - turns)
        .order_by("turn__seq", "position")
        .values_list("role", "content", "turn_id", "external_id", "id", "created_at")
    )
    recent = [
        RecentTurn(role=role, content=content, turn_id=turn_id, message_id=external_id or str(pk), created_at=at)
        for role, content, turn_id, external_id, pk, at in rows
    ]
    last = Summary.objects.filter(session=session).order_by("-version").first()
    refs = Ref.objects.filter(turn__session=session, turn__seq__gt=session.last_seq - turns)
    uris = list(refs.order_by("-turn__seq", "position").values_list("ref_uri", flat=True)[:REFS])
    return Conversation(session, recent, last.text if last else "", uris)
