"""The list of conflicts: its words, its filters and tabs, and how a conflict looks in a row."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from datetime import datetime
from typing import Any

from django.contrib.admin import ModelAdmin, SimpleListFilter
from django.db.models import Q, QuerySet
from django.http import HttpRequest, QueryDict

from governance.adminbase import LookAheadList, Matches, as_uuid, ctx_of
from governance.adminbase.diff import Kind, Passage, compare_texts
from kernel import clock
from kernel.context import Ctx
from kernel.text import one_line
from memory.admin.listed import SHORT, scopes_within, told_of
from memory.conflicts import Rule, Severity
from memory.contracts.conflicts import ConflictOutcome, ConflictState, ConflictView
from memory.models import Conflict
from memory.selectors.finding import MOST_CHARS, find_conflicts
from scopes.selectors import visible_domains

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
STATES = ("open", "resolved")
MOST_DOMAINS = 20  # to choose from, the first by name; others are reached by a link or the address
COUNTED = 10_000  # conflicts that the tabs count
DAY = 86_400
_FOUND = "smartbrain.conflicts"


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
        return queryset.filter(in_state(self.value()))


def in_state(wanted: str | None) -> Q:
    """The conflicts that the choice of a state shows."""
    state = wanted or ConflictState.OPEN.value
    return Q(state=state) if state in STATES else Q()


class SeverityFilter(SimpleListFilter):
    """How much harm it does: a short closed list, shown as tabs."""

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


class DomainFilter(SimpleListFilter):
    """The domain, where the person reads several."""

    title = "domain"
    parameter_name = "domain"

    def lookups(self, request: HttpRequest, model_admin: ModelAdmin[Any]) -> list[tuple[str, str]]:
        """The domains that the person reads, and the one that is asked for."""
        rows = visible_domains(ctx_of(request)).order_by("pk").values_list("pk", flat=True)
        found = list(rows[:MOST_DOMAINS])
        asked = request.GET.get(self.parameter_name)
        names = [*found, *([asked] if asked and asked not in found else [])]
        return [(name, name) for name in names] if len(names) > 1 or asked else []

    def queryset(self, request: HttpRequest, queryset: QuerySet[Conflict]) -> QuerySet[Conflict]:
        """Conflicts of that domain."""
        return queryset.filter(domain=self.value()) if self.value() else queryset


class ConflictList(LookAheadList):
    """A page of conflicts with the counts of each severity, as far as the other filters and the search allow."""

    tabbed = SeverityFilter.parameter_name

    def get_results(self, request: HttpRequest) -> None:
        """Read the page's rows and the counts."""
        super().get_results(request)
        every = self.get_queryset(request, exclude_parameters=[SeverityFilter.parameter_name])
        found = list(every.order_by().values_list("severity", flat=True)[: COUNTED + 1])
        asked, counts = self.params.get(SeverityFilter.parameter_name) or "", Counter(found[:COUNTED])
        more = "+" if len(found) > COUNTED else ""
        self.tabs = [self._tab("All", "", f"{counts.total():,}{more}", asked)]
        for each in Severity:
            label = f"{each.value.capitalize()} severity"
            self.tabs.append(self._tab(label, each.value, f"{counts[each.value]:,}{more}", asked))
        self.kept = self.get_query_string()[1:]

    def _tab(self, label: str, severity: str, count: str, asked: str) -> dict[str, Any]:
        chosen = {SeverityFilter.parameter_name: severity} if severity else {}
        address = self.get_query_string(chosen, [SeverityFilter.parameter_name, "p"])
        return {"label": label, "address": address, "count": count, "current": asked == severity}


def matches(term: str, address: QueryDict, request: HttpRequest) -> Matches:
    """A conflict by its id or rule, else those of which one side holds the words or has the key, within what the list's
    address narrows it to; asked once a request."""
    known: Matches | None = request.META.get(_FOUND)
    if known is None:
        known = request.META[_FOUND] = _matches(term, address, ctx_of(request))
    return known


def _matches(term: str, address: QueryDict, ctx: Ctx) -> Matches:
    row_id = as_uuid(term)
    if row_id:
        return Matches(Q(id=row_id) | Q(item_a=row_id) | Q(item_b=row_id))
    name = term.casefold()
    ruled = [rule for rule, words in RULES.items() if name in (rule, rule.replace("_", " "), words)]
    if ruled:
        return Matches(Q(rule__in=ruled))
    found = find_conflicts(term[:MOST_CHARS], scopes_within(address), ctx)
    newest = "These are among the newest only: add a word or a filter to see others." if found.more else ""
    return Matches(Q(pk__in=found.ids), told_of(found, newest))


def row_of(view: ConflictView) -> dict[str, Any]:
    """A conflict in a row: both sides in short with what differs marked, and the rest in words."""
    passages = compare_texts(one_line(view.a.statement, SHORT), one_line(view.b.statement, SHORT))
    return {
        "view": view,
        "tone": SEVERITY_TONES[view.severity.value],
        "rule": RULES[view.rule.value],
        "sides": [
            ("A", view.a, _without(passages, Kind.ADDED)),
            ("B", view.b, _without(passages, Kind.REMOVED)),
        ],
        "waits": f"open, {age_of(view.found_at)}" if view.state is ConflictState.OPEN else "",
        "outcome": OUTCOMES.get(view.outcome or "", "One side left"),
    }


def _without(passages: list[Passage], kind: Kind) -> list[Passage]:
    return [each for each in passages if each.kind is not kind]


def rows_like(address: QueryDict) -> Iterator[Q]:
    """What the filters of a list's address narrow conflicts to, its search aside."""
    yield in_state(address.get("state"))
    yield scopes_within(address, "scope")
    for name in ("severity", "rule"):
        if address.get(name):
            yield Q(**{name: address[name]})


def newest_first(address: QueryDict) -> bool:
    """Whether a list of that address begins with the newest: what waits begins with the gravest, then the oldest."""
    return address.get("state") in ("resolved", "all")


def age_of(moment: datetime) -> str:
    """How long ago, in words."""
    seconds = (clock.now() - moment).total_seconds()
    for unit, size in (("day", DAY), ("hour", 3600), ("minute", 60)):
        count = int(seconds // size)
        if count:
            return f"{count} {unit}{'s' if count > 1 else ''}"
    return "just now"
