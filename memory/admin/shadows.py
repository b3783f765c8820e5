"""The shadow inspector's page: a ladder for each key, and what would change as links."""

from __future__ import annotations

from typing import Any
from urllib.parse import urlencode

from django.http import HttpRequest

from governance.adminbase import Screen, as_uuid, ctx_of, page_url, read
from kernel.errors import InvalidInputError
from memory.contracts.shadows import InspectShadowsResult, Rung
from memory.models import ContextRecord, MemoryItem
from memory.selectors.contexts import visible_contexts
from scopes.selectors import visible_domains, visible_scopes

RULES = {
    "": "counts",
    "scope_priority": "its scope counts later",
    "same_rank": "same rank, the newer or later one counts",
    "pinned_principle": "a pinned principle counts first",
}
PLACED = ("domain_id", "scopes", "context_id", "type", "key")
MAX_CHOICES = 50


class ShadowScreen(Screen):
    """Which row counts per key in a scope context or in a recorded context, and what would be if one moved."""

    name = "memory_shadows"
    route = "shadows/"
    title = "Shadow inspector"
    group, place, icon = "Review", 3, "stairs"
    template = "smartbrain/shadows.html"

    def show(self, request: HttpRequest, **names: Any) -> dict[str, Any]:
        """What the address asks for; without scopes only the form."""
        asked = {name: request.GET.get(name, "").strip() for name in (*PLACED, "act", "item", "to")}
        ctx = ctx_of(request)
        choices = {
            "asked": asked,
            "domains": list(visible_domains(ctx).order_by("pk").values_list("pk", flat=True)[:MAX_CHOICES]),
            "scope_names": _scope_names(asked["domain_id"], request),
            "contexts": list(visible_contexts(ctx).defer("package").order_by("-id")[:10]),
        }
        if asked["scopes"] and not asked["domain_id"] and not asked["context_id"]:
            return {**choices, "missing": "Name the domain too: scopes of one name exist in many."}
        if not asked["scopes"] and not asked["context_id"]:
            return choices
        found: InspectShadowsResult = read("inspect_shadows", request, **_given(asked, request))
        base = urlencode({name: asked[name] for name in PLACED if asked[name]})
        return {
            **choices,
            "found": found,
            "ladders": [
                {"type": each.type, "key": each.key, "rungs": [_rung(rung, base, found) for rung in each.rungs]}
                for each in found.keys
            ],
            "before": [_rung(rung, "", found) for rung in found.what_if.before] if found.what_if else [],
            "after": [_rung(rung, "", found) for rung in found.what_if.after] if found.what_if else [],
            "back": f"?{base}",
            "more": f"?{base}&{urlencode({'cursor': found.next_cursor})}" if found.next_cursor else "",
            "context": ContextRecord(pk=as_uuid(asked["context_id"])) if asked["context_id"] else None,
        }


def _scope_names(domain_id: str, request: HttpRequest) -> list[str]:
    """Scopes to choose from: those of the domain that are not conversations, by name."""
    rows = visible_scopes(ctx_of(request)).filter(domain_id=domain_id).exclude(scope_type="session")
    return [row.name for row in rows.order_by("scope_type", "external_id")[:MAX_CHOICES]] if domain_id else []


def _given(asked: dict[str, str], request: HttpRequest) -> dict[str, Any]:
    """The address as the action's input."""
    given: dict[str, Any] = {name: asked[name] for name in ("type", "key") if asked[name]}
    if request.GET.get("cursor"):
        given["cursor"] = request.GET["cursor"]
    if asked["context_id"]:
        given["context_id"] = asked["context_id"]
    else:
        given["domain_id"] = asked["domain_id"]
        given["scope_context"] = {"read": [_ref(name) for name in asked["scopes"].replace(",", " ").split()]}
    if asked["act"]:
        given["what_if"] = {"act": asked["act"], "memory_item_id": asked["item"]}
        if asked["act"] == "promote":
            given["what_if"]["target_scope"] = _ref(asked["to"])
    return given


def _ref(name: str) -> dict[str, str]:
    scope_type, colon, external_id = name.partition(":")
    if not colon:
        message = f"{name!r} is no scope: write it as type:id, such as project:shop."
        raise InvalidInputError(message, errors=[{"loc": ["scopes"], "msg": message, "type": "scope"}])
    return {"type": scope_type, "id": external_id}


def _rung(rung: Rung, base: str, found: InspectShadowsResult) -> dict[str, Any]:
    """A rung with the links that ask what would be; none where the place is not to be asked again."""
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
        "link": page_url(MemoryItem(pk=rung.memory_item_id)) if base else "",
        "links": links,
    }
