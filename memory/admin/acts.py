"""The page of one act on a memory: its form, then what it would do, then the deed and the way back."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any
from uuid import UUID

from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.urls import reverse

from governance import selectors as governance
from governance.adminbase import Screen, act_as_foretold, ctx_of, page_url, read, toast
from governance.adminbase.briefs import counted, row_of
from governance.policies import ReviewPolicy, Verdict, for_scope, in_force
from kernel.context import Ctx
from kernel.errors import ConflictError, ForbiddenError, InvalidInputError, NotFoundError, StaleError
from kernel.ids import new_id
from memory.actions.lifecycle import narrower_types
from memory.actions.place import allowed_types
from memory.admin.comparing import reads_then
from memory.admin.deeds import CORRECT, DEEDS, NARROW, PROMOTE, RETRACT, Deed, foreseen, hindrance
from memory.admin.following import instead_of
from memory.admin.plain import by_labels, label_of
from memory.admin.wording import filled, given_of, kept
from memory.contracts.lifecycle import AlsoView, DemotionReason, RelatedItemsResult, Relation
from memory.extensions.evidence import evidence_texts, rests_on
from memory.models import MemoryItem
from memory.selectors import visible_items
from scopes.contracts import SESSION
from scopes.selectors import visible_scopes

READY = 9
MAX_SCOPES = 200
STEPS = ("csrfmiddlewaretoken", "step", "seen", "digest", "key")
# What is said of the other memories that an act can be done to along with its own.
ALONG = {
    RETRACT: "",
    CORRECT: "Each keeps its place and its key, and reads as the correction says.",
    NARROW: "Those outside go on reading whichever of these you leave as it is.",
}
LEFT = ("not_permitted", "not_found", "governed", "not_in_force", "does_not_fit")


class ActScreen(Screen):
    """One act on one memory. Nothing is done before its effect was shown, and nothing else than what was shown."""

    name = "memory_item_act"
    route = "<uuid:pk>/act/<slug:act>/"
    title = "Act on a memory"
    template = "smartbrain/act.html"
    placed = False

    def absent(self, request: HttpRequest, error: NotFoundError, **names: Any) -> HttpResponse:
        """A memory out of sight answers like one that does not exist."""
        return self.owner.missing(request, str(names["pk"]))

    def show(self, request: HttpRequest, **names: Any) -> dict[str, Any]:
        """The form, with what was typed or what the address says. Its look at the memory is on record."""
        ctx, deed = ctx_of(request), _deed(names["act"])
        row = _row(names["pk"], ctx)
        near = _look(deed, row, request)
        verdict, refusal = foreseen(deed, row, ctx)
        if verdict is Verdict.DENY:
            raise ForbiddenError(refusal)
        sent = request.POST if request.method == "POST" else request.GET
        targets = _targets(deed, row, ctx)
        return {
            "title": f"{deed.label}: {row}",
            "item": row,
            "page": page_url(row),
            "deed": deed,
            "waits": verdict is Verdict.QUEUE,
            "hindrance": hindrance(deed, row),
            "instead": instead_of(deed, row, request, STEPS),
            "form": filled(row, deed, sent),
            "seen": state_of(row),
            "reasons": _ready_reasons(row, ctx),
            "reason_types": [each.value for each in DemotionReason],
            "scopes": targets[:MAX_SCOPES],
            "first": MAX_SCOPES if len(targets) > MAX_SCOPES else 0,
            **_surroundings(deed, row, near, ctx),
        }

    def send(self, request: HttpRequest, **names: Any) -> HttpResponse:
        """From the form: show what it would do. From there: do that, and nothing else."""
        try:
            return self._sent(request, _deed(names["act"]), **names)
        except InvalidInputError as exc:
            raise by_labels(exc, _deed(names["act"]), request.POST) from exc

    def _sent(self, request: HttpRequest, deed: Deed, **names: Any) -> HttpResponse:
        ctx, sent = ctx_of(request), request.POST
        row = _row(names["pk"], ctx)
        step, blocked = sent.get("step"), hindrance(deed, row)
        if step == "carry":
            return self.page(request, self.template, 200, self.show(request, **names))
        if step == "do":
            return self._do(request, deed, row, given_of(deed, row, sent))
        if blocked:
            raise ConflictError(blocked)
        given = given_of(deed, row, sent)
        if sent.get("seen", "") != state_of(row):
            raise StaleError(f"The memory was changed since you opened the form: it is {_state_in_words(row)} now.")
        told = read("preview_call", request, action=deed.action, input=given)
        context = {
            **self.show(request, **names),
            "told": told,
            "lines": [(line, counted(line.what, line.count)) for line in told.lines],
            "rows": [row_of(each) for each in told.rows],
            "wording": reads_then(deed, row, given),
            "kept": kept(sent, STEPS),
            "key": str(new_id()),
        }
        return self.page(request, self.template, 200, context)

    def _do(self, request: HttpRequest, deed: Deed, row: MemoryItem, given: dict[str, Any]) -> HttpResponse:
        digest = request.POST.get("digest", "")
        if not digest:
            raise InvalidInputError("Look at what it would do first.")
        keyed = {**given, "idempotency_key": request.POST.get("key") or None}
        try:
            answer = act_as_foretold(deed.action, request, keyed, digest)
        except ConflictError as exc:
            raise ConflictError(hindrance(deed, row) or exc.message) from exc
        if answer.queued is not None:
            toast(request, "It waits for someone else who may decide on it.", done=False)
            return HttpResponseRedirect(page_url(row))
        result: Any = answer.result
        left = [each for each in getattr(result, "outcomes", ()) if each.outcome in LEFT]
        words = f" {len(left)} of the others were left as they were: {_why(left)}." if left else ""
        entry = governance.entry_of_call(deed.action, ctx_of(request))
        undo = reverse("admin:memory_item_undo", args=[row.pk, entry]) if entry else ""
        fields = {"reason": f"Taken back at once: {deed.label.lower()}", "key": str(new_id())}
        toast(request, deed.done + words, undo=undo, fields=fields, done=not left)
        return HttpResponseRedirect(page_url(MemoryItem(pk=result.item.id)))


def _deed(name: str) -> Deed:
    if name not in DEEDS:
        raise NotFoundError(f"There is no act {name!r} on a memory: choose one of {', '.join(DEEDS)}.")
    return DEEDS[name]


def _row(item_id: UUID, ctx: Ctx) -> MemoryItem:
    row = visible_items(ctx).filter(pk=item_id).first()
    if row is None:
        raise NotFoundError(f"No memory item {item_id} that you can see.")
    return row


def state_of(row: MemoryItem) -> str:
    """The state of a memory as a form carries it: a form that carries another one is stale."""
    return f"{row.standing}/{'in force' if row.current_until is None else 'past'}"


def _state_in_words(row: MemoryItem) -> str:
    return f"{row.status} and {row.lifecycle_status}" if row.current_until is None else "no longer in force"


def _why(left: Sequence[Any]) -> str:
    return ", ".join(dict.fromkeys(each.outcome.replace("_", " ") for each in left))


def _ready_reasons(row: MemoryItem, ctx: Ctx) -> list[str]:
    reasons = in_force(row.domain_id, ctx).section(ReviewPolicy).canned_reasons
    return for_scope(reasons, row.scope.name)[:READY]


def _targets(deed: Deed, row: MemoryItem, ctx: Ctx) -> list[str]:
    """Scopes to choose from, by name, one more than are offered: narrower ones, or all others of the domain that are no
    conversations."""
    if deed not in (NARROW, PROMOTE):
        return []
    types = narrower_types(row.scope.scope_type) if deed is NARROW else allowed_types(row.domain_id, ctx)
    rows = visible_scopes(ctx).filter(domain_id=row.domain_id, scope_type__in=types).exclude(scope_type=SESSION)
    named = rows.exclude(pk=row.scope_id).order_by("scope_type", "external_id")[: MAX_SCOPES + 1]
    return [scope.name for scope in named]


def _look(deed: Deed, row: MemoryItem, request: HttpRequest) -> list[AlsoView]:
    """Look at the memory through the gate, so that it is on record, and at what the act may concern too."""
    found: RelatedItemsResult = read("related_items", request, memory_item_id=str(row.pk))
    return found.also


def _surroundings(deed: Deed, row: MemoryItem, near: Sequence[AlsoView], ctx: Ctx) -> dict[str, Any]:
    """What a form offers to tick: what the same act may be done to along with the memory, or what it can rest on."""
    if deed in ALONG:
        taken = [each for each in near if deed is not NARROW or narrower_types(each.item.scope.type)]
        others = [(each, page_url(MemoryItem(pk=each.item.id))) for each in taken]
        return {"others": others, "along": label_of(deed, "also"), "along_says": ALONG[deed]}
    refs, origins = rests_on([row], ctx)
    rests = [told for told in refs if deed is not PROMOTE or told[1] != "counterexample"]
    own = evidence_texts(rests, ctx, [origin for origin in origins if origin.message_id is not None])
    grounds = {f"{each.kind} {each.id}": (each.kind, each.source or each.scope, each.text) for each in own}
    for each in near:
        if each.relation is not Relation.SOURCE:
            where = f"{each.item.scope.type}:{each.item.scope.id}"
            grounds.setdefault(f"memory {each.item.id}", (each.relation.value, where, each.item.statement))
    return {"grounds": [(value, *told) for value, told in grounds.items()]}
