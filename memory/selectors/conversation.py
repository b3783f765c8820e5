"""Reading the conversation that a context continues: newest messages, summary and references of the caller's session."""

from __future__ import annotations

from dataclasses import dataclass, field

from kernel.context import Ctx
from memory.compose.contracts import RecentTurn
from memory.models import Message, Ref, Session, Summary
from memory.selectors.events import visible_sessions
from scopes.selectors import Resolved, scope_rows

REFS = 20


@dataclass(frozen=True, slots=True)
class Conversation:
    """What was said so far; everything is empty for a session that does not exist or may not be read."""

    session: Session | None = None
    recent: list[RecentTurn] = field(default_factory=list)
    summary: str = ""
    refs: list[str] = field(default_factory=list)


def read_conversation(place: Resolved, turns: int, ctx: Ctx) -> Conversation:
    """The newest `turns` turns of the caller's session, the oldest of them first."""
    if place.session is None:
        return Conversation()
    scopes = scope_rows(place.domain_id, [place.session], place.partition)
    session = visible_sessions(ctx).filter(scope__in=scopes).first()
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
