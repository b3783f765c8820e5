"""Admin pages of memory items. An item's content comes through the gate, so each look leaves its audit entry: one for a
page of the list, one for a page of an item."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, get_args

from django.contrib import admin
from django.contrib.admin import ModelAdmin, SimpleListFilter
from django.db.models import Q, QuerySet
from django.http import HttpRequest
from django.utils.html import format_html

from governance.adminbase import (
    Cell,
    Fact,
    Matches,
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
from kernel.text import one_line, show_invisible
from memory.admin.acts import ActScreen
from memory.admin.deeds import offers_on
from memory.admin.lineage import drawn_line, notices_table
from memory.admin.listed import looked_up, said, scopes_within, told_of
from memory.admin.sources import FIRST_WORDS, came_from, evidence, named_around
from memory.admin.undoing import UndoActScreen
from memory.contracts.items import (
    GetMemoryItemResult,
    ItemView,
    Lifecycle,
    MemoryType,
    ProvenanceView,
    Status,
)
from memory.models import MemoryItem
from memory.selectors import visible_items
from memory.selectors.finding import MOST_CHARS, find_items

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
    list_display = ("says", "name", "where", "state", "recorded")
    list_filter = (TypeFilter, "status", "lifecycle_status", InForceFilter)
    search_fields = ("key",)
    search_help_text = "Words it says, the start of its key, or its UUID"
    change_list_template = "smartbrain/found_list.html"
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
    screens = (ActScreen, UndoActScreen)

    def visible(self, ctx: Ctx) -> QuerySet[MemoryItem]:
        """Items of the scopes that the person reads."""
        return visible_items(ctx)

    def found(self, term: str, rows: QuerySet[MemoryItem], request: HttpRequest) -> Matches:
        """An item by its id, else those whose key begins so or that hold the words, the best first."""
        row_id = as_uuid(term)
        if row_id:
            return Matches(Q(id=row_id))
        found = find_items(term[:MOST_CHARS], rows, scopes_within(request.GET), ctx_of(request))
        best = f"These are the best {len(found.ids)}: add a word or a filter to see others." if found.more else ""
        return Matches(found.ids, told_of(found, best))

    def looked_at(self, rows: list[MemoryItem], request: HttpRequest) -> list[MemoryItem]:
        """What they say is read through the gate, for the whole page at once."""
        views = looked_up("show_memory_items", rows, request, "items")
        for row in rows:
            row.statement = views[row.pk].statement if row.pk in views else ""
        return rows

    @admin.display(description="What it says")
    def says(self, row: MemoryItem) -> str:
        """The memory in words, cut to two lines."""
        return said(row.statement)

    @admin.display(description="Key")
    def name(self, row: MemoryItem) -> str:
        """Its key, or its type where it has none."""
        clear = show_invisible(str(row))
        return format_html('<bdi class="sb-cell sb-wraps" title="{}">{}</bdi>', clear, clear or "–")

    @admin.display(description="Where")
    def where(self, row: MemoryItem) -> str:
        """Domain and scope."""
        return shown(row.scope)

    @admin.display(description="State")
    def state(self, row: MemoryItem) -> str:
        """Whether it holds, and how far it is trusted."""
        earlier = row.status == Status.ACTIVE and row.current_until is not None
        holds = badge("earlier version") if earlier else badge(row.status, STATUS_TONES.get(row.status, "plain"))
        trusted = badge(row.lifecycle_status, LIFECYCLE_TONES.get(row.lifecycle_status, "plain"))
        return format_html("{} {}", holds, trusted)

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
        near = _near(row, told, ctx)
        named = named_around(row, told, near, ctx)
        return {
            "item": answer.item,
            "offers": offers_on(row, ctx),
            "index_text": answer.text,
            "status_tone": STATUS_TONES.get(row.status, "plain"),
            "lifecycle_tone": LIFECYCLE_TONES.get(row.lifecycle_status, "plain"),
            "line": line,
            "sections": [
                came_from(row, told, named, line["nodes"], ctx),
                evidence(told, named),
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
        [
            Cell(relation, kind="word"),
            Cell(one_line(other.statement, FIRST_WORDS), page_url(other), whole=str(other.pk)),
            Cell(other.scope.name, kind="code"),
        ]
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
