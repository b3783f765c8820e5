"""Taking back: a decision, from the notice that told of it; the change of a recorded call, from its audit entry."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.urls import reverse

from governance.admin.filters import Address
from governance.adminbase import Screen, as_uuid, back_to, decide, read, toast
from kernel.errors import NotFoundError
from kernel.ids import new_id


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
        return {"wanted": _wanted(asked), "address": Address.read(asked.get("query", ""))}

    def send(self, request: HttpRequest, **names: Any) -> HttpResponse:
        """Take it back, and say what became of each."""
        wanted = _wanted(request.POST)
        answer = decide("undo_decision", request, **wanted, reason=request.POST.get("reason", ""))
        told = [f"{answer.summary[:1].upper()}{answer.summary[1:]}."]
        told += dict.fromkeys(each.message for each in answer.outcomes if each.outcome == "irreversible")
        toast(request, " ".join(told), done=all_done(answer))
        query = Address.read(request.POST.get("query", "")).query
        if "proposal_id" in wanted:
            return HttpResponseRedirect(f"{reverse('admin:governance_item', args=[wanted['proposal_id']])}?{query}")
        return HttpResponseRedirect(f"{reverse('admin:governance_queue')}?{query}")


def _wanted(asked: Mapping[str, str]) -> dict[str, str]:
    """The ids of what is to be taken back, each as it is written in addresses. Raises NotFoundError for what is none."""
    found = {}
    for name in ("proposal_id", "request_id"):
        if said := asked.get(name):
            known = as_uuid(said)
            if known is None:
                raise NotFoundError(f"The {name} in the address or form is no UUID, so there is nothing to take back.")
            found[name] = str(known)
    return found


class RevertScreen(Screen):
    """Takes back what the call of an audit entry changed, with a reason. Where it cannot be, the page says why."""

    name = "governance_revert"
    route = "<uuid:pk>/revert/"
    title = "Revert"
    template = "smartbrain/revert.html"
    placed = False

    def show(self, request: HttpRequest, **names: Any) -> dict[str, Any]:
        """The entry, and what stands against taking it back."""
        entry = read("get_audit_entry", request, id=str(names["pk"]))
        return {"entry": entry, "key": str(new_id()), "back": self.entry_page(names)}

    def absent(self, request: HttpRequest, error: NotFoundError, **names: Any) -> HttpResponse:
        """An entry out of sight answers like one that does not exist."""
        return self.owner.missing(request, str(names["pk"]))

    def send(self, request: HttpRequest, **names: Any) -> HttpResponse:
        """Take it back, and say what was restored on the page of the entry."""
        sent = request.POST
        given = {"audit_entry_id": str(names["pk"]), "reason": sent.get("reason", "")}
        answer = decide("revert_change", request, **given, idempotency_key=sent.get("key") or None)
        rows = len(answer.changed)
        toast(request, f"Taken back: {rows} row{'' if rows == 1 else 's'} restored. Nothing was erased.")
        return back_to(request, self.entry_page(names))

    def entry_page(self, names: Mapping[str, Any]) -> str:
        """The address of the entry."""
        return reverse("admin:governance_auditentry_change", args=[names["pk"]])


def all_done(answer: Any) -> bool:
    """Whether everything was taken back."""
    return all(each.outcome == "done" for each in answer.outcomes)
