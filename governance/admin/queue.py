"""The queue: proposals that wait, by risk and age, where the address is the filter."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any
from urllib.parse import urlencode

from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.urls import reverse

from governance import selectors
from governance.admin.filters import AGES, RISKS, Address
from governance.adminbase import Screen, ctx_of, decide, place_of, read, toast
from governance.adminbase.briefs import RowDiff, one_line, rows_of
from governance.adminbase.diff import Passage
from governance.contracts import FilterView, ProposalFilters, ProposalView, QueueCount

PAGE = 20
FOLDED_ROWS = 3  # rows of a proposal that are shown where its line is opened in place


@dataclass(frozen=True, slots=True)
class Line:
    """One proposal of the list."""

    view: ProposalView
    difference: list[Passage]
    rows: list[RowDiff]
    where: str
    link: str
    like: str


@dataclass(frozen=True, slots=True)
class Tab:
    """One queue or saved filter above the list."""

    label: str
    count: str
    query: str
    current: bool
    note: str = ""


class QueueScreen(Screen):
    """Tabs for the queues, filters in the address, rows that open in place, and a form to decide several at once."""

    name = "governance_queue"
    route = "queue/"
    title = "Queue"
    template = "smartbrain/queue.html"
    group, place, icon = "Review", -1, "inbox"

    def show(self, request: HttpRequest, **names: Any) -> dict[str, Any]:
        """One page of the queue that the address names."""
        address = Address.of(request.GET.dict())
        cursor = request.GET.get("cursor") or None
        listed = read("list_proposals", request, limit=PAGE, cursor=cursor, **address.given())
        counts = read("proposal_counts", request)
        saved = read("list_filters", request, counts=True).filters
        return {
            "address": address,
            "tabs": [queue_tab(count, address) for count in counts.queues],
            "saved": [saved_tab(each, address) for each in saved],
            "own": [each for each in saved if each.mine],
            "progress": counts,
            "lines": lines(listed.proposals, address, request),
            "next": f"{address.query}&{urlencode({'cursor': listed.next_cursor})}" if listed.next_cursor else "",
            "first": cursor is None,
            "risks": RISKS,
            "ages": AGES,
            "no_reach": not ctx_of(request).reach,
        }

    def view(self, request: HttpRequest, **names: Any) -> HttpResponse:
        """The queue; without any filter in the address, the one that the person opens it with."""
        if request.method == "GET" and not request.GET and self.allowed(request):
            default = selectors.default_filter(ctx_of(request))
            if default is not None:
                return HttpResponseRedirect(f"{self.link}?{address_of(default).query}")
        return super().view(request, **names)

    def send(self, request: HttpRequest, **names: Any) -> HttpResponse:
        """Keep the filters of the address under a name, or forget a saved one."""
        address = Address.read(request.POST.get("query", ""))
        if request.POST.get("forget"):
            decide("delete_filter", request, id=request.POST["forget"])
            toast(request, "The saved filter is gone.")
        else:
            chosen = {name: name in request.POST for name in ("shared", "is_default")}
            decide("save_filter", request, name=request.POST.get("name", ""), filters=address.given(), **chosen)
            toast(request, "Saved as a tab above the list.")
        return HttpResponseRedirect(f"{self.link}?{address.query}")


def address_of(filters: ProposalFilters) -> Address:
    """The address that names some filters."""
    given = filters.model_dump(mode="json", exclude_defaults=True)
    return Address.of({name: {True: "true", False: "false"}.get(value, str(value)) for name, value in given.items()})


def saved_tab(saved: FilterView, address: Address) -> Tab:
    """The tab of a saved filter."""
    there = address_of(saved.filters)
    shown = f"{saved.count}+" if saved.at_least else str(saved.count)
    note = "" if saved.mine else f"shared by {saved.owner}"
    return Tab(saved.name, shown, there.query, dict(there.fields) == dict(address.fields), note)


def queue_tab(count: QueueCount, address: Address) -> Tab:
    """The tab of one queue; it drops the other filters."""
    shown = f"{count.count}+" if count.at_least else str(count.count)
    here = address.fields["queue"] == count.queue
    return Tab(LABELS[count.queue], shown, urlencode({"queue": count.queue}), here)


LABELS = {
    "open": "Open",
    "mine": "Claimed by me",
    "snoozed": "Snoozed",
    "changes_requested": "Changes requested",
    "approved": "Approved",
    "rejected": "Rejected",
}


def lines(views: list[ProposalView], address: Address, request: HttpRequest) -> list[Line]:
    """The lines of a page, each with what it would change."""
    changes = selectors.changes_of_proposals([view.id for view in views], ctx_of(request))
    found = []
    for view in views:
        rows = changes.get(view.id, [])
        item = reverse("admin:governance_item", args=[view.id])
        like = urlencode({"queue": "open", "similar_to": str(view.id)})
        found.append(
            Line(
                view,
                one_line(rows),
                rows_of(rows[:FOLDED_ROWS]),
                place_of(view.domain_id, view.scope),
                f"{item}?{address.query}",
                f"{reverse('admin:governance_bulk')}?{like}",
            )
        )
    return found
