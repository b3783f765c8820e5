"""Policy explain: why a call was decided so, what would become of one that nobody made, and a draft tried on the past."""

from __future__ import annotations

from typing import Any

from django.http import HttpRequest, HttpResponse
from django.urls import reverse

from governance.adminbase import Screen, ctx_of, place_of, read, sent_json, whole
from governance.contracts import ReplayPolicyResult
from kernel.actions import all_actions
from kernel.context import ANY, ActorKind, Ctx, Door

TONES = {"allow": "good", "queue": "warn", "deny": "bad"}
EXAMPLE = """{"review": {"queue": [
  {"name": "shared", "actions": ["commit_turn"], "scope_types": ["global", "project"]}
]}}"""
VERBS = {"allow": "allowed", "queue": "held for review", "deny": "denied", None: "not decided"}


class ExplainScreen(Screen):
    """Explains with the same `decide` that decides."""

    name = "governance_explain"
    route = "explain/"
    title = "Policy explain"
    template = "smartbrain/explain.html"
    group, place, icon = "Review", 4, "help"

    def show(self, request: HttpRequest, **names: Any) -> dict[str, Any]:
        """The forms, and the answer to what the address asks."""
        asked = {name: value.strip() for name, value in request.GET.dict().items() if value.strip()}
        shown = {
            "asked": asked,
            "actions": [action.name for action in all_actions()],
            "kinds": [ActorKind.AGENT, ActorKind.PERSON],
            "doors": list(Door),
            "example": EXAMPLE,
            "no_reach": not ctx_of(request).reach,
            "own_domain": own_domain(ctx_of(request)),
        }
        question = _question(asked)
        if question is None or shown["no_reach"]:
            return shown
        told = read("explain_policy", request, **question)
        subject = asked.get("audit_entry_id")
        return {
            **shown,
            "told": told,
            "tone": TONES.get(told.verdict or "", "plain"),
            "verb": VERBS[told.verdict],
            "now_verb": VERBS[told.now.verdict] if told.now else "",
            "subject": reverse("admin:governance_auditentry_change", args=[subject]) if subject else "",
        }

    def send(self, request: HttpRequest, **names: Any) -> HttpResponse:
        """Try a draft; nothing is stored."""
        document = sent_json(request, "document")
        domain_id = request.POST.get("domain_id", "").strip() or None
        days = whole(request.POST.get("days", "30"))
        found = read("replay_policy", request, document=document, domain_id=domain_id, days=days)
        context = {**self.show(request), "replayed": found, "lines": _lines(found), "given": request.POST.dict()}
        return self.page(request, self.template, 200, context)


def own_domain(ctx: Ctx) -> str:
    """The only domain that the person reviews; empty where there are several, or every one."""
    domains = {grant.domain_id for grant in ctx.reach}
    return "" if len(domains) != 1 or ANY in domains else domains.pop()


def _question(asked: dict[str, str]) -> dict[str, Any] | None:
    """What the address asks, as the action takes it; None where it asks nothing."""
    for name in ("audit_entry_id", "proposal_id"):
        if name in asked:
            return {name: asked[name]}
    if "name" in asked and "action" in asked:
        names = ("name", "kind", "action", "domain_id", "scope", "target_scope", "door")
        return {"what_if": {name: asked[name] for name in names if name in asked}}
    return None


def _lines(found: ReplayPolicyResult) -> list[dict[str, Any]]:
    return [
        {
            "line": line,
            "before": VERBS[line.verdict],
            "after": VERBS[line.new_verdict],
            "tone": TONES[line.new_verdict],
            "examples": [
                {
                    "link": reverse("admin:governance_auditentry_change", args=[each.audit_entry_id]),
                    "text": f"{each.actor} in {place_of(each.domain_id, each.scope)}",
                    "at": each.at,
                }
                for each in line.examples
            ],
        }
        for line in found.lines
    ]
