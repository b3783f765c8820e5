"""Reading sessions, turns and messages, as far as the one who asks may see them."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any
from uuid import UUID

from django.db.models import Exists, OuterRef, Prefetch, Q, QuerySet

from kernel.compiled import Given, compiled, tuple_of
from kernel.context import Ctx
from kernel.errors import NotFoundError
from memory.compose.recalled import without
from memory.contracts import MessageView, RefView, SessionView, SummaryView, ToolCallView, TurnView
from memory.models import Message, Ref, Session, Summary, ToolCall, Turn
from memory.selectors.telling import calls_told_to, calls_told_within, keeps_apart, told_to, told_within
from memory.statements import tool_text
from scopes.contracts import SESSION
from scopes.selectors import domain_filter, partition_of, visible_scopes
from search.contracts import Hydrated

if TYPE_CHECKING:
    from scopes.models import MemoryScope


def visible_sessions(ctx: Ctx) -> QuerySet[Session]:
    """The base queryset: sessions whose scope the actor may read. Each row asks for its scope, so that a page of the
    newest sessions costs a page and not the table."""
    return Session.objects.filter(domain_filter(ctx), Exists(_session_scopes(ctx).filter(pk=OuterRef("scope_id"))))


def _session_scopes(ctx: Ctx) -> QuerySet[MemoryScope]:
    return visible_scopes(ctx).filter(scope_type=SESSION)


def get_session(domain_id: str, session_id: str, ctx: Ctx) -> Session:
    """One visible session by the caller's own id. Raises NotFoundError."""
    rows = visible_sessions(ctx).filter(domain_id=domain_id, external_id=session_id)
    row = rows.filter(scope__partition=partition_of(domain_id, ctx)).first() or rows.order_by("id").first()
    if row is None:
        raise NotFoundError(f"No session {session_id!r} that you can see.")
    return row


def session_by_id(session_id: UUID, ctx: Ctx) -> Session:
    """One visible session by the server's id. Raises NotFoundError."""
    row = visible_sessions(ctx).select_related("scope").filter(pk=session_id).first()
    if row is None:
        raise NotFoundError(f"No session {str(session_id)!r} that you can see.")
    return row


def visible_turns(ctx: Ctx) -> QuerySet[Turn]:
    """The base queryset: turns of the sessions that the actor may read."""
    scope = _session_scopes(ctx).filter(session=OuterRef("session_id"))
    return Turn.objects.filter(domain_filter(ctx), Exists(scope))


def turn_by_id(turn_id: UUID, ctx: Ctx) -> Turn:
    """One visible turn. Raises NotFoundError."""
    row = with_all(visible_turns(ctx), ctx).select_related("session__scope").filter(pk=turn_id).first()
    if row is None:
        raise NotFoundError(f"No turn {str(turn_id)!r} that you can see.")
    return row


def visible_messages(ctx: Ctx) -> QuerySet[Message]:
    """The base queryset: messages of the turns that the actor may read, but those that taught what was narrowed away from
    it."""
    return Message.objects.filter(told_to(ctx), Exists(visible_turns(ctx).filter(pk=OuterRef("turn_id"))))


def visible_calls(ctx: Ctx) -> QuerySet[ToolCall]:
    """The base queryset: tool calls of the turns that the actor may read, but as for messages."""
    return ToolCall.objects.filter(calls_told_to(ctx), Exists(visible_turns(ctx).filter(pk=OuterRef("turn_id"))))


def turns_of(session: Session, ctx: Ctx) -> QuerySet[Turn]:
    """The session's turns with everything in them that the actor is told."""
    return with_all(Turn.objects.filter(session=session), ctx)


def with_all(turns: QuerySet[Turn], ctx: Ctx) -> QuerySet[Turn]:
    """Turns with their references, and the messages and tool calls that the actor is told."""
    messages = Prefetch("messages", Message.objects.filter(told_to(ctx)))
    return turns.prefetch_related(
        messages, Prefetch("tool_calls", ToolCall.objects.filter(calls_told_to(ctx))), "refs"
    )


def summaries_of(session: Session, most: int, ctx: Ctx) -> list[SummaryView]:
    """The newest versions of the session's working summary; none where it may tell what was narrowed away from the
    actor."""
    if most and session.scope.owner != ctx.actor.id and keeps_apart(session.pk, ctx):
        return []
    rows = Summary.objects.filter(session=session).order_by("-version")[:most]
    return [
        SummaryView(
            version=row.version,
            text=row.text,
            source_from=row.source_from,
            source_to=row.source_to,
            trigger=row.trigger,
            generated_at=row.generated_at,
        )
        for row in rows
    ]


