"""The shadow inspector's page: a ladder for each key, and what would change as links."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlencode
from uuid import UUID

from django.http import HttpRequest, HttpResponse
from django.template.response import TemplateResponse
from django.urls import reverse

from governance.adminbase import Screen, as_uuid, ctx_of, page_url, read
from governance.policies import Verdict
from kernel.context import Ctx
from kernel.errors import DomainError, InvalidInputError, NotFoundError
from memory.admin.deeds import DEMOTE, PROMOTE, RETRACT, foreseen, hindrance
from memory.admin.places import offered_places
from memory.contracts.shadows import InspectShadowsResult, Rung
from memory.models import ContextRecord, MemoryItem
from memory.selectors import visible_items
from scopes.contracts import join_scopes, split_scopes, written_scope

RULES = {
    "": "counts",
    "scope_priority": "its scope counts later",
    "same_rank": "same rank, the newer or later one counts",
    "pinned_principle": "a pinned principle counts first",
}
DEEDS_OF = {"promote": PROMOTE, "demote": DEMOTE, "retract": RETRACT}


class ShadowScreen(Screen):
    """Which row counts per key in a scope context or in a recorded context, and what would be if one moved."""

    name = "memory_shadows"
    route = "shadows/"
    title = "Shadow inspector"
    group, place, icon = "Review", 3, "stairs"
    template = "smartbrain/shadows.html"

    def view(self, request: HttpRequest, **names: Any) -> HttpResponse:
        """Answer a request; where it makes no sense the form stays, and the status says so."""
        answer = super().view(request, **names)
        if isinstance(answer, TemplateResponse) and answer.context_data is not None:
            answer.status_code = answer.context_data.get("status", answer.status_code)
        return answer

    def show(self, request: HttpRequest, **names: Any) -> dict[str, Any]:
        """What the address asks for; without scopes, or where something is wrong with what it asks, only the form."""
        asked = _asked(request)
        ctx = ctx_of(request)
        places = offered_places(asked.domain_id, asked.context_id, asked.scopes, ctx)
        offered = any(str(row.pk) == asked.context_id for row in places.contexts)
        choices = {
            "asked": asked,
            "places": places,
            "written": asked.typed if asked.fault else join_scopes(n for n in places.others if n in asked.written),
            "ticked": [name for name in places.others if name not in asked.written],
            "older": "" if offered else asked.context_id,
        }
        if asked.fault:
            return {**choices, "missing": asked.fault, "status": InvalidInputError.status}
        if asked.scopes and not asked.domain_id and not asked.context_id:
            return {**choices, "missing": "Name the domain too: scopes of one name exist in many."}
        if not asked.scopes and not asked.context_id:
            return choices
        if asked.context_id and as_uuid(asked.context_id) is None:
            said = f"{asked.context_id!r} is no id of a context: choose one, or copy its UUID."
            return {**choices, "missing": said, "status": InvalidInputError.status}
        try:
            found: InspectShadowsResult = read("inspect_shadows", request, **_given(asked, request))
        except (InvalidInputError, NotFoundError) as exc:
            return {**choices, "missing": _plainly(exc), "status": exc.status}
        base = asked.address
        known = {rung.memory_item_id for rung in found.what_if.before} if found.what_if else set()
        return {
            **choices,
            "found": found,
            "ladders": [
                {"type": each.type, "key": each.key, "rungs": [_rung(rung, base, found) for rung in each.rungs]}
                for each in found.keys
            ],
            "before": [_rung(rung, "", found, known) for rung in found.what_if.before] if found.what_if else [],
            "after": [_rung(rung, "", found, known) for rung in found.what_if.after] if found.what_if else [],
            "do": _do(asked, ctx) if found.what_if else None,
            "back": f"?{base}",
            "more": f"?{base}&{urlencode({'cursor': found.next_cursor})}" if found.next_cursor else "",
            "context": ContextRecord(pk=as_uuid(asked.context_id)) if asked.context_id else None,
        }


@dataclass(frozen=True, slots=True)
class _Asked:
    """What the address asks. `scopes` are the names of all that are ticked or written, of which `written` are `typed`;
    `fault` says what is wrong with how they are typed."""

    domain_id: str
    scopes: tuple[str, ...]
    written: tuple[str, ...]
    typed: str
    fault: str
    context_id: str
    type: str
    key: str
    act: str
    item: str
    to: str

    @property
    def address(self) -> str:
        """Where is looked, as an address says it: not what would be if a row moved."""
        placed = {name: getattr(self, name) for name in ("domain_id", "context_id", "type", "key")}
        return urlencode(
            {**{name: value for name, value in placed.items() if value}, "scope": self.scopes}, doseq=True
        )


def _asked(request: HttpRequest) -> _Asked:
    """What the address asks: scopes that are ticked (`scope`) and written (`scopes`) are one list; of several context ids
    the first that is not empty counts. A domain that is only chosen (`choose`) has no scopes yet."""
    sent = request.GET
    chosen = "choose" in sent
    ticked = () if chosen else tuple(name.strip() for name in sent.getlist("scope"))
    typed, fault = "" if chosen else sent.get("scopes", ""), ""
    written: tuple[str, ...] = ()
    try:
        written = split_scopes(typed, "scopes")
    except InvalidInputError as exc:
        fault = exc.message
    ids = (each.strip() for each in sent.getlist("context_id"))
    return _Asked(
        scopes=tuple(dict.fromkeys([*ticked, *written])),
        written=tuple(name for name in written if name not in ticked),
        typed=typed,
        fault=fault,
        context_id="" if chosen else next(filter(None, ids), ""),
        **{name: sent.get(name, "").strip() for name in ("domain_id", "type", "key", "act", "item", "to")},
    )


def shadows_of(domain_id: str, scopes: Sequence[str]) -> str:
    """The address on which the inspector looks into these scopes of a domain."""
    asked = {"domain_id": domain_id, "scope": list(dict.fromkeys(scopes))}
    return f"{reverse('admin:memory_shadows')}?{urlencode(asked, doseq=True)}"


def _plainly(error: DomainError) -> str:
    """What is wrong with what was asked, without the name of a field that no form shows."""
    first = error.errors[0]["msg"] if error.errors else error.message
    return first[:1].upper() + first[1:]


def _do(asked: _Asked, ctx: Ctx) -> dict[str, str] | None:
    """The form on which what was only thought of is done, filled in; None where the person may not do it."""
    deed, item_id = DEEDS_OF[asked.act], as_uuid(asked.item)
    row = visible_items(ctx).filter(pk=item_id).first() if item_id else None
    if row is None or hindrance(deed, row) or foreseen(deed, row, ctx)[0] is Verdict.DENY:
        return None
    filled = {"target": asked.to} if deed is PROMOTE else {}
    return {"label": deed.label, "link": reverse("admin:memory_item_act", args=[row.pk, deed.action], query=filled)}


def _given(asked: _Asked, request: HttpRequest) -> dict[str, Any]:
    """The address as the action's input."""
    given: dict[str, Any] = {name: value for name, value in (("type", asked.type), ("key", asked.key)) if value}
    if request.GET.get("cursor"):
        given["cursor"] = request.GET["cursor"]
    if asked.context_id:
        given["context_id"] = asked.context_id
    else:
        given["domain_id"] = asked.domain_id
        given["scope_context"] = {"read": [written_scope(name, "scopes") for name in asked.scopes]}
    if asked.act:
        given["what_if"] = {"act": asked.act, "memory_item_id": asked.item}
        if asked.act == "promote":
            given["what_if"]["target_scope"] = written_scope(asked.to, "to")
    return given


def _rung(rung: Rung, base: str, found: InspectShadowsResult, known: Collection[UUID] | None = None) -> dict[str, Any]:
    """A rung with the links that ask what would be; none where the place is not to be asked again. `known` are the
    memories that exist, where one may be only thought of."""
    here = f"{rung.scope.type}:{rung.scope.id}"
    links = []
    if base:
        item = {"item": str(rung.memory_item_id)}
        links = [(word, f"?{base}&{urlencode({'act': word, **item})}#what-if") for word in ("retract", "demote")]
        links += [
            (f"promote to {scope.type}:{scope.id}",
             f"?{base}&{urlencode({'act': 'promote', 'to': f'{scope.type}:{scope.id}', **item})}#what-if")
            for scope in found.scopes
            if f"{scope.type}:{scope.id}" != here and scope.type != "session"
        ]  # fmt: skip
    return {
        "view": rung,
        "scope": here,
        "rule": RULES.get(rung.rule, rung.rule),
        "link": page_url(MemoryItem(pk=rung.memory_item_id)) if known is None or rung.memory_item_id in known else "",
        "links": links,
    }
