"""Admin pages of conflicts: the list, and the page on which a person decides, through the gate."""

from __future__ import annotations

from datetime import datetime
from typing import Any
from uuid import UUID

from django.contrib import admin
from django.contrib.admin import ModelAdmin, SimpleListFilter
from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect

from governance.adminbase import (
    Cell,
    ReadOnlyAdmin,
    Screen,
    Table,
    act,
    badge,
    ctx_of,
    list_url,
    page_url,
    read,
    shown,
    toast,
    whole,
)
from governance.adminbase.diff import Kind, compare_texts
from kernel import clock
from kernel.context import Ctx
from kernel.errors import NotFoundError
from memory.admin.shadows import ShadowScreen
from memory.conflicts import Rule, Severity
from memory.contracts.conflicts import (
    ConflictOutcome,
    ConflictSide,
    ConflictState,
    ConflictView,
    GetConflictResult,
    SideDetail,
)
from memory.models import Conflict, KgEdge, MemoryItem
from memory.selectors.conflicts import sides_of, statement_of, visible_conflicts, with_sides

SEVERITY_TONES = {Severity.HIGH.value: "bad", Severity.MEDIUM.value: "warn", Severity.LOW.value: "plain"}
RULES = {
    Rule.SAME_KEY.value: "another value of one key",
    Rule.OTHER_OBJECT.value: "another object where there is one",
    Rule.OPPOSITE.value: "opposites",
    Rule.CHANGED.value: "a change told",
    Rule.NEGATION.value: "one denies it",
    Rule.NUMBER.value: "another number",
    Rule.DATE.value: "another date or time",
    Rule.NEAR_DUPLICATE.value: "almost the same words",
}
OUTCOMES = {
    ConflictOutcome.KEEP_A.value: "Keep A",
    ConflictOutcome.KEEP_B.value: "Keep B",
    ConflictOutcome.MERGE.value: "Merge both into a new text",
    ConflictOutcome.BOTH_VALID.value: "Both hold, under a condition",
    ConflictOutcome.NOT_A_CONFLICT.value: "Not a conflict",
}
DAY = 86_400


class StateFilter(SimpleListFilter):
    """Open conflicts unless other ones are asked for."""

    title = "state"
    parameter_name = "state"

    def lookups(self, request: HttpRequest, model_admin: ModelAdmin[Any]) -> list[tuple[str, str]]:
        """Open, resolved or all; open is what is shown where nothing is asked for."""
        return [("open", "open"), ("resolved", "resolved"), ("all", "all")]

    def choices(self, changelist: Any) -> Any:
        """The three, with the one that is shown marked."""
        wanted = self.value() or "open"
        for value, label in self.lookup_choices:
            address = changelist.get_query_string({self.parameter_name: value})
            yield {"selected": wanted == value, "query_string": address, "display": label}

    def queryset(self, request: HttpRequest, queryset: QuerySet[Conflict]) -> QuerySet[Conflict]:
        """Conflicts in that state."""
        wanted = self.value() or "open"
        return queryset.filter(state=wanted) if wanted in ("open", "resolved") else queryset


class SeverityFilter(SimpleListFilter):
    """How much harm it does: a short closed list."""

    title = "severity"
    parameter_name = "severity"

    def lookups(self, request: HttpRequest, model_admin: ModelAdmin[Any]) -> list[tuple[str, str]]:
        """The severities, the gravest first."""
        return [(each.value, each.value) for each in Severity]

    def queryset(self, request: HttpRequest, queryset: QuerySet[Conflict]) -> QuerySet[Conflict]:
        """Conflicts of that severity."""
        return queryset.filter(severity=self.value()) if self.value() else queryset


class RuleFilter(SimpleListFilter):
    """How it was found: a short closed list."""

    title = "rule"
    parameter_name = "rule"

    def lookups(self, request: HttpRequest, model_admin: ModelAdmin[Any]) -> list[tuple[str, str]]:
        """The rules in words."""
        return list(RULES.items())

    def queryset(self, request: HttpRequest, queryset: QuerySet[Conflict]) -> QuerySet[Conflict]:
        """Conflicts found by that rule."""
        return queryset.filter(rule=self.value()) if self.value() else queryset


