"""Admin pages of sessions and turns. Their content comes through the gate, so each look leaves its audit entry."""

from __future__ import annotations

from typing import Any

from django.contrib import admin
from django.db.models import Q, QuerySet
from django.http import HttpRequest

from governance.adminbase import Cell, Fact, ReadOnlyAdmin, as_uuid, fact, list_url, page_url, read, shown, when
from kernel.context import Ctx
from memory.contracts import TurnView
from memory.models import ContextRecord, MemoryItem, Session, Turn
from memory.selectors import visible_sessions, visible_turns
from scopes.contracts import SESSION

TURNS_A_PAGE = 10
SESSIONS_OF_ONE_NAME = 100  # in other domains, or of other principals in the legacy domain


@admin.register(Session)
class SessionAdmin(ReadOnlyAdmin):
    """Conversations."""

    group, place, icon = "Conversations", 0, "forum"
    list_display = ("name", "domain_name", "turn_count", "opened")
    search_fields = ("external_id",)
    search_help_text = "Start of a session's id, or its UUID"
    narrow_by = ("domain",)
    front = "Sessions"
    per = "session"
    teach = "No sessions yet. An agent opens one with its first commit_turn:"
    teach_command = (
        "curl -H 'Authorization: Bearer <api key>' http://localhost:8000/v1/commit_turn -d "
        """'{"domain_id": "my-team", "session_id": "s1", """
        """"turn_events": {"messages": [{"role": "user", "content": "Hi"}]}}'"""
    )
    detail_template = "smartbrain/conversation.html"

    def visible(self, ctx: Ctx) -> QuerySet[Session]:
        """Sessions that the person reads."""
        return visible_sessions(ctx)

    @admin.display(description="Session")
    def name(self, row: Session) -> str:
        """The caller's own id."""
        return shown(row.external_id)

    @admin.display(description="Domain")
    def domain_name(self, row: Session) -> str:
        """The domain."""
        return shown(row.domain_id)

    @admin.display(description="Turns")
    def turn_count(self, row: Session) -> int:
        """How many turns."""
        return row.last_seq

    @admin.display(description="Opened (UTC)")
    def opened(self, row: Session) -> str:
        """When."""
        return when(row.created_at)

    def facts(self, row: Session, request: HttpRequest) -> list[Fact]:
        """Its values."""
        return [
            fact("Session", row.external_id, kind="code"),
            fact("Domain", row.domain_id, list_url(self.opts, domain=row.domain_id)),
            fact("Turns", row.last_seq, list_url(Turn._meta, session=row.pk)),
            Fact("From this session", Cell("memories learned", list_url(MemoryItem._meta, source_session=row.pk))),
            Fact("From this session", Cell("contexts composed", list_url(ContextRecord._meta, session=row.pk))),
            fact("Opened", row.created_at, kind="time"),
            fact("Server id", row.pk, kind="code"),
        ]

    def detail(self, row: Session, request: HttpRequest) -> dict[str, Any]:
        """A page of its turns."""
        asked: dict[str, Any] = {"id": str(row.pk), "limit": TURNS_A_PAGE}
        if request.GET.get("cursor"):
            asked["cursor"] = request.GET["cursor"]
        answer = read("get_session", request, **asked)
        return {
            "turns": _linked(answer.turns),
            "next_cursor": answer.next_cursor,
            "whole": False,
            "summaries": answer.summaries,
        }


@admin.register(Turn)
class TurnAdmin(ReadOnlyAdmin):
    """Single commits."""

    group, place, icon = "Conversations", 1, "chat"
    list_display = ("name", "session_name", "author", "domain_name", "findable", "committed")
    list_select_related = ("session", "default_write")
    search_fields = ()
    search_help_text = "Whole id of a session, or a turn's UUID"
    narrow_by = ("domain", "session")
    front = "Turns"
    per = "session"
    teach = "No turns yet. Each commit_turn adds one, with its messages, tool calls and references."
    teach_command = "manage.py act commit_turn --schema"
    detail_template = "smartbrain/conversation.html"

    def visible(self, ctx: Ctx) -> QuerySet[Turn]:
        """Turns of sessions that the person reads."""
        return visible_turns(ctx)

    def get_search_fields(self, request: HttpRequest) -> tuple[str, ...]:
        """The box is there though its search is our own."""
        return ("session__external_id",)

    def matches(self, term: str) -> Q:
        """A turn by its id, or the turns of one session by the session's whole id."""
        row_id = as_uuid(term)
        sessions = Session.objects.filter(scope__scope_type=SESSION, scope__external_id=term).values_list("pk")
        found = Q(session__in=[pk for (pk,) in sessions[:SESSIONS_OF_ONE_NAME]])
        return found | Q(id=row_id) if row_id else found

    @admin.display(description="Turn")
    def name(self, row: Turn) -> str:
        """Its place in the session."""
        return shown(f"Turn {row.seq}")

    @admin.display(description="Session")
    def session_name(self, row: Turn) -> str:
        """The conversation."""
        return shown(row.session.external_id)

    @admin.display(description="Committed by")
    def author(self, row: Turn) -> str:
        """Who committed it."""
        return shown(row.author_name)

    @admin.display(description="Domain")
    def domain_name(self, row: Turn) -> str:
        """The domain."""
        return shown(row.domain_id)

    @admin.display(description="Also found in")
    def findable(self, row: Turn) -> str:
        """The scope in which its messages can be found too."""
        return shown(row.default_write.name if row.default_write else "its session only")

    @admin.display(description="Committed (UTC)")
    def committed(self, row: Turn) -> str:
        """When."""
        return when(row.created_at)

    def facts(self, row: Turn, request: HttpRequest) -> list[Fact]:
        """Its values."""
        return [
            fact("Session", row.session.external_id, page_url(row.session)),
            fact("Turn", row.seq),
            fact("Domain", row.domain_id),
            fact("Committed by", row.author_name),
            fact("Committed", row.created_at, kind="time"),
            fact("Learned from it", "memories", list_url(MemoryItem._meta, source_turn=row.pk)),
            fact("Also found in", row.default_write.name if row.default_write else "its session only", kind="code"),
            fact("Server id", row.pk, kind="code"),
        ]

    def detail(self, row: Turn, request: HttpRequest) -> dict[str, Any]:
        """Everything in it."""
        answer = read("get_turn", request, turn_id=str(row.pk))
        return {"turns": _linked([answer.turn]), "whole": True}


def _linked(turns: list[TurnView]) -> list[dict[str, Any]]:
    return [{"view": turn, "url": page_url(Turn(pk=turn.turn_id))} for turn in turns]
