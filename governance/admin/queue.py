"""The queue: proposals that wait, by risk and age, where the address is the filter."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlencode
from uuid import UUID

from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.urls import reverse

from governance import selectors
from governance.admin.filters import AGES, PICKED, RISKS, WORDS, Address
from governance.adminbase import Screen, ctx_of, decide, place_of, read, toast
from governance.adminbase.briefs import RowDiff, one_line, rows_of
from governance.adminbase.diff import FieldDiff, Passage, brief, compare_values
from governance.contracts import Choice, FilterView, ProposalFilters, ProposalView, QueueChoices, QueueCount
from governance.hooks import HeldCall, obstacles
from governance.models import OPEN_STATES

PAGE = 20
NOTHING = selectors.Told("", "", HeldCall("", {}, []))
FOLDED_ROWS = 3  # rows of a proposal that are shown where its line is opened in place


@dataclass(frozen=True, slots=True)
class Line:
    """One proposal of the list; `text` is what it would say, or what it is about; `obstacle` why it would be refused if
    it were carried out now, empty where nothing is known against it."""

    view: ProposalView
    difference: list[Passage]
    rows: list[RowDiff]
    words: list[FieldDiff]
    text: str
    where: str
    link: str
    like: str
    obstacle: str = ""


@dataclass(frozen=True, slots=True)
class Tab:
    """One queue or saved filter above the list."""

    label: str
    count: str
    query: str
    current: bool
    note: str = ""


@dataclass(frozen=True, slots=True)
class Picker:
    """One filter that chooses among the values that occur; `open`: there may be others, so one can be typed."""

    name: str
    label: str
    chosen: str
    choices: list[Choice]
    open: bool
    hint: str


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
        narrowing = {name: value for name, value in address.given().items() if name != "queue"}
        counts = read("proposal_counts", request, choices_of=address.fields["queue"], **narrowing)
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
            "pickers": pickers(counts.choices, address),
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
    note = "" if saved.mine else f"shared by {saved.owner}"
    shown = number(saved.count or 0, at_least=saved.at_least)
    return Tab(saved.name, shown, there.query, dict(there.fields) == dict(address.fields), note)


def queue_tab(count: QueueCount, address: Address) -> Tab:
    """The tab of one queue; it keeps the other filters."""
    here = address.fields["queue"] == count.queue
    return Tab(LABELS[count.queue], number(count.count, at_least=count.at_least), address.into(count.queue), here)


def number(count: int, *, at_least: bool) -> str:
    """A count as people read it, such as `10,000+`."""
    return f"{count:,}{'+' if at_least else ''}"


def pickers(choices: QueueChoices, address: Address) -> list[Picker]:
    """The fields that choose among what is there: a list, or where there is more than it holds a field to type in."""
    made = []
    for name, hint in PICKED.items():
        found: list[Choice] = getattr(choices, name)
        chosen = address.fields.get(name, "")
        if chosen and chosen not in [each.value for each in found]:
            found = [Choice(value=chosen, count=0), *found]
        made.append(Picker(name, WORDS[name], chosen, found, open=choices.at_least or name in choices.cut, hint=hint))
    return made


LABELS = {
    "open": "Open",
    "mine": "Claimed by me",
    "snoozed": "Snoozed",
    "changes_requested": "Changes requested",
    "approved": "Approved",
    "rejected": "Rejected",
}


def difference(told: selectors.Told, view: ProposalView) -> list[Passage]:
    """What would differ, on one line: what an app tells in words. Where the subject says that in full already, the rows
    come first, where they tell something else."""
    in_words = brief(told.before, told.after)
    if (told.before and told.after) or (told.after or told.before) not in view.subject:
        return in_words
    return one_line(told.call.changes) or in_words


def words_of(told: selectors.Told) -> list[FieldDiff]:
    """What stands and what would stand, where an app tells it in words."""
    if not told.before and not told.after:
        return []
    return [compare_values("What it says", told.before or None, told.after or None)]


def lines(
    views: list[ProposalView],
    address: Address,
    request: HttpRequest,
    changes: Mapping[UUID, selectors.Told] | None = None,
    against: Mapping[UUID, str] | None = None,
) -> list[Line]:
    """The lines of a page, each with what it would change. `changes` and what is known `against` carrying them out are
    looked up where they are not given."""
    ctx = ctx_of(request)
    if changes is None:
        changes = selectors.changes_of_proposals([view.id for view in views], ctx)
    if against is None:
        waiting = {
            view.id: changes[view.id].call for view in views if view.state in OPEN_STATES and view.id in changes
        }
        against = obstacles(waiting, ctx)
    found = []
    for view in views:
        told = changes.get(view.id, NOTHING)
        item = reverse("admin:governance_item", args=[view.id])
        like = urlencode({"queue": "open", "similar_to": str(view.id)})
        found.append(
            Line(
                view,
                difference(told, view),
                rows_of(told.call.changes[:FOLDED_ROWS]),
                words_of(told),
                told.after or told.before or view.subject,
                place_of(view.domain_id, view.scope),
                f"{item}?{address.query}",
                f"{reverse('admin:governance_bulk')}?{like}",
                against.get(view.id, ""),
            )
        )
    return found
