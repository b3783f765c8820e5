"""Whom a message or a tool call is told to: where a memory learned from it was narrowed, only those who read that scope, and
whoever opened the conversation. A memory that names a turn and no message of it was learned from all that is in it."""

from __future__ import annotations

from typing import Any

from django.db.models import Exists, OuterRef, Q, QuerySet

from kernel.compiled import Given
from kernel.context import Ctx
from memory.models import MemoryItem
from scopes.selectors import visible_scopes


def told_to(ctx: Ctx) -> Q:
    """A filter of messages by what the actor may read; two looks at an index for each message."""
    return Q(turn__session__scope__owner=ctx.actor.id) | _taught_none(~_is_read(ctx))


def told_within(scopes: Given, reader: Given) -> Q:
    """The same for a read of certain scopes by an actor of that id; none has opened a session without an owner."""
    opened = Q(turn__session__scope__owner=reader) & ~Q(turn__session__scope__owner="")
    return opened | _taught_none(~Q(narrowed_to_id__among=scopes))


def calls_told_to(ctx: Ctx) -> Q:
    """A filter of tool calls by what the actor may read."""
    return Q(turn__session__scope__owner=ctx.actor.id) | Q(~Exists(_of_turn(~_is_read(ctx))))


def calls_told_within(scopes: Given, reader: Given) -> Q:
    """The same for a read of certain scopes by an actor of that id, as for messages."""
    opened = Q(turn__session__scope__owner=reader) & ~Q(turn__session__scope__owner="")
    return opened | Q(~Exists(_of_turn(~Q(narrowed_to_id__among=scopes))))


def turns_told_to(ctx: Ctx) -> Q:
    """A filter of what was made of a whole turn: where anything learned in it was narrowed, as for its messages."""
    taught = _narrowed().filter(~_is_read(ctx), source_turn=OuterRef("turn_id"))
    return Q(turn__session__scope__owner=ctx.actor.id) | Q(~Exists(taught))


def keeps_apart(session: Any, ctx: Ctx) -> bool:
    """Whether anything learned in a conversation was narrowed to a scope that the actor may not read."""
    return _narrowed().filter(~_is_read(ctx), source_session=session).exists()


def _taught_none(outside: Any) -> Q:
    """Messages from which nothing was learned that was narrowed to a scope `outside` of what is read."""
    own = _narrowed().filter(outside, source_message=OuterRef("pk"))
    return Q(~Exists(own)) & Q(~Exists(_of_turn(outside)))


def _of_turn(outside: Any) -> QuerySet[MemoryItem]:
    """What was narrowed to a scope `outside` of what is read, and was learned in a turn from no message of its own."""
    return _narrowed().filter(outside, source_message=None, source_turn=OuterRef("turn_id"))


def _is_read(ctx: Ctx) -> Exists:
    """Whether the actor reads the scope to which a memory was narrowed."""
    return Exists(visible_scopes(ctx).filter(pk=OuterRef("narrowed_to_id")))


def _narrowed() -> QuerySet[MemoryItem]:
    return MemoryItem.objects.filter(narrowed_to__isnull=False).order_by()
