"""What the lists of memories and of conflicts have in common: how a statement looks in a row, in which scopes the search
box looks, and what is said of what it found."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, Protocol
from uuid import UUID

from django.contrib import messages
from django.db.models import Q
from django.http import HttpRequest, QueryDict
from django.utils.html import format_html

from governance.adminbase import as_uuid, page_url, read
from kernel.context import Ctx
from kernel.errors import DomainError
from kernel.text import one_line, show_invisible
from memory.contracts.conflicts import SideDetail
from memory.models import MemoryItem, Turn
from memory.selectors import visible_items, visible_turns
from memory.selectors.events import visible_messages

SHORT = 240  # characters of a statement in a row


class Searched(Protocol):
    """What a search by words tells of itself."""

    @property
    def whole(self) -> bool:
        """Whether what was found holds every word."""

    @property
    def scopes_left(self) -> bool:
        """Whether there are scopes in which the words were not looked up."""


def said(statement: str) -> str:
    """A statement in a row: escaped, hidden characters written out, no longer than two lines."""
    return format_html('<span class="sb-says" dir="auto">{}</span>', one_line(show_invisible(statement), SHORT) or "–")


def scopes_within(address: QueryDict, key: str = "key") -> Q:
    """The scopes to which a list's address narrows it, or the rows that lie in them, of which `key` is the scope."""
    within = Q()
    for name in address:
        value, narrows = address.get(name, ""), name.removesuffix("__exact").removesuffix("__id")
        if narrows == "scope":
            number = int(value) if value.isascii() and value.isdigit() and len(value) < 19 else None
            within &= Q(pk__in=[]) if number is None else Q(**{key: number})
        elif narrows == "domain" and value:
            within &= Q(domain_id=value)
    return within


def told_of(found: Searched, more: str) -> list[str]:
    """What the page says of a search: where no row holds all words, and where there may be others (`more` says so)."""
    told = [] if found.whole else ["Nothing holds every one of these words: these hold most of them."]
    if found.scopes_left:
        told.append(
            "Not all of your scopes were looked through, the oldest sessions are left out: narrow to a domain or a scope."
        )
    return [*told, more] if more else told


def looked_up(action: str, rows: Iterable[Any], request: HttpRequest, answers: str) -> dict[UUID, Any]:
    """What the gate tells of the rows of a page, by id, with one look on record; where it refuses, the page says why."""
    ids = [str(row.pk) for row in rows]
    if not ids:
        return {}
    try:
        answer = read(action, request, ids=ids)
    except DomainError as exc:
        messages.error(request, exc.message)
        return {}
    return {view.id: view for view in getattr(answer, answers)}


def pages_of(sides: Sequence[SideDetail], ctx: Ctx) -> dict[str, str]:
    """The pages of the turns that the sides come from and of the messages and memories that they rest on, by id, as far
    as they may be seen: three statements at most."""
    turns = {side.provenance.turn_id for side in sides if side.provenance and side.provenance.turn_id}
    named = [(each["kind"], each["id"]) for side in sides for each in side.evidence]
    ids = {kind: [row_id for of, text in named if of == kind and (row_id := as_uuid(str(text)))] for kind, _ in named}
    turns |= set(ids.get("turn", []))
    here = visible_turns(ctx).filter(pk__in=turns).order_by()
    pages = {str(pk): page_url(Turn(pk=pk)) for pk in here.values_list("pk", flat=True)}
    if ids.get("message"):
        told = visible_messages(ctx).filter(pk__in=ids["message"])
        pages |= {str(pk): page_url(Turn(pk=turn)) for pk, turn in told.order_by().values_list("pk", "turn_id")}
    if ids.get("memory"):
        known = visible_items(ctx).filter(pk__in=ids["memory"]).order_by().values_list("pk", flat=True)
        pages |= {str(pk): page_url(MemoryItem(pk=pk)) for pk in known}
    return pages
