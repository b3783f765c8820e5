"""Agents' activity: what each did lately, how much of it was denied, and what became of its proposals."""

from __future__ import annotations

from typing import Any

from django.http import HttpRequest
from django.urls import reverse

from governance.adminbase import Screen, ctx_of, read, whole
from kernel.context import ActorKind

DAYS = (1, 7, 30)
NEWEST = 20_000  # calls summed up: the page answers in a moment however long the log is


class AgentsScreen(Screen):
    """One row for each agent, person or part of the system."""

    name = "governance_agents"
    route = "activity/"
    title = "Agents' activity"
    template = "smartbrain/agents.html"
    group, place, icon = "Review", 5, "monitoring"

    def show(self, request: HttpRequest, **names: Any) -> dict[str, Any]:
        """The activity that the address asks for."""
        fields = {name: request.GET.get(name, "").strip() for name in ("domain_id", "kind", "days")}
        given = {name: whole(value) if name == "days" else value for name, value in fields.items() if value}
        shown = {"fields": fields, "kinds": list(ActorKind), "days": DAYS, "no_reach": not ctx_of(request).reach}
        if shown["no_reach"]:
            return shown
        found = read("agent_activity", request, limit=NEWEST, **given)
        history = reverse("admin:governance_history")
        rows = [{"actor": each, "link": f"{history}?actor_id={each.actor_id}"} for each in found.actors]
        return {**shown, "found": found, "rows": rows}
