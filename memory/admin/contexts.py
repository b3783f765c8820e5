"""Admin pages of recorded contexts: the package as the agent saw it, read through the gate and so on record."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import Any

from django.contrib import admin
from django.db.models import QuerySet
from django.db.models.fields.json import KT
from django.http import HttpRequest

from governance.adminbase import (
    Cell,
    Fact,
    ReadOnlyAdmin,
    Table,
    as_uuid,
    badge,
    ctx_of,
    fact,
    list_url,
    page_url,
    read,
    shown,
    when,
)
from kernel.context import Ctx, Right
from memory.contracts.compose import GetContextResult
from memory.models import ContextRecord, MemoryItem, Turn
from memory.selectors import visible_sessions
from memory.selectors.contexts import visible_contexts

FALLBACK = "no session"


def _named(row: ContextRecord) -> str:
    """The session that the call named, though nothing had been committed to it."""
    return (getattr(row, "named", None) or FALLBACK) if row.session_id is None else FALLBACK


@admin.register(ContextRecord)
class ContextAdmin(ReadOnlyAdmin):
    """What agents were shown."""

    group, place, icon = "Memory", 3, "visibility"
    list_display = ("name", "actor", "domain_name", "evidence", "gave_way", "tokens", "took", "composed")
    list_select_related = ("session",)
    search_fields = ("actor_name",)
    search_help_text = "Start of an agent's name, or a context's UUID"
    narrow_by = ("domain", "session", "actor_id", "request_id")
    needs = Right.DECIDE
    per = "domain"
    teach = "No contexts yet. Each compose_context is kept here for as long as the retention policy says:"
    teach_command = (
        "curl -H 'Authorization: Bearer <api key>' http://localhost:8000/v1/compose_context -d "
        """'{"domain_id": "my-team", "session_id": "s1", "user_message": "Which database do we use?"}'"""
    )
    detail_template = "smartbrain/context.html"

    def visible(self, ctx: Ctx) -> QuerySet[ContextRecord]:
        """Contexts of domains that the person reviews as a whole."""
        return visible_contexts(ctx)

    def get_queryset(self, request: HttpRequest) -> QuerySet[ContextRecord]:
        """The package is read through the gate alone, but for the name of a session that was not opened by then."""
        rows: QuerySet[ContextRecord] = super().get_queryset(request).defer("package")
        return rows.annotate(named=KT("package__session_id"))

    @admin.display(description="For session")
    def name(self, row: ContextRecord) -> str:
        """The conversation that it continued."""
        return shown(row.session.external_id if row.session else _named(row))

    @admin.display(description="Shown to")
    def actor(self, row: ContextRecord) -> str:
        """Who asked for it."""
        return shown(row.actor_name)

    @admin.display(description="Domain")
    def domain_name(self, row: ContextRecord) -> str:
        """The domain."""
        return shown(row.domain_id)

    @admin.display(description="Evidence")
    def evidence(self, row: ContextRecord) -> int:
        """How many texts."""
        return row.memories + row.resources

    @admin.display(description="Gave way")
    def gave_way(self, row: ContextRecord) -> int:
        """How many rows gave way to another of the same key."""
        return row.shadowed

    @admin.display(description="Tokens")
    def tokens(self, row: ContextRecord) -> str:
        """Used, and how many there might be."""
        used = f"{row.tokens_used} of {row.token_limit}"
        return badge(used, "bad") if row.tokens_used > row.token_limit else used

    @admin.display(description="Took")
    def took(self, row: ContextRecord) -> str:
        """Milliseconds."""
        return f"{row.took_ms:.0f} ms"

    @admin.display(description="Composed (UTC)")
    def composed(self, row: ContextRecord) -> str:
        """When."""
        return when(row.created_at)

    def facts(self, row: ContextRecord, request: HttpRequest) -> list[Fact]:
        """Its figures."""
        session = visible_sessions(ctx_of(request)).filter(pk=row.session_id).first() if row.session_id else None
        return [
            fact("Session", session.external_id if session else _named(row), page_url(session) if session else ""),
            fact("Shown to", row.actor_name, list_url(self.opts, actor_id=row.actor_id)),
            fact("Domain", row.domain_id, list_url(self.opts, domain=row.domain_id)),
            fact("Composed", row.created_at, kind="time"),
            fact("Tokens", f"{row.tokens_used} of {row.token_limit}, by estimate"),
            fact("Evidence", f"{row.memories} of memory, {row.resources} of documents"),
            fact("Took", f"{row.took_ms:.1f} ms"),
            fact("Document retrieval", row.plan_id, kind="code"),
            fact("Request", row.request_id, kind="code"),
            fact("Context id", row.pk, kind="code"),
        ]

    def detail(self, row: ContextRecord, request: HttpRequest) -> dict[str, Any]:
        """The package, part by part."""
        answer: GetContextResult = read("get_context", request, id=str(row.pk))
        package = answer.package
        debug = package["debug"]
        why = {entry["id"]: entry["reason"] for entry in debug["why_selected"]}
        return {
            "package": package,
            "recent": [
                {"view": message, "at": _instant(message["created_at"])} for message in package["recent_turns"]
            ],
            "evidence": [_evidence(number, item, why) for number, item in enumerate(package["evidence"], start=1)],
            "accounts": [
                *([_withheld(answer)] if answer.withheld else []),
                _gave_way(debug["shadowed"]),
                _left("Left out", debug["dropped"], "Nothing was left out."),
                _left("Shortened", debug["truncated"], "Nothing was shortened."),
                _scopes(debug["scope_stats"]),
                _warnings(debug),
            ],
        }


def _evidence(number: int, item: Mapping[str, Any], why: Mapping[str, str]) -> dict[str, Any]:
    scope, ref = item["scope"], item["ref"]
    return {
        "number": number,
        "view": item,
        "scope": f"{scope['type']}:{scope['id']}" if scope else "",
        "why": why.get(item["id"], ""),
        "signals": ", ".join(f"{name} {value:.3g}" for name, value in item["signals"].items()),
        "link": _link(ref),
        "at": _instant(item["event_time"]),
    }


def _instant(text: str | None) -> datetime | None:
    """An instant of the package, which holds plain JSON."""
    return datetime.fromisoformat(text) if text else None


def _link(ref: Mapping[str, Any]) -> str:
    """The page of the memory or the turn that a text is from; what the person may not see leads nowhere."""
    if ref.get("memory_item_id"):
        return page_url(MemoryItem(pk=ref["memory_item_id"]))
    return page_url(Turn(pk=ref["turn_id"])) if ref.get("turn_id") else ""


def _gave_way(shadowed: list[dict[str, Any]]) -> Table:
    rows = [
        [
            Cell(entry["key"], kind="code"),
            Cell(entry["winner_scope"], page_url(MemoryItem(pk=entry["winner_id"]))),
            Cell(entry["loser_scope"], page_url(MemoryItem(pk=entry["loser_id"]))),
            Cell(entry["rule"], kind="word"),
            Cell(entry["reason"]),
        ]
        for entry in shadowed
    ]
    headers = ("Key", "Counts", "Gave way", "Rule", "Why")
    return Table("Same key, several scopes", headers, rows, "No memory gave way to another of the same key.")


def _left(title: str, entries: list[dict[str, Any]], empty: str) -> Table:
    rows = [
        [
            Cell(entry["slot"], kind="word"),
            Cell(entry["id"], _item_link(entry["id"]), "code"),
            Cell(entry["reason"], kind="word"),
            Cell(entry["of"] or "", kind="code"),
            Cell(entry["tokens"]),
        ]
        for entry in entries
    ]
    return Table(title, ("Part", "What", "Reason", "Shown instead", "Tokens saved"), rows, empty)


def _withheld(answer: GetContextResult) -> Table:
    rows = [[Cell(each.slot, kind="word"), Cell(each.id, kind="code"), Cell(each.reason)] for each in answer.withheld]
    return Table("No longer told to you", ("Part", "What", "Why"), rows, "Nothing.")


def _item_link(name: str) -> str:
    source, _, rest = name.partition(":")
    row_id = as_uuid(rest) if source == "memory" else None
    return page_url(MemoryItem(pk=row_id)) if row_id else ""


def _scopes(stats: list[dict[str, Any]]) -> Table:
    rows = [
        [
            Cell(f"{entry['scope']['type']}:{entry['scope']['id']}", kind="code"),
            *(Cell(entry[count]) for count in ("found", "selected", "shadowed", "capped")),
        ]
        for entry in stats
    ]
    return Table("Scopes read", ("Scope", "Found", "Shown", "Gave way", "Over the cap"), rows, "None.")


def _warnings(debug: Mapping[str, Any]) -> Table:
    rows = [[Cell(text)] for text in [*debug["ignored"], *debug["scope_filter_warnings"]]]
    return Table("Without effect", ("What",), rows, "Every part of the plan had its effect.")