class ConflictScreen(Screen):
    """One conflict: both sides with what differs marked, and a form for each outcome."""

    name = "memory_conflict_item"
    route = "<uuid:pk>/change/"
    title = "Conflict"
    template = "smartbrain/conflict.html"
    placed = False

    def absent(self, request: HttpRequest, error: NotFoundError, **names: Any) -> HttpResponse:
        """A conflict out of sight answers like one that does not exist, as every other row."""
        return self.owner.missing(request, str(names["pk"]))

    def show(self, request: HttpRequest, **names: Any) -> dict[str, Any]:
        """Both sides, read through the gate so that the look is on record."""
        found: GetConflictResult = read("get_conflict", request, id=str(names["pk"]))
        row = found.conflict
        passages = compare_texts(row.a.statement, row.b.statement)
        return {
            "conflict": row,
            "severity_tone": SEVERITY_TONES[row.severity.value],
            "rule": RULES[row.rule.value],
            "outcome": OUTCOMES.get(row.outcome or "", ""),
            "sides": [
                _side("A", row.a, found.a, [each for each in passages if each.kind is not Kind.ADDED]),
                _side("B", row.b, found.b, [each for each in passages if each.kind is not Kind.REMOVED]),
            ],
            "outcomes": _outcomes(row),
            "also": [(each, page_url(MemoryItem(pk=each.memory_item_id))) for each in found.also],
            "history": _history(found),
            "may_decide": found.may_decide,
            "following": _next(UUID(str(row.id)), ctx_of(request)),
            "conflict_list": list_url(self.owner.opts),
        }

    def send(self, request: HttpRequest, **names: Any) -> HttpResponse:
        """Decide, or take the decision back; then the next open conflict follows."""
        sent, conflict_id = request.POST, str(names["pk"])
        given: dict[str, Any] = {"id": conflict_id, "reason": sent.get("reason", "")}
        given |= {"revision": whole(sent["revision"])} if sent.get("revision") else {}
        given |= {"idempotency_key": sent["key"]} if sent.get("key") else {}
        if sent.get("outcome") == "reopen":
            act("reopen_conflict", request, **given)
            toast(request, "The conflict is open again.")
            return HttpResponseRedirect(page_url(Conflict(pk=names["pk"])))
        decision = {name: sent.get(name, "") for name in ("outcome", "text", "condition")}
        answer = act("resolve_conflict", request, **given, **decision, apply_to=sent.getlist("apply_to"))
        self._say(request, answer, conflict_id)
        following = _next(names["pk"], ctx_of(request))
        return HttpResponseRedirect(following or list_url(self.owner.opts))

    def _say(self, request: HttpRequest, answer: Any, conflict_id: str) -> None:
        if answer.queued is not None:
            toast(request, "Your decision waits for someone who may decide in both scopes.", done=False)
            return
        done = OUTCOMES[answer.result.conflict.outcome.value]
        left = sum(1 for each in answer.result.applied if each.result not in ("superseded", "kept"))
        told = f"Decided: {done}." + (f" {left} of the memories named were left as they are." if left else "")
        undo = {"outcome": "reopen", "reason": "taken back at once", "revision": str(answer.result.conflict.revision)}
        toast(request, told, undo=page_url(Conflict(pk=UUID(conflict_id))), fields=undo, done=not left)


def _side(name: str, view: ConflictSide, detail: SideDetail, passages: list[Any]) -> dict[str, Any]:
    row = MemoryItem(pk=view.id) if view.kind == "memory" else KgEdge(pk=view.id)
    return {
        "name": name,
        "view": view,
        "link": page_url(row),
        "passages": passages,
        "evidence": detail.evidence,
        "item": detail.item,
        "source": detail.provenance,
    }


