"""Admin pages of memory items. An item's content comes through the gate, so each look leaves its audit entry."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, get_args
from uuid import UUID

from django.contrib import admin
from django.contrib.admin import ModelAdmin, SimpleListFilter
from django.db.models import Exists, OuterRef, Q, QuerySet
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
from kernel.context import Ctx
from memory.admin.lineage import drawn_line, notices_table
from memory.contracts.items import (
    GetMemoryItemResult,
    ItemView,
    Lifecycle,
    MemoryType,
    ProvenanceView,
    Status,
)
from memory.contracts.promotion import OriginView
from memory.models import MemoryItem, Message, Session, Turn
from memory.selectors import visible_items, visible_sessions, visible_turns

STATUS_TONES = {Status.ACTIVE.value: "good", Status.RETRACTED.value: "bad"}
LIFECYCLE_TONES = {Lifecycle.CANDIDATE.value: "warn", Lifecycle.DEMOTED.value: "bad", Lifecycle.RETIRED.value: "bad"}
NEIGHBOURS = 20


class TypeFilter(SimpleListFilter):
    """The type of an item: a short closed list, so nothing is looked up."""

    title = "type"
    parameter_name = "type"

    def lookups(self, request: HttpRequest, model_admin: ModelAdmin[Any]) -> list[tuple[str, str]]:
        """The types."""
        return [(name, name) for name in get_args(MemoryType)]

    def queryset(self, request: HttpRequest, queryset: QuerySet[MemoryItem]) -> QuerySet[MemoryItem]:
        """Items of that type."""
        return queryset.filter(type=self.value()) if self.value() else queryset


class InForceFilter(SimpleListFilter):
    """Whether an item is the version in force of its key."""

    title = "version"
    parameter_name = "in_force"

    def lookups(self, request: HttpRequest, model_admin: ModelAdmin[Any]) -> list[tuple[str, str]]:
        """In force, or not any more."""
        return [("yes", "in force"), ("no", "earlier")]

    def queryset(self, request: HttpRequest, queryset: QuerySet[MemoryItem]) -> QuerySet[MemoryItem]:
        """Items in force, or those no longer."""
        if self.value() not in ("yes", "no"):
            return queryset
        return queryset.filter(current_until__isnull=self.value() == "yes")


@admin.register(MemoryItem)
class MemoryItemAdmin(ReadOnlyAdmin):
    """What was learned, every version of it."""

    group, place, icon = "Memory", 0, "lightbulb"
    list_display = ("name", "where", "state", "trust", "version", "recorded")
    list_filter = (TypeFilter, "status", "lifecycle_status", InForceFilter)
    search_fields = ("key",)
    search_help_text = "Start of a key such as decision:shop, or an item's UUID"
    narrow_by = ("domain", "scope", "source_session", "source_turn")
    front = "Memories"
    teach = "No memories yet. An agent stores them with commit_turn, structured or in words such as “remember that …”:"
    teach_command = (
        'manage.py act commit_turn \'{"domain_id": "my-team", "session_id": "s1", "turn_events": '
        '{"decisions": [{"key": "decision:shop:database", "decision": "Use PostgreSQL"}]}}'
        "'"
    )
    on_page_only = ("value", "statement", "source_session__metadata", "scope__metadata")
    detail_template = "smartbrain/item.html"

    def visible(self, ctx: Ctx) -> QuerySet[MemoryItem]:
        """Items of the scopes that the person reads."""
        return visible_items(ctx)

    @admin.display(description="Key")
    def name(self, row: MemoryItem) -> str:
        """Its key, or its type where it has none."""
        return shown(row)

    @admin.display(description="Where")
    def where(self, row: MemoryItem) -> str:
        """Domain and scope."""
        return shown(row.scope)

    @admin.display(description="State")
    def state(self, row: MemoryItem) -> str:
        """Whether it holds."""
        if row.status == Status.ACTIVE and row.current_until is not None:
            return badge("earlier version")
        return badge(row.status, STATUS_TONES.get(row.status, "plain"))

    @admin.display(description="Lifecycle")
    def trust(self, row: MemoryItem) -> str:
        """How far it is trusted."""
        return badge(row.lifecycle_status, LIFECYCLE_TONES.get(row.lifecycle_status, "plain"))

    @admin.display(description="Version")
    def version(self, row: MemoryItem) -> int:
        """Version of its key."""
        return row.version

    @admin.display(description="Recorded (UTC)")
    def recorded(self, row: MemoryItem) -> str:
        """When."""
        return when(row.recorded_at)

    def facts(self, row: MemoryItem, request: HttpRequest) -> list[Fact]:
        """Its values beside the content."""
        return [
            fact("Key", row.key or "none", kind="code"),
            fact("Type", row.type, list_url(self.opts, domain=row.domain_id, type=row.type)),
            fact("Domain", row.domain_id, list_url(self.opts, domain=row.domain_id)),
            fact("Scope", row.scope.name, list_url(self.opts, scope=row.scope_id), "code"),
            fact("Confidence", f"{row.confidence:g}"),
            fact("Holds in the world", _period(row.valid_from, row.valid_to)),
            fact("Recorded", row.recorded_at, kind="time"),
            fact("In force until", row.current_until, kind="time"),
            *([fact("Review by", row.review_by, kind="time")] if row.review_by else []),
            fact("Importance", row.importance),
            fact("Written by", row.author_name),
            fact("Item id", row.pk, kind="code"),
        ]

    def detail(self, row: MemoryItem, request: HttpRequest) -> dict[str, Any]:
        """The content, where it comes from and what became of it."""
        answer: GetMemoryItemResult = read("get_memory_item", request, id=str(row.pk))
        ctx, told = ctx_of(request), answer.provenance
        line = drawn_line(row, ctx)
        source = _source_links(row, line["origin"], ctx)
        near = _near(row, told, ctx)
        return {
            "item": answer.item,
            "index_text": answer.text,
            "status_tone": STATUS_TONES.get(row.status, "plain"),
            "lifecycle_tone": LIFECYCLE_TONES.get(row.lifecycle_status, "plain"),
            "line": line,
            "sections": [
                _came_from(row, told, source),
                _evidence(told, source | {str(other.pk): page_url(other) for other in near}, ctx),
                _neighbours(row, near),
                _versions(answer.versions),
                notices_table(row),
                _history(answer),
            ],
        }


def _period(start: Any, end: Any) -> str:
    if start is None and end is None:
        return "always"
    first, last = (f"{moment:%Y-%m-%d %H:%M:%S} UTC" if moment else "" for moment in (start, end))
    return " ".join(part for part in (f"from {first}" if first else "", f"until {last}" if last else "") if part)


def _source_links(row: MemoryItem, origin: OriginView, ctx: Ctx) -> dict[str, str]:
    """The pages of where it comes from, by id, as far as they may be seen: who sees a turn sees its session and its
    messages."""
    session, turn, message = row.source_session_id, row.source_turn_id, row.source_message_id
    seen = origin.turn_seq is not None
    if session and turn is None:
        seen = visible_sessions(ctx).filter(pk=session).exists()
    pages = {session: Session(pk=session), turn: Turn(pk=turn), message: Turn(pk=turn)}
    return {str(row_id): page_url(shown_on) for row_id, shown_on in pages.items() if row_id} if seen else {}


def _came_from(row: MemoryItem, told: ProvenanceView, links: Mapping[str, str]) -> Table:
    rows = [[Cell("Origin"), Cell(told.origin, kind="code")]]
    if told.session_id is not None:
        rows.append([Cell("Session"), Cell(told.session_id, links.get(str(row.source_session_id), ""))])
    if told.turn_id is not None:
        rows.append([Cell("Turn"), Cell(told.turn_id, links.get(str(told.turn_id), ""), "code")])
    if told.message_id is not None:
        rows.append([Cell("Message"), Cell(told.message_id, kind="code")])
    if told.promotion_event_id is not None:
        rows.append([Cell("Promotion"), Cell(told.promotion_event_id, kind="code")])
    return Table("Where it comes from", ("What", "Which"), rows, "")


def _evidence(told: ProvenanceView, links: Mapping[str, str], ctx: Ctx) -> Table:
    """What it rests on; `links` are pages that are known already."""
    others = [row_id for link in told.evidence if (row_id := as_uuid(link["id"])) and str(row_id) not in links]
    if others:
        links = {**links, **_turn_links(others, ctx)}
    rows = [
        [Cell(link["role"], kind="word"), Cell(link["kind"], kind="word"), _target(link, links)]
        for link in told.evidence
    ]
    return Table("Evidence", ("Role", "Kind", "What"), rows, "No evidence was given for it.")


def _turn_links(ids: Sequence[UUID], ctx: Ctx) -> dict[str, str]:
    """The pages of the visible turns of these ids, and those on which the messages of these ids stand."""
    turns = visible_turns(ctx).order_by()
    seen = Exists(turns.filter(pk=OuterRef("turn_id")))
    messages = Message.objects.filter(seen, pk__in=ids).order_by().values_list("pk", "turn_id")
    pairs = turns.filter(pk__in=ids).values_list("pk", "id").union(messages)
    return {str(row_id): page_url(Turn(pk=turn_id)) for row_id, turn_id in pairs}


def _target(link: dict[str, str], links: Mapping[str, str]) -> Cell:
    return Cell(link["id"], links.get(link["id"], ""), "code")


def _near(row: MemoryItem, told: ProvenanceView, ctx: Ctx) -> list[MemoryItem]:
    """The visible items that it has to do with: its neighbours and its evidence."""
    ids = [row_id for link in told.evidence if (row_id := as_uuid(link["id"]))]
    near = (
        Q(successor=row) | Q(source_item=row) | Q(pk__in=[*filter(None, (row.successor_id, row.source_item_id)), *ids])
    )
    return list(visible_items(ctx).filter(near).order_by("-id")[: NEIGHBOURS + len(ids)])


def _neighbours(row: MemoryItem, near: Sequence[MemoryItem]) -> Table:
    """The items that it took the place of, that took its place, and that were promoted from or to it."""
    rows = [
        [Cell(relation, kind="word"), Cell(str(other), page_url(other)), Cell(other.scope.name, kind="code")]
        for other in near
        if (relation := _relation(row, other))
    ]
    headers = ("Relation", "Item", "Scope")
    return Table("Before and after", headers, rows[:NEIGHBOURS], "It replaced nothing and nothing replaced it.")


def _relation(row: MemoryItem, other: MemoryItem) -> str:
    """How the other item stands to it; empty where only its evidence names the other."""
    if other.pk == row.successor_id:
        return "replaced by"
    if other.successor_id == row.pk:
        return "took the place of"
    if other.pk == row.source_item_id:
        return "promoted from"
    return "promoted to" if other.source_item_id == row.pk else ""


def _versions(versions: list[ItemView]) -> Table:
    rows = [
        [
            Cell(view.version, page_url(MemoryItem(pk=view.id))),
            Cell(view.status.value, kind="word"),
            Cell(view.statement),
            Cell(view.recorded_at, kind="time"),
            Cell(view.current_until, kind="time"),
        ]
        for view in versions
    ]
    headers = ("Version", "State", "Statement", "Recorded", "In force until")
    return Table("Other versions of its key", headers, rows, "Its key has no other version in this scope.")


def _history(answer: GetMemoryItemResult) -> Table:
    versions = {view.id: view.version for view in [answer.item, *answer.versions]}
    rows = [
        [
            Cell(step.at, kind="time"),
            Cell(versions[step.item_id], page_url(MemoryItem(pk=step.item_id)), "word"),
            Cell(step.kind, kind="word"),
            Cell(f"{step.from_status or '–'} → {step.to_status}"),
            Cell(step.actor),
            Cell(step.reason),
        ]
        for step in answer.history
    ]
    headers = ("When", "Version", "Step", "State", "Who", "Reason")
    return Table("History of its key", headers, rows, "Nothing is recorded.")
