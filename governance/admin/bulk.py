"""Deciding on several proposals: a page that asks first, and one that says what became of each."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Any

from django.http import HttpRequest, HttpResponse
from django.urls import reverse

from governance import selectors, services
from governance.admin.filters import Address
from governance.admin.queue import Line, lines
from governance.adminbase import Screen, as_uuid, ctx_of, decide, place_of, read, whole
from governance.contracts import ProposalFilters, ProposalView, Risk
from governance.models import OPEN_STATES
from governance.policies import ReviewPolicy, for_scope, in_force
from kernel.context import ANY, Ctx, Right
from kernel.errors import InvalidInputError
from kernel.ids import new_id

VERDICTS = {"approve": "Approve", "reject": "Reject", "request_changes": "Send back"}
READY = 9
PAGE = 100  # proposals that one reading of a list gives


@dataclass(frozen=True, slots=True)
class Group:
    """Proposals of one kind among those that will be decided."""

    action: str
    where: str
    by: str
    lines: list[Line]


class BulkScreen(Screen):
    """What will be decided and what not, one reason for all; then the outcome of each."""

    name = "governance_bulk"
    route = "queue/bulk/"
    title = "Decide several"
    template = "smartbrain/bulk.html"
    placed = False

    def show(self, request: HttpRequest, **names: Any) -> dict[str, Any]:
        """The page that asks: for the picked proposals of a form, or for all that fit an address."""
        ctx = ctx_of(request)
        address = Address.read(request.POST.get("query") or request.GET.urlencode())
        verdict = request.POST.get("verdict") or request.GET.get("verdict") or "approve"
        if verdict not in VERDICTS:
            raise InvalidInputError(f"There is no verdict {verdict!r}: choose one of {', '.join(VERDICTS)}.")
        everything = request.method != "POST" or request.POST.get("all") == "yes"
        views = matching(address, request) if everything else picked(request.POST.getlist("pick"), ctx)
        cap = services.bulk_cap((view.domain_id for view in views), ctx)
        told = [(view, why_not(view, ctx)) for view in views]
        will = [view for view, why in told if not why]
        return {
            "address": address,
            "verdict": verdict,
            "does": VERDICTS[verdict],
            "verdicts": VERDICTS,
            "groups": groups(lines(will[:cap], address, request)),
            "picks": [f"{view.id}:{view.revision}" for view in will[:cap]],
            "left_out": [(view, why) for view, why in told if why]
            + [(view, f"Policy allows {cap} in one call: decide the rest after these.") for view in will[cap:]],
            "all": everything,
            "count": count_matching(address, ctx) if everything else None,
            "key": str(new_id()),
            "canned": canned(will, ctx),
        }

    def send(self, request: HttpRequest, **names: Any) -> HttpResponse:
        """From the queue: ask. From the page that asks: decide."""
        if request.POST.get("step") != "decide":
            return self.page(request, self.template, 200, self.show(request))
        address = Address.read(request.POST.get("query", ""))
        more = newcomers(request.POST.get("count", ""), address, ctx_of(request))
        answer = decide(
            "decide_proposals",
            request,
            verdict=request.POST.get("verdict", ""),
            proposals=[choice_of(pick) for pick in request.POST.getlist("pick")],
            reason=request.POST.get("reason", ""),
            idempotency_key=request.POST.get("key") or None,
        )
        views = {view.id: view for view in picked(request.POST.getlist("pick"), ctx_of(request))}
        context = {
            "answer": answer,
            "rest": [
                (views.get(each.id), each) for each in answer.outcomes if each.outcome not in ("done", "recorded")
            ],
            "done": sum(each.outcome in ("done", "recorded") for each in answer.outcomes),
            "address": address,
            "more": more,
            "undo": reverse("admin:governance_undo"),
        }
        return self.page(request, "smartbrain/bulk_done.html", 200, context)


def choice_of(pick: str) -> dict[str, Any]:
    """One ticked box: the proposal and the revision that the page showed."""
    proposal, _, revision = pick.partition(":")
    return {"id": proposal, "revision": whole(revision)}


def picked(picks: Sequence[str], ctx: Ctx) -> list[ProposalView]:
    """The visible proposals of ticked boxes, in their order."""
    ids = [found for pick in picks[: 10 * PAGE] if (found := as_uuid(pick.partition(":")[0])) is not None]
    rows = selectors.visible_proposals(ctx).defer("input", "changes", "search_text").in_bulk(ids)
    return selectors.view_proposals([rows[place] for place in dict.fromkeys(ids) if place in rows], ctx)


def matching(address: Address, request: HttpRequest) -> list[ProposalView]:
    """The proposals that fit an address, as many as one batch may hold and those among them that it leaves out."""
    found: list[ProposalView] = []
    cursor = None
    while len(found) < 10 * PAGE:
        listed = read("list_proposals", request, limit=PAGE, cursor=cursor, **address.given())
        found += listed.proposals
        cursor = listed.next_cursor
        cap = services.bulk_cap((view.domain_id for view in found), ctx_of(request))
        if cursor is None or sum(view.risk is not Risk.HIGH for view in found) >= cap:
            break
    return found


def count_matching(address: Address, ctx: Ctx) -> int:
    """How many proposals fit an address, counted up to a bound."""
    given = ProposalFilters.parse(address.given())
    return selectors.count_matching(given, ctx)[0]


def newcomers(count: str, address: Address, ctx: Ctx) -> int:
    """How many more fit the address than when the page asked; 0 where single proposals were picked."""
    asked = whole(count)
    return max(count_matching(address, ctx) - asked, 0) if isinstance(asked, int) else 0


def why_not(view: ProposalView, ctx: Ctx) -> str:
    """Why a proposal is left out of a batch; empty where it is not."""
    if view.state not in OPEN_STATES:
        return f"It is {view.state.replace('_', ' ')} already."
    if view.risk is Risk.HIGH:
        return "It is of high risk: open it and decide on it alone."
    if not ctx.may(Right.DECIDE, view.domain_id or ANY, view.scope):
        return "You may see it and not decide on it."
    return ""


def groups(found: Sequence[Line]) -> list[Group]:
    """Lines by action, place and proposer, the largest group first."""
    by: dict[tuple[str, str, str], list[Line]] = {}
    for line in found:
        place = place_of(line.view.domain_id, line.view.scope)
        by.setdefault((line.view.action, place, line.view.proposed_by), []).append(line)
    made = [Group(*named, rows) for named, rows in by.items()]
    return sorted(made, key=lambda group: -len(group.lines))


def canned(views: Sequence[ProposalView], ctx: Ctx) -> list[str]:
    """Ready reasons of the first proposal's scope, nine at most."""
    for view in islice(views, 1):
        reasons = in_force(view.domain_id, ctx).section(ReviewPolicy).canned_reasons
        return for_scope(reasons, view.scope)[:READY]
    return []
