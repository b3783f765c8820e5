"""Admin pages of documents. Their content comes through the gate, so each look leaves its audit entry."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from django.contrib import admin
from django.contrib.admin import ModelAdmin, SimpleListFilter
from django.db.models import QuerySet
from django.http import HttpRequest
from django.urls import reverse

from governance.adminbase import (
    Cell,
    Fact,
    ReadOnlyAdmin,
    Table,
    badge,
    ctx_of,
    fact,
    list_url,
    page_url,
    read,
    shown,
    when,
)
from governance.selectors.erasing import holds_over
from kernel.context import Ctx
from media.contracts.documents import GetDocumentResult
from media.contracts.kinds import DocumentState, MediaType, SourceType
from media.extracting import PICTURES
from media.models import SourceDocument
from media.selectors.sight import visible_documents

SECTIONS_A_PAGE = 20
STATE_TONES = {DocumentState.COMPLETED.value: "good", DocumentState.FAILED.value: "bad"}
_UNITS = {"dpi": "dpi", "duration_ms": "ms", "bitrate_bps": "bit/s", "sample_rate_hz": "Hz", "fps": "pictures/s"}
_SHOWN_ELSEWHERE = {
    "schema_version",
    "media_type",
    "media",
    "semantic",
    "content",
    "file_name",
    "file_size",
    "file_type",
}


class KindFilter(SimpleListFilter):
    """What a document is: a short closed list, so nothing is looked up."""

    title = "kind"
    parameter_name = "media_type"

    def lookups(self, request: HttpRequest, model_admin: ModelAdmin[Any]) -> list[tuple[str, str]]:
        """The kinds."""
        return [(kind.value, kind.value) for kind in MediaType]

    def queryset(self, request: HttpRequest, queryset: QuerySet[SourceDocument]) -> QuerySet[SourceDocument]:
        """Documents of that kind."""
        return queryset.filter(media_type=self.value()) if self.value() else queryset


class SourceFilter(SimpleListFilter):
    """Where a document came from."""

    title = "source"
    parameter_name = "source_type"

    def lookups(self, request: HttpRequest, model_admin: ModelAdmin[Any]) -> list[tuple[str, str]]:
        """The kinds of sources."""
        return [(kind.value, kind.value.replace("_", " ")) for kind in SourceType]

    def queryset(self, request: HttpRequest, queryset: QuerySet[SourceDocument]) -> QuerySet[SourceDocument]:
        """Documents from such a source."""
        return queryset.filter(source_type=self.value()) if self.value() else queryset


@admin.register(SourceDocument)
class SourceDocumentAdmin(ReadOnlyAdmin):
    """Imported documents that are shared to scopes which the person reads, and the person's own."""

    group, place, icon = "Memory", 5, "description"
    list_display = ("name", "kind", "source", "owned_by", "domain_name", "reading", "imported")
    list_filter = (KindFilter, SourceFilter)
    search_fields = ("title", "source_uri")
    search_help_text = "Start of a title or address, or a document's UUID"
    narrow_by = ("domain",)
    front = "Documents"
    teach = "No documents yet. An agent imports one and shares it to scopes so:"
    teach_command = (
        'manage.py act add_document \'{"domain_id": "my-team", "options": {"title": "Plan", "text": "# Plan\\n\\nUse '
        'PostgreSQL."}, "scopes": [{"type": "project", "id": "shop"}]}\''
    )
    on_page_only = ("metadata", "description")
    detail_template = "smartbrain/document.html"

    def visible(self, ctx: Ctx) -> QuerySet[SourceDocument]:
        """Documents that the person may see."""
        return visible_documents(ctx)

    @admin.display(description="Document")
    def name(self, row: SourceDocument) -> str:
        """Its title."""
        return shown(row.title)

    @admin.display(description="Kind")
    def kind(self, row: SourceDocument) -> str:
        """What it is."""
        return badge(row.media_type)

    @admin.display(description="Source")
    def source(self, row: SourceDocument) -> str:
        """Where it came from."""
        return shown(row.source_uri or row.source_type.replace("_", " "))

    @admin.display(description="Owner")
    def owned_by(self, row: SourceDocument) -> str:
        """Who imported it."""
        return shown(row.owner_name)

    @admin.display(description="Domain")
    def domain_name(self, row: SourceDocument) -> str:
        """The domain."""
        return shown(row.domain_id)

    @admin.display(description="Reading")
    def reading(self, row: SourceDocument) -> str:
        """How far its reading got."""
        return badge(row.state, STATE_TONES.get(row.state, "plain"))

    @admin.display(description="Imported (UTC)")
    def imported(self, row: SourceDocument) -> str:
        """When it was imported last."""
        return when(row.updated_at)

    def facts(self, row: SourceDocument, request: HttpRequest) -> list[Fact]:
        """Its values beside the content."""
        return [
            fact("Kind", row.media_type, list_url(self.opts, media_type=row.media_type)),
            fact("Domain", row.domain_id, list_url(self.opts, domain=row.domain_id)),
            fact("Owner", row.owner_name),
            fact("Author", row.author or "not known"),
            fact("Source", row.source_type.replace("_", " ")),
            fact("Address", row.source_uri or "none", kind="code"),
            fact("File", "download", reverse("document_file", args=[row.pk])),
            fact("Language", row.language),
            fact("Published", row.publication_date or "not known"),
            fact("First imported", row.created_at, kind="time"),
            fact("Last imported", row.updated_at, kind="time"),
            fact("SHA-256", row.content_hash, kind="code"),
            fact("Document id", row.pk, kind="code"),
        ]

    def detail(self, row: SourceDocument, request: HttpRequest) -> dict[str, Any]:
        """A page of its sections, who may see it and what is known of it."""
        asked: dict[str, Any] = {"document_id": str(row.pk), "limit": SECTIONS_A_PAGE}
        if request.GET.get("cursor"):
            asked["cursor"] = request.GET["cursor"]
        answer: GetDocumentResult = read("get_document", request, **asked)
        return {
            "answer": answer,
            "holds": [
                {"row": hold, "link": page_url(hold) if hold is not None else ""}
                for hold in holds_over("document", row.pk, row.domain_id, ctx_of(request))
            ],
            "is_picture": answer.metadata.file_type in PICTURES,
            "state_tone": STATE_TONES.get(row.state, "plain"),
            "next_cursor": answer.next_cursor,
            "parts": [{"view": each, "place": _place(each.metadata)} for each in answer.sections],
            "known": [_shares(answer), _known(answer)],
        }