def _outcomes(row: ConflictView) -> list[dict[str, str]]:
    """The outcomes that make sense here, with what each needs beside a reason."""
    merges = row.a.kind == "memory" and row.a.scope == row.b.scope
    needs = {ConflictOutcome.MERGE.value: "text", ConflictOutcome.BOTH_VALID.value: "condition"}
    return [
        {"value": value, "label": label, "needs": needs.get(value, "")}
        for value, label in OUTCOMES.items()
        if merges or value != ConflictOutcome.MERGE.value
    ]


def _history(found: GetConflictResult) -> Table:
    verdicts = {**OUTCOMES, "reopened": "Opened again", "followed": "One side left"}
    rows = [
        [
            Cell(step.at, kind="time"),
            Cell(verdicts.get(step.verdict, step.verdict), kind="word"),
            Cell(step.by),
            Cell(step.reason),
            Cell(step.condition or "–"),
        ]
        for step in found.history
    ]
    return Table("Decisions so far", ("When", "What", "Who", "Reason", "Condition"), rows, "Nothing was decided yet.")


def _next(conflict_id: UUID, ctx: Ctx) -> str:
    """The address of the next open conflict down the list; empty where there is none."""
    rows = visible_conflicts(ctx).filter(state=ConflictState.OPEN, pk__lt=conflict_id)
    found = rows.order_by("-id").values_list("pk", flat=True).first()
    return page_url(Conflict(pk=found)) if found is not None else ""


@admin.register(Conflict)
class ConflictAdmin(ReadOnlyAdmin):
    """Memories that do not go together."""

    group, place, icon = "Review", 2, "call_split"
    list_display = ("what", "severity_label", "rule_label", "where", "state_label")
    list_filter = (StateFilter, SeverityFilter, RuleFilter)
    narrow_by = ("domain", "scope")
    search_help_text = "A conflict's UUID"
    search_fields = ()
    teach = (
        "No conflicts of this kind. They are found when a memory is written that contradicts another, changes a number, "
        "a date or a negation of it, or says almost the same:"
    )
    teach_command = 'manage.py act list_conflicts \'{"domain_id": "my-team"}\' --user <your name>'
    screens = (ConflictScreen, ShadowScreen)

    def visible(self, ctx: Ctx) -> QuerySet[Conflict]:
        """Conflicts of which the person may read both sides."""
        return visible_conflicts(ctx)

    def get_queryset(self, request: HttpRequest) -> QuerySet[Conflict]:
        """With what both sides say."""
        return with_sides(super().get_queryset(request))

    @admin.display(description="Conflict")
    def what(self, row: Conflict) -> str:
        """Both sides in short."""
        one, other = sides_of(row)
        return shown(f"{statement_of(one)} ⟷ {statement_of(other)}")

    @admin.display(description="Severity")
    def severity_label(self, row: Conflict) -> str:
        """How much harm it does."""
        return badge(row.severity, SEVERITY_TONES[row.severity])

    @admin.display(description="Rule")
    def rule_label(self, row: Conflict) -> str:
        """How it was found, in words."""
        return badge(RULES[row.rule])

    @admin.display(description="Where")
    def where(self, row: Conflict) -> str:
        """The scopes of both sides."""
        names = dict.fromkeys([row.other_scope.name, row.scope.name])
        return shown(f"{row.domain_id} / {' ⟷ '.join(names)}")

    @admin.display(description="State")
    def state_label(self, row: Conflict) -> str:
        """Open and for how long, or what became of it."""
        if row.state == ConflictState.OPEN:
            return badge(f"open, {age_of(row.found_at)}", "warn")
        return badge(OUTCOMES.get(row.outcome, "one side left").lower(), "good")


def age_of(moment: datetime) -> str:
    """How long ago, in words."""
    seconds = (clock.now() - moment).total_seconds()
    for unit, size in (("day", DAY), ("hour", 3600), ("minute", 60)):
        count = int(seconds // size)
        if count:
            return f"{count} {unit}{'s' if count > 1 else ''}"
    return "just now"
