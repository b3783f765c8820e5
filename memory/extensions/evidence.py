"""What a memory rests on, as a reviewer reads it: references with their texts, and the messages that it was learned from."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import reduce
from operator import or_
from typing import Any
from uuid import UUID

from django.db.models import Q
from django.urls import reverse

from governance.contracts.presenting import RelatedText
from kernel.context import Ctx
from kernel.ids import uuids_in
from memory.contracts import CommitTurnInput
from memory.contracts.refs import EvidenceRef
from memory.extensions.showing import MAX_NEIGHBOURS, UNREADABLE, related
from memory.models import MemoryItem, Message, Turn
from memory.selectors.events import visible_messages, visible_sessions, visible_turns
from memory.selectors.near import links_around, readable
from memory.selectors.proof import fallen

Told = tuple[EvidenceRef, str]  # a reference and its role
_SEARCHED = 20_000  # characters of a message in which the words of a memory are looked for
_SHORTEST = 3


@dataclass(frozen=True, slots=True)
class Origin:
    """Where something was learned: a message of a turn by its position or id, else every message of the turn. `words` are
    those that it may have been learned in."""

    turn_id: UUID
    position: int | None = None
    message_id: UUID | None = None
    words: tuple[str, ...] = ()

    def names(self, row: Message) -> bool:
        """Whether a message is meant."""
        if row.turn_id != self.turn_id:
            return False
        if self.message_id is not None:
            return row.pk == self.message_id
        return self.position is None or row.position == self.position


def memories_in(refs: Iterable[Told]) -> list[UUID]:
    """The ids of the memories among some references."""
    return list(uuids_in(ref.id for ref, _ in refs if ref.kind == "memory").values())


def evidence_texts(refs: Sequence[Told], ctx: Ctx, origins: Sequence[Origin] = ()) -> list[RelatedText]:
    """References with their texts, as far as the reviewer may read them; one that it may not is named and no more. Then
    the messages of `origins` that it may read, five of each at most, with the words marked that were learned; of a turn
    without messages, which it was."""
    memories = {str(pk): row for pk, row in readable(memories_in(refs), ctx).items()}
    rows = _messages(list(uuids_in(ref.id for ref, _ in refs if ref.kind == "message").values()), origins, ctx)
    messages = {str(row.pk): row for row in rows}
    words = [each for origin in origins for each in origin.words]
    found = []
    for ref, role in refs:
        if ref.kind == "memory" and ref.id in memories:
            found.append(_remembered(memories[ref.id], ctx, role))
        elif ref.kind == "message" and ref.id in messages:
            found.append(_said(messages[ref.id], role, words))
        else:
            text = ref.id if ref.kind == "url" else UNREADABLE
            found.append(RelatedText(kind=ref.kind, id=ref.id, text=text, role=role))
    named = {each.id for each in found}
    silent = []
    for origin in origins:
        told = [row for row in rows if origin.names(row)]
        found += [_said(row, "supporting", words) for row in told if str(row.pk) not in named][:MAX_NEIGHBOURS]
        silent += [] if told else [origin.turn_id]
    return [*found, *_turns(silent, ctx)]


def _remembered(row: MemoryItem, ctx: Ctx, role: str) -> RelatedText:
    shown, state = related(row, ctx, role), fallen(row)
    return shown.model_copy(update={"source": f"{shown.source}, by now {state}"}) if state else shown


def _turns(ids: Sequence[UUID], ctx: Ctx) -> list[RelatedText]:
    """Turns of which there is no message to show."""
    if not ids:
        return []
    rows = visible_turns(ctx).filter(pk__in=ids[:MAX_NEIGHBOURS]).select_related("session").order_by("pk")
    return [
        RelatedText(
            kind="turn",
            id=str(row.pk),
            text="(committed without a message that says it)",
            role="supporting",
            source=f"{row.author_name} in {_place(row)}",
            at=row.created_at,
            link=_page(row),
        )
        for row in rows
    ]


def _messages(ids: Sequence[UUID], origins: Sequence[Origin], ctx: Ctx) -> list[Message]:
    wanted = [Q(pk__in=ids)] if ids else []
    for origin in origins:
        place = Q(turn_id=origin.turn_id)
        if origin.message_id is not None:
            place &= Q(pk=origin.message_id)
        elif origin.position is not None:
            place &= Q(position=origin.position)
        else:
            place &= Q(position__lt=MAX_NEIGHBOURS)
        wanted.append(place)
    if not wanted:
        return []
    rows = visible_messages(ctx).filter(reduce(or_, wanted)).select_related("turn__session")
    return list(rows.order_by("turn_id", "position"))


def messages_of(given: CommitTurnInput, words: Sequence[str], made: UUID | None, ctx: Ctx) -> list[RelatedText]:
    """The messages that a call commits, with the words marked that its items say too; they lead to the turn that it made,
    or as long as there is none to the conversation so far."""
    where, link = _conversation(given, made, ctx)
    return [
        RelatedText(
            kind="message",
            id=message.id or str(place),
            text=message.content,
            source=f"{message.name or message.role} in {where}",
            span=span_in(message.content, words),
            link=link,
        )
        for place, message in enumerate(given.turn_events.messages)
    ]


def _conversation(given: CommitTurnInput, made: UUID | None, ctx: Ctx) -> tuple[str, str]:
    """Where a call takes place, in words, and the page of that as far as the reviewer may read it."""
    where = f"session {given.session_id}"
    if made is not None:
        turn = visible_turns(ctx).select_related("session").filter(pk=made).first()
        return (_place(turn), _page(turn)) if turn is not None else (where, "")
    rows = visible_sessions(ctx).filter(domain_id=given.domain_id, external_id=given.session_id)
    found = list(rows.values_list("pk", flat=True)[:2])  # of the legacy domain each principal has its own
    return where, reverse("admin:memory_session_change", args=found) if len(found) == 1 else ""


def rests_on(items: Sequence[MemoryItem], ctx: Ctx, then: datetime | None = None) -> tuple[list[Told], list[Origin]]:
    """What items rest on and what speaks against them; of one without such references, where it was learned. With `then`
    as it was at that moment."""
    own = [link for link in links_around(items, ctx).own if then is None or link.at <= then]
    refs: list[Told] = []
    origins = []
    for item in items:
        links = [link for link in own if link.item == item.pk]
        refs += [(EvidenceRef.model_validate({"kind": link.kind, "id": link.ref}), link.role) for link in links]
        if not links and item.source_turn_id is not None:
            words = words_of(item.statement, item.value)
            origins.append(Origin(item.source_turn_id, message_id=item.source_message_id, words=words))
    return refs, origins


def words_of(statement: str, value: Mapping[str, Any]) -> tuple[str, ...]:
    """The texts of a memory that may stand word for word in what it was learned from, the longest first. One that is
    less than half as long as the statement, such as the name of its project, would mark nothing that says it."""
    texts = {statement, *(told for told in value.values() if isinstance(told, str))}
    least = max(_SHORTEST, len(statement.strip()) // 2)
    return tuple(sorted((text for text in texts if len(text.strip()) >= least), key=lambda each: (-len(each), each)))


def span_in(text: str, words: Sequence[str]) -> tuple[int, int] | None:
    """Where the first of these texts that a message holds stands in it, in any case and spacing; None: none of them."""
    searched = text[:_SEARCHED]
    for each in words:
        pattern = r"\s+".join(map(re.escape, each.strip().rstrip(".。").split()))
        match = re.search(pattern, searched, re.IGNORECASE)
        if match is not None and match.group():
            return match.span()
    return None


def _said(row: Message, role: str, words: Sequence[str]) -> RelatedText:
    return RelatedText(
        kind="message",
        id=str(row.id),
        text=row.content,
        role=role,
        source=f"{row.name or row.role} in {_place(row.turn)}",
        span=span_in(row.content, words),
        at=row.created_at,
        link=_page(row.turn),
    )


def _place(turn: Turn) -> str:
    return f"session {turn.session.external_id}, turn {turn.seq}"


def _page(turn: Turn) -> str:
    return reverse("admin:memory_turn_change", args=[turn.pk])
