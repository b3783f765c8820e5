"""Taking an act on a memory back from the notice that told of it: the way leads to the version that is in force again."""

from __future__ import annotations

from typing import Any

from django.http import HttpRequest, HttpResponse, HttpResponseRedirect

from governance.adminbase import Screen, ctx_of, decide, page_url, read, toast
from kernel.errors import NotFoundError
from kernel.ids import new_id
from memory.admin.following import newest_of
from memory.models import MemoryItem
from memory.selectors import visible_items


class UndoActScreen(Screen):
    """Takes back what one recorded act did to a memory. Where it cannot be, the page says why."""

    name = "memory_item_undo"
    route = "<uuid:pk>/undo/<uuid:entry>/"
    title = "Undo"
    template = "smartbrain/revert.html"
    placed = False

    def absent(self, request: HttpRequest, error: NotFoundError, **names: Any) -> HttpResponse:
        """A record out of sight answers like one that does not exist."""
        return self.owner.missing(request, str(names["pk"]))

    def show(self, request: HttpRequest, **names: Any) -> dict[str, Any]:
        """The record of the act, and what stands against taking it back."""
        entry = read("get_audit_entry", request, id=str(names["entry"]))
        back = page_url(MemoryItem(pk=names["pk"]))
        return {"entry": entry, "key": str(new_id()), "back": back, "back_label": "Back to the memory"}

    def send(self, request: HttpRequest, **names: Any) -> HttpResponse:
        """Take it back, and go to the memory as it is now."""
        sent = request.POST
        given = {"audit_entry_id": str(names["entry"]), "reason": sent.get("reason", "")}
        decide("revert_change", request, **given, idempotency_key=sent.get("key") or None)
        ctx = ctx_of(request)
        row = visible_items(ctx).filter(pk=names["pk"]).first()
        now = newest_of(row, ctx) if row is not None else MemoryItem(pk=names["pk"])
        again = f" This is version {now.version}, which says it again." if row is not None and now.pk != row.pk else ""
        toast(request, f"Taken back; nothing was erased.{again}")
        return HttpResponseRedirect(page_url(now))
