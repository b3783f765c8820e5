"""Admin pages of conflicts: the list, and the page on which a person decides, through the gate."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any
from urllib.parse import urlencode
from uuid import UUID

from django.contrib import admin
from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect, QueryDict
from unfold.views import ChangeList

from governance.adminbase import (
    Cell,
    Matches,
    ReadOnlyAdmin,
    Screen,
    Table,
    act,
    ctx_of,
    list_url,
    page_url,
    read,
    toast,
    whole,
)
from governance.adminbase.diff import Kind, compare_texts
from governance.policies import ReviewPolicy, for_scope, in_force
from kernel.context import Ctx
from kernel.errors import NotFoundError, TransitionError
from kernel.ids import new_id
from kernel.text import is_invisible
from memory.admin.conflict_list import (
    OUTCOMES,
    RULES,
    SEVERITY_TONES,
    ConflictList,
    DomainFilter,
    RuleFilter,
    SeverityFilter,
    StateFilter,
    matches,
    newest_first,
    row_of,
    rows_like,
)
from memory.admin.listed import looked_up, pages_of
from memory.admin.shadows import ShadowScreen, shadows_of
from memory.contracts.conflicts import ConflictOutcome, ConflictSide, ConflictState, GetConflictResult, SideDetail
from memory.models import Conflict, KgEdge, MemoryItem
from memory.selectors.conflicts import beside, gravity, visible_conflicts

NEEDS = {ConflictOutcome.MERGE.value: "text", ConflictOutcome.BOTH_VALID.value: "condition"}
READY = {
    ConflictOutcome.KEEP_A.value: ["The older one is still right.", "The newer one was a misunderstanding."],
    ConflictOutcome.KEEP_B.value: ["The newer one takes its place.", "The older one was never right."],
    ConflictOutcome.MERGE.value: ["Both were half right.", "They say the same in other words."],
    ConflictOutcome.BOTH_VALID.value: ["They hold at different times or places."],
    ConflictOutcome.NOT_A_CONFLICT.value: ["They speak of different things.", "They go together."],
}
KEYS = {
    ConflictOutcome.KEEP_A.value: "a",
    ConflictOutcome.KEEP_B.value: "b",
    ConflictOutcome.MERGE.value: "m",
    ConflictOutcome.BOTH_VALID.value: "o",
    ConflictOutcome.NOT_A_CONFLICT.value: "n",
}
CANNED = 9
JOINERS = "\u200c\u200d"  # which Persian and Indic scripts spell with
# The sides whose near-duplicates and copies go the same way, where that is not both.
OF_THE_SIDE_THAT_GOES = {ConflictOutcome.KEEP_A.value: ("b",), ConflictOutcome.KEEP_B.value: ("a",)}


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
        row, ctx = found.conflict, ctx_of(request)
        passages = compare_texts(row.a.statement, row.b.statement)
        before, after = self._beside(Conflict(pk=row.id, severity=row.severity.value), request)
        pages = pages_of([found.a, found.b], ctx)
        return {
            "conflict": row,
            "severity_tone": SEVERITY_TONES[row.severity.value],
            "rule": RULES[row.rule.value],
            "outcome": OUTCOMES.get(row.outcome or "", ""),
            "sides": [
                _side("A", row.a, found.a, [each for each in passages if each.kind is not Kind.ADDED], pages),
                _side("B", row.b, found.b, [each for each in passages if each.kind is not Kind.REMOVED], pages),
            ],
            "outcomes": _outcomes(found, ctx),
            "history": _history(found),
            "may_decide": found.may_decide,
            "preceding": self._link(before, request),
            "following": self._link(after, request),
            "conflict_list": self._list(request),
            "shadows": shadows_of(row.domain_id, [f"{side.scope.type}:{side.scope.id}" for side in (row.a, row.b)]),
            "merged": "".join(char for char in row.b.statement if char in JOINERS or not is_invisible(char)),
            "key": str(new_id()),
        }

    def _beside(self, row: Conflict, request: HttpRequest) -> tuple[UUID | None, UUID | None]:
        """The conflicts before and after this one in the list from which the person came."""
        address = _address(request)
        rows = visible_conflicts(ctx_of(request)).filter(*rows_like(address))
        term = address.get("q", "").strip()
        found = matches(term, address, request).of(rows) if term else rows
        return beside(row, found, newest_first=newest_first(address))

    def _link(self, conflict_id: UUID | None, request: HttpRequest) -> str:
        """The page of another conflict, from which the way back is the same."""
        if conflict_id is None:
            return ""
        kept = request.GET.get("list", "")
        return page_url(Conflict(pk=conflict_id)) + (f"?{urlencode({'list': kept})}" if kept else "")

    def _list(self, request: HttpRequest) -> str:
        """The list from which the person came."""
        kept = _address(request).urlencode()
        return list_url(self.owner.opts) + (f"?{kept}" if kept else "")

    def send(self, request: HttpRequest, **names: Any) -> HttpResponse:
        """Decide, or take the decision back; then the next conflict of the list follows."""
        sent, conflict_id = request.POST, str(names["pk"])
        given: dict[str, Any] = {"id": conflict_id, "reason": sent.get("reason", "")}
        given |= {"revision": whole(sent["revision"])} if sent.get("revision") else {}
        given |= {"idempotency_key": sent["key"]} if sent.get("key") else {}
        if sent.get("outcome") == "reopen":
            self._say_reopened(request, act("reopen_conflict", request, **given))
            return HttpResponseRedirect(self._link(names["pk"], request))
        row = visible_conflicts(ctx_of(request)).filter(pk=names["pk"]).first()
        decision = {name: sent.get(name, "") for name in ("outcome", "text", "condition")}
        try:
            answer = act("resolve_conflict", request, **given, **decision, apply_to=sent.getlist("apply_to"))
        except TransitionError as exc:
            raise TransitionError(_as_named_here(exc.message)) from exc
        self._say(request, answer, names["pk"])
        following = self._beside(row, request)[1] if row is not None else None
        return HttpResponseRedirect(self._link(following, request) or self._list(request))

    def _say_reopened(self, request: HttpRequest, answer: Any) -> None:
        if answer.queued is not None:
            toast(request, "It waits for someone else who may decide in both scopes.", done=False)
            return
        over = answer.result.conflict.state is ConflictState.RESOLVED
        gone = "The decision was taken back. One side left since, so the conflict is over."
        toast(request, gone if over else "The conflict is open again.")

    def _say(self, request: HttpRequest, answer: Any, conflict_id: UUID) -> None:
        if answer.queued is not None:
            toast(request, "Your decision waits for someone who may decide in both scopes.", done=False)
            return
        done = OUTCOMES[answer.result.conflict.outcome.value]
        left = sum(1 for each in answer.result.applied if each.result not in ("superseded", "kept"))
        told = f"Decided: {done}." + (f" {left} of the memories named were left as they are." if left else "")
        undo = {"outcome": "reopen", "reason": "taken back at once", "revision": str(answer.result.conflict.revision)}
        toast(request, told, undo=self._link(conflict_id, request), fields=undo, done=not left)


def _address(request: HttpRequest) -> QueryDict:
    """The address of the list from which the person came; an empty one where no text column can hold it."""
    address = QueryDict(request.GET.get("list", ""))
    return QueryDict() if any("\x00" in value for values in address.lists() for value in values[1]) else address


def _as_named_here(message: str) -> str:
    """A refusal with the outcome that someone else chose as its button says it."""
    for value, label in OUTCOMES.items():
        message = message.replace(f"({value})", f"({label})")
    return message


def _side(
    name: str, view: ConflictSide, detail: SideDetail, passages: list[Any], pages: dict[str, str]
) -> dict[str, Any]:
    row = MemoryItem(pk=view.id) if view.kind == "memory" else KgEdge(pk=view.id)
    source = detail.provenance
    return {
        "name": name,
        "view": view,
        "link": page_url(row),
        "passages": passages,
        "evidence": [{**each, "link": pages.get(str(each["id"]), "")} for each in detail.evidence],
        "item": detail.item,
        "source": source,
        "turn": pages.get(str(source.turn_id), "") if source else "",
    }


def _outcomes(found: GetConflictResult, ctx: Ctx) -> list[dict[str, Any]]:
    """The outcomes that make sense here: what each needs beside a reason, its key, ready reasons, and the memories to
    which it may apply too."""
    row = found.conflict
    merges = row.a.kind == "memory" and row.a.scope == row.b.scope
    canned = in_force(row.domain_id, ctx).section(ReviewPolicy).canned_reasons
    names = dict.fromkeys([f"{side.scope.type}:{side.scope.id}" for side in (row.b, row.a)])
    own = [reason for name in names for reason in for_scope(canned, name)]
    also = [(each, page_url(MemoryItem(pk=each.memory_item_id))) for each in found.also]
    return [
        {
            "value": value,
            "label": label,
            "needs": NEEDS.get(value, ""),
            "key": KEYS[value],
            "reasons": list(dict.fromkeys([*own, *READY[value]]))[:CANNED],
            "also": [each for each in also if each[0].of in OF_THE_SIDE_THAT_GOES.get(value, ("a", "b"))],
        }
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


@admin.register(Conflict)
class ConflictAdmin(ReadOnlyAdmin):
    """Memories that do not go together."""

    group, place, icon = "Review", 2, "call_split"
    list_display = ("__str__",)
    list_filter = (StateFilter, RuleFilter, DomainFilter, SeverityFilter)
    narrow_by = ("domain", "scope")
    search_help_text = "Words of either side, its key, a rule, or a UUID"
    search_fields = ("explanation",)
    change_list_template = "smartbrain/conflict_list.html"
    on_page_only = ("explanation", "differences", "condition")
    teach = (
        "No conflicts of this kind. They are found when a memory is written that contradicts another, changes a number, "
        "a date or a negation of it, or says almost the same:"
    )
    teach_command = 'manage.py act list_conflicts \'{"domain_id": "my-team"}\' --user <your name>'
    screens = (ConflictScreen, ShadowScreen)

    def visible(self, ctx: Ctx) -> QuerySet[Conflict]:
        """Conflicts of which the person may read both sides."""
        return visible_conflicts(ctx)

    def get_ordering(self, request: HttpRequest) -> Sequence[Any]:
        """Those that wait: the gravest first, then the oldest; others: the newest first."""
        return self.ordering if newest_first(request.GET) else (gravity().asc(), "pk")

    def get_changelist(self, request: HttpRequest, **kwargs: Any) -> type[ChangeList]:
        """The list with its tabs."""
        return ConflictList

    def found(self, term: str, rows: QuerySet[Conflict], request: HttpRequest) -> Matches:
        """By id, rule, words or key."""
        return matches(term, request.GET, request)

    def looked_at(self, rows: list[Any], request: HttpRequest) -> list[Any]:
        """What both sides say is read through the gate, for the whole page at once."""
        views = looked_up("show_conflicts", rows, request, "conflicts")
        for row in rows:
            row.link, row.shown = page_url(row), row_of(views[row.pk]) if row.pk in views else None
        return rows
