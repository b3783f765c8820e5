"""Taking decisions back: the address that the button of a notice posts to."""

from __future__ import annotations

from typing import Any

from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.urls import reverse

from governance.adminbase import Screen, decide, toast


class UndoScreen(Screen):
    """Takes back one decision or a whole batch. Where a reason is needed the page asks for it."""

    name = "governance_undo"
    route = "undo/"
    title = "Undo"
    template = "smartbrain/undo.html"
    placed = False

    def show(self, request: HttpRequest, **names: Any) -> dict[str, Any]:
        """What would be taken back: a proposal's last decision, or a batch by its request id."""
        asked = request.POST if request.method == "POST" else request.GET
        return {"wanted": {name: asked[name] for name in ("proposal_id", "request_id") if asked.get(name)}}

    def send(self, request: HttpRequest, **names: Any) -> HttpResponse:
        """Take it back, and say what became of each."""
        wanted = {name: request.POST[name] for name in ("proposal_id", "request_id") if request.POST.get(name)}
        answer = decide("undo_decision", request, **wanted, reason=request.POST.get("reason", ""))
        toast(request, f"{answer.summary[:1].upper()}{answer.summary[1:]}.", done=all_done(answer))
        if "proposal_id" in wanted:
            return HttpResponseRedirect(reverse("admin:governance_item", args=[wanted["proposal_id"]]))
        return HttpResponseRedirect(reverse("admin:governance_queue"))


def all_done(answer: Any) -> bool:
    """Whether everything was taken back."""
    return all(each.outcome == "done" for each in answer.outcomes)