def view_session(row: Session) -> SessionView:
    """A session as lists show it."""
    return SessionView(
        id=row.id,
        domain_id=row.domain_id,
        session_id=row.external_id,
        turns=row.last_seq,
        created_at=row.created_at,
    )


def view_turn(row: Turn) -> TurnView:
    """A turn with everything in it."""
    return TurnView(
        turn_id=row.id,
        seq=row.seq,
        author=row.author_name,
        created_at=row.created_at,
        messages=[_view_message(message) for message in row.messages.all()],
        tool_calls=[_view_call(call) for call in row.tool_calls.all()],
        refs=[_view_ref(ref) for ref in row.refs.all()],
    )


def _view_message(row: Message) -> MessageView:
    return MessageView(
        message_id=row.external_id or str(row.id),
        role=row.role,
        name=row.name,
        content=row.content,
        model=row.model,
        meta=row.meta,
        created_at=row.created_at,
    )


def _view_call(row: ToolCall) -> ToolCallView:
    return ToolCallView(
        id=row.external_id or str(row.id),
        name=row.name,
        args=row.args,
        result=row.result,
        status=row.status,
        created_at=row.created_at,
    )


def _view_ref(row: Ref) -> RefView:
    return RefView(
        id=row.external_id or str(row.id),
        ref_type=row.ref_type,
        ref_uri=row.ref_uri,
        ref_meta_json=row.ref_meta,
        created_at=row.created_at,
    )


_SEEN = ("id", "external_id", "created_at", "turn_id", "turn__created_at", "turn__session__external_id")


def _here(rows: QuerySet[Any], ids: Given, domain: Given, scopes: Given) -> QuerySet[Any]:
    here = Q(turn__session__scope_id__among=scopes) | Q(turn__default_write_id__among=scopes)
    return rows.filter(here, pk__among=ids, domain_id=domain).order_by()


@compiled(tuple_of)
def _messages(ids: Given, domain: Given, scopes: Given, reader: Given) -> QuerySet[Message, Any]:
    rows = _here(Message.objects.filter(told_within(scopes, reader)), ids, domain, scopes)
    return rows.values_list(*_SEEN, "content", "recalled", "name", "role")


@compiled(tuple_of)
def _tool_calls(ids: Given, domain: Given, scopes: Given, reader: Given) -> QuerySet[ToolCall, Any]:
    rows = _here(ToolCall.objects.filter(calls_told_within(scopes, reader)), ids, domain, scopes)
    return rows.values_list(*_SEEN, "name", "args", "result")


@compiled(tuple_of)
def _refs(ids: Given, domain: Given, scopes: Given) -> QuerySet[Ref, Any]:
    return _here(Ref.objects.all(), ids, domain, scopes).values_list(*_SEEN, "ref_uri")


def _said(content: str, recalled: Sequence[Sequence[int]], name: str, role: str) -> tuple[str, str]:
    return without(content, recalled), name or role


def _called(name: str, args: Any, result: Any) -> tuple[str, str]:
    return tool_text(name, args, result), name


def _referred(uri: str) -> tuple[str, str]:
    return uri, ""


def hydrate_events(
    ids: Sequence[UUID], domain_id: str, scope_keys: Sequence[int], reader: str
) -> Mapping[UUID, Hydrated]:
    """Messages, tool calls and references that may be shown in these scopes to the actor of that id, by id."""
    kinds: tuple[tuple[Callable[..., Any], Callable[..., tuple[str, str]]], ...] = (
        (partial(_messages, reader=reader), _said),
        (partial(_tool_calls, reader=reader), _called),
        (_refs, _referred),
    )
    found: dict[UUID, Hydrated] = {}
    for query, told in kinds:
        missing = [object_id for object_id in ids if object_id not in found]
        if not missing:
            break
        for object_id, external_id, at, turn_id, recorded_at, session_id, *more in query(
            ids=missing, domain=domain_id, scopes=scope_keys
        ):
            text, author = told(*more)
            found[object_id] = Hydrated(
                text=text,
                author=author,
                event_time=at,
                recorded_at=recorded_at,
                session_id=session_id,
                turn_id=turn_id,
                message_id=external_id or str(object_id),
            )
    return found