def _place(metadata: Mapping[str, Any]) -> str:
    """Where a section is in its document, in words: as far as it says so in whole numbers."""
    at = {name: value for name, value in metadata.items() if type(value) is int}
    told = []
    if "page_end" in at and "page" in at:
        told.append(f"pages {at['page']}–{at['page_end']}")
    elif "page" in at:
        told.append(f"page {at['page']}")
    if "start_ms" in at:
        told.append(f"from {at['start_ms'] / 1000:g} s")
    if "offset_start" in at and "offset_end" in at:
        told.append(f"characters {at['offset_start']}–{at['offset_end']}")
    return ", ".join(told)


def _shares(answer: GetDocumentResult) -> Table:
    rows = [[Cell(f"{scope.type}:{scope.id}", kind="code")] for scope in answer.document.scopes]
    return Table("Shared to", ("Scope",), rows, "It is shared to no scope: only its owner sees it.")


def _known(answer: GetDocumentResult) -> Table:
    return Table("What is known of it", ("What", "Value"), list(_facts(answer)), "Nothing is known of it.")


def _facts(answer: GetDocumentResult) -> Iterator[list[Cell]]:
    """The metadata that holds anything, a row each, the caller's own members last."""
    told = answer.metadata.model_dump(mode="json")
    yield [Cell("file"), Cell(told["file_name"] or "inline text")]
    yield [Cell("size"), Cell(f"{told['file_size']} bytes, {told['file_type']}")]
    for name, value in told["media"].items():
        if value not in (None, {}):
            unit = _UNITS.get(name, "")
            label = name.removesuffix("_ms").removesuffix("_bps").removesuffix("_hz").replace("_", " ")
            yield [
                Cell(label),
                Cell(value, kind="json") if isinstance(value, dict) else Cell(f"{value} {unit}".strip()),
            ]
    for name, value in told["semantic"].items():
        if value:
            yield [Cell(name), Cell(", ".join(value) if isinstance(value, list) else value)]
    for name in sorted(told.keys() - _SHOWN_ELSEWHERE):
        yield [Cell(name), Cell(told[name], kind="json")]
