"""Where a memory comes from and what it rests on, as its page tells it: in words, linked, with whole ids to copy."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from uuid import UUID

from django.db.models import Value
from django.db.models.functions import Left

from governance.adminbase import Cell, Table, as_uuid, page_url
from kernel.context import Ctx
from kernel.text import one_line
from media.models import SourceDocument
from media.selectors.sight import visible_documents
from memory.contracts.items import ProvenanceView
from memory.contracts.promotion import LineageNode
from memory.models import MemoryItem, Session, Turn
from memory.selectors import visible_sessions, visible_turns
from memory.selectors.events import visible_messages

FIRST_WORDS = 80


@dataclass(frozen=True, slots=True)
class Named:
    """Something in words and the page on which it stands."""

    words: str
    link: str


def named_around(row: MemoryItem, told: ProvenanceView, near: Sequence[MemoryItem], ctx: Ctx) -> dict[str, Named]:
    """What the page of a memory names by an id and the person may see: turns, messages, memories and documents."""
    found = {str(other.pk): Named(one_line(other.statement, FIRST_WORDS), page_url(other)) for other in near}
    rests_on = {kind: _ids(told, kind) for kind in ("turn", "message", "document")}
    own = [each for each in (row.source_turn_id, row.source_message_id) if each is not None]
    found |= _said([*own, *rests_on["turn"], *rests_on["message"]], ctx)
    if rests_on["document"]:
        rows = visible_documents(ctx).filter(pk__in=rests_on["document"]).values_list("pk", "title")
        found |= {str(pk): Named(title or "a document", page_url(SourceDocument(pk=pk))) for pk, title in rows}
    return found


def came_from(
    row: MemoryItem, told: ProvenanceView, named: Mapping[str, Named], made: Sequence[LineageNode], ctx: Ctx
) -> Table:
    """Origin, conversation, turn, message and promotion."""
    rows = [[Cell("Origin"), Cell(told.origin, kind="code")]]
    if told.session_id is not None:
        rows.append([Cell("Session"), Cell(told.session_id, _session(row, named, ctx))])
    for label, row_id in (("Turn", row.source_turn_id), ("Message", row.source_message_id)):
        if row_id is not None:
            rows.append([Cell(label), _cell(str(row_id), named)])
    if told.promotion_event_id is not None:
        event = str(told.promotion_event_id)
        how = next((each.promotion for each in made if each.promotion and str(each.promotion.event_id) == event), None)
        words = f"{how.kind} for {how.proposed_by} from {how.source_scope.type}:{how.source_scope.id}" if how else ""
        rows.append([Cell("Promotion"), Cell(words, whole=event) if words else Cell(event, kind="code")])
    return Table("Where it comes from", ("What", "Which"), rows, "")


def evidence(told: ProvenanceView, named: Mapping[str, Named]) -> Table:
    """What it rests on, and what speaks against it."""
    rows = [
        [Cell(link["role"], kind="word"), Cell(link["kind"], kind="word"), _cell(link["id"], named)]
        for link in told.evidence
    ]
    return Table("Evidence", ("Role", "Kind", "What"), rows, "No evidence was given for it.")


def _ids(told: ProvenanceView, kind: str) -> list[UUID]:
    return [row_id for link in told.evidence if link["kind"] == kind and (row_id := as_uuid(link["id"]))]


def _cell(row_id: str, named: Mapping[str, Named]) -> Cell:
    """What an id names, with the id in full; the id alone where it may not be seen or has no page."""
    known = named.get(row_id)
    return Cell(known.words, known.link, whole=row_id) if known else Cell(row_id, kind="code")


def _said(ids: Collection[UUID], ctx: Ctx) -> dict[str, Named]:
    """The visible turns of these ids by their number, and messages by who spoke and their first words."""
    if not ids:
        return {}
    turns = visible_turns(ctx).order_by()
    messages = visible_messages(ctx).filter(pk__in=ids).order_by().annotate(words=Left("content", 4 * FIRST_WORDS))
    both = (
        turns.filter(pk__in=ids)
        .annotate(name=Value(""), role=Value(""), words=Value(""))
        .values_list("pk", "id", "seq", "name", "role", "words")
        .union(messages.values_list("pk", "turn_id", "turn__seq", "name", "role", "words"))
    )
    return {
        str(pk): Named(
            f"{name or role}: {one_line(words, FIRST_WORDS)}" if role else f"Turn {seq}", page_url(Turn(pk=turn_id))
        )
        for pk, turn_id, seq, name, role, words in both
    }


def _session(row: MemoryItem, named: Mapping[str, Named], ctx: Ctx) -> str:
    """The page of the conversation, as far as it may be seen: who sees a turn of it does."""
    if row.source_session_id is None:
        return ""
    seen = str(row.source_turn_id) in named
    if row.source_turn_id is None:
        seen = visible_sessions(ctx).filter(pk=row.source_session_id).exists()
    return page_url(Session(pk=row.source_session_id)) if seen else ""
