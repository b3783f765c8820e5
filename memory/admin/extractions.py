"""Admin pages of what language models made of turns, failures with their raw reply."""

from __future__ import annotations

from typing import Any

from django.contrib import admin
from django.contrib.admin import ModelAdmin, SimpleListFilter
from django.db.models import Q, QuerySet
from django.http import HttpRequest

from governance.adminbase import Fact, ReadOnlyAdmin, as_uuid, badge, fact, list_url, page_url, read, shown, when
from kernel.context import Ctx
from memory.contracts.extraction import ExtractionState
from memory.models import ExtractionRun, MemoryItem
from memory.selectors.extractions import visible_extractions

TONES = {
    ExtractionState.DONE.value: "good",
    ExtractionState.FAILED.value: "bad",
    ExtractionState.PENDING.value: "warn",
}


class StateFilter(SimpleListFilter):
    """The state of an extraction: a short closed list, so nothing is looked up."""

    title = "state"
    parameter_name = "state"

    def lookups(self, request: HttpRequest, model_admin: ModelAdmin[Any]) -> list[tuple[str, str]]:
        """The states."""
        return [(state.value, state.value) for state in ExtractionState]

    def queryset(self, request: HttpRequest, queryset: QuerySet[ExtractionRun]) -> QuerySet[ExtractionRun]:
        """Extractions of that state."""
        return queryset.filter(state=self.value()) if self.value() else queryset


@admin.register(ExtractionRun)
class ExtractionAdmin(ReadOnlyAdmin):
    """What a language model made of each turn."""

    group, place, icon = "Memory", 4, "auto_awesome"
    list_display = ("name", "result", "tries", "model_name", "domain_name", "asked", "ended")
    list_filter = (StateFilter,)
    list_select_related = ("turn__session",)
    search_fields = ("model",)
    search_help_text = "Start of a model's name, or the UUID of a turn"
    narrow_by = ("domain", "turn")
    per = "session"
    teach = "No model has been asked. Rules learn from text without one; to ask a model as well, configure it:"
    teach_command = "SMARTBRAIN_MODEL_URL=http://localhost:11434/v1 SMARTBRAIN_MODEL_NAME=<model> manage.py run"
    detail_template = "smartbrain/extraction.html"

    def visible(self, ctx: Ctx) -> QuerySet[ExtractionRun]:
        """Extractions of turns that the person reads."""
        return visible_extractions(ctx)

    def get_queryset(self, request: HttpRequest) -> QuerySet[ExtractionRun]:
        """The reply is read through the gate alone."""
        return super().get_queryset(request).select_related("turn__session").defer("raw_reply", "error")

    def matches(self, term: str) -> Q:
        """An extraction by its id or its turn's, or by the start of the model's name."""
        row_id = as_uuid(term)
        found = Q(model__istartswith=term)
        return found | Q(id=row_id) | Q(turn_id=row_id) if row_id else found

    @admin.display(description="Turn")
    def name(self, row: ExtractionRun) -> str:
        """The turn."""
        return shown(row.turn)

    @admin.display(description="State")
    def result(self, row: ExtractionRun) -> str:
        """Where it stands."""
        return badge(row.state, TONES.get(row.state, "plain"))

    @admin.display(description="Attempts")
    def tries(self, row: ExtractionRun) -> int:
        """How often it was tried."""
        return row.attempts

    @admin.display(description="Model")
    def model_name(self, row: ExtractionRun) -> str:
        """The model."""
        return shown(row.model)

    @admin.display(description="Domain")
    def domain_name(self, row: ExtractionRun) -> str:
        """The domain."""
        return shown(row.domain_id)

    @admin.display(description="Asked for (UTC)")
    def asked(self, row: ExtractionRun) -> str:
        """When it was asked for."""
        return when(row.created_at)

    @admin.display(description="Ended (UTC)")
    def ended(self, row: ExtractionRun) -> str:
        """When it ended."""
        return when(row.finished_at)

    def facts(self, row: ExtractionRun, request: HttpRequest) -> list[Fact]:
        """Its values."""
        return [
            fact("Turn", str(row.turn), page_url(row.turn)),
            fact("State", row.state),
            fact("Attempts", row.attempts),
            fact("Model", row.model),
            fact("Domain", row.domain_id, list_url(self.opts, domain=row.domain_id)),
            fact("Learned from the turn", "memories", list_url(MemoryItem._meta, source_turn=row.turn_id)),
            fact("Asked for", row.created_at, kind="time"),
            fact("Ended", row.finished_at, kind="time"),
            fact("Extraction id", row.pk, kind="code"),
        ]

    def detail(self, row: ExtractionRun, request: HttpRequest) -> dict[str, Any]:
        """The error and the reply that caused it."""
        answer = read("list_extractions", request, domain_id=row.domain_id, turn_id=str(row.turn_id))
        return {"view": next((view for view in answer.extractions if view.id == row.pk), None)}
