"""Deciding on several proposals: a page that asks first, and one that says what became of each."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import islice
from typing import Any

from django.http import HttpRequest, HttpResponse
from django.urls import reverse

from governance import selectors, services
from governance.actions.proposals.foreseeing import refused_approvals
from governance.admin.filters import Address
from governance.admin.queue import Line, lines, number
from governance.adminbase import Screen, as_uuid, ctx_of, decide, place_of, read, whole
from governance.adminbase.diff import Kind, Passage, brief
from governance.contracts import ProposalFilters, ProposalView, Risk
from governance.models import OPEN_STATES
from governance.policies import ReviewPolicy, for_scope, in_force
from kernel.context import Ctx
from kernel.errors import InvalidInputError
from kernel.ids import new_id

RISKS_IN_BULK = (Risk.NORMAL.value, Risk.LOW.value)
VERDICTS = {"approve": "Approve", "reject": "Reject", "request_changes": "Send back"}
READY = 9
PAGE = 100  # proposals that one reading of a list gives
SHOWN = 20  # of those that are left out for one reason
HIGH = "It is of high risk: open it and decide on it alone."


@dataclass(frozen=True, slots=True)
class Same:
    """Proposals that would make the same difference. `beside` is how what they say differs from what the first of a set
    of like ones says; empty where that is not asked."""

    lines: list[Line]
    difference: list[Passage]
    beside: list[Passage]


@dataclass(frozen=True, slots=True)
class Group:
    """Proposals of one kind among those that will be decided, those of one difference together."""

    action: str
    where: str
    by: str
    parts: list[Same]

    @property
    def size(self) -> int:
        """How many they are."""
        return sum(len(part.lines) for part in self.parts)


@dataclass(frozen=True, slots=True)
class LeftOut:
    """Proposals that will not be decided for one reason: the first of them, and how many more; `query` names them all."""

    why: str
    views: list[ProposalView]
    more: int
    query: str = ""

    @property
    def size(self) -> int:
        """How many they are."""
        return len(self.views) + self.more


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
        changes = selectors.changes_of_proposals([view.id for view in will[:cap]], ctx)
        if verdict == "approve":
            refused = refused_approvals([each.row for each in changes.values() if each.row is not None], ctx)
            shown = lines(will[:cap], address, request, changes, {})
            told += [(line.view, refused[line.view.id]) for line in shown if line.view.id in refused]
            shown = [line for line in shown if line.view.id not in refused]
        else:
            shown = lines(will[:cap], address, request, changes)
        out = left_out(told, will[cap:], cap)
        count, at_least = count_matching(address, ctx) if everything else (None, False)
        if count is not None:
            high = high_ones(address, request)
            out = with_unread(out, count - len(views) - sum(each.size for each in high), len(views), cap) + high
        return {
            "address": address,
            "verdict": verdict,
            "does": VERDICTS[verdict],
            "verdicts": VERDICTS,
            "groups": groups(shown, beside=shown[0].text if "similar_to" in address.fields and shown else ""),
            "alike": "similar_to" in address.fields,
            "picks": [f"{line.view.id}:{line.view.revision}" for line in shown],
            "none_picked": not everything and not request.POST.getlist("pick"),
            "left_out": out,
            "left": number(sum(each.size for each in out), at_least=at_least),
            "all": everything,
            "count": count,
            "counted": number(count or 0, at_least=at_least),
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
    """The proposals that fit an address and are not of high risk: one more than a batch may hold."""
    found: list[ProposalView] = []
    for risk in RISKS_IN_BULK:
        if address.fields.get("risk", risk) != risk:
            continue
        cursor = None
        while len(found) < 10 * PAGE:
            given = {**address.given(), "risk": risk}
            listed = read("list_proposals", request, limit=PAGE, cursor=cursor, **given)
            found += listed.proposals
            cursor = listed.next_cursor
            cap = services.bulk_cap((view.domain_id for view in found), ctx_of(request))
            if len(found) > cap:
                return found
            if cursor is None:
                break
    return found


def high_ones(address: Address, request: HttpRequest) -> list[LeftOut]:
    """Those of high risk that fit an address."""
    high = Risk.HIGH.value
    if address.fields.get("risk", high) != high:
        return []
    ctx, filters = ctx_of(request), ProposalFilters.parse({**address.given(), "risk": high})
    count = selectors.count_matching(filters, ctx)[0]
    if not count:
        return []
    rows = selectors.filter_proposals(filters, ctx).defer("input", "changes", "search_text").order_by("id")[:SHOWN]
    listed = [selectors.view_proposal(row, ctx, 0) for row in rows]
    return [LeftOut(HIGH, listed, max(count - len(listed), 0), Address.of({**address.fields, "risk": high}).query)]


def left_out(told: Sequence[tuple[ProposalView, str]], over: Sequence[ProposalView], cap: int) -> list[LeftOut]:
    """What a batch leaves out, by reason."""
    by: dict[str, list[ProposalView]] = {}
    for view, why in told:
        if why:
            by.setdefault(why, []).append(view)
    if over:
        by[over_cap(cap)] = list(over)
    return [LeftOut(why, views[:SHOWN], max(len(views) - SHOWN, 0)) for why, views in by.items()]


def over_cap(cap: int) -> str:
    """Why those beyond the cap are left out."""
    return f"Policy allows {cap} in one call: decide the rest after these."


def with_unread(out: Sequence[LeftOut], unread: int, looked_at: int, cap: int) -> list[LeftOut]:
    """What is left out, and those that fit beyond what the page read, which goes a little over the cap."""
    if unread <= 0:
        return list(out)
    why = over_cap(cap)
    if all(each.why != why for each in out):
        return [*out, LeftOut(f"The page looks at the first {looked_at} only: come back for the rest.", [], unread)]
    return [replace(each, more=each.more + unread) if each.why == why else each for each in out]


def count_matching(address: Address, ctx: Ctx) -> tuple[int, bool]:
    """How many proposals fit an address, counted up to a bound, and whether there are more."""
    return selectors.count_matching(ProposalFilters.parse(address.given()), ctx)


def newcomers(count: str, address: Address, ctx: Ctx) -> int:
    """How many more fit the address than when the page asked; 0 where single proposals were picked."""
    asked = whole(count)
    return max(count_matching(address, ctx)[0] - asked, 0) if isinstance(asked, int) else 0


def why_not(view: ProposalView, ctx: Ctx) -> str:
    """Why a proposal is left out of a batch; empty where it is not."""
    if view.state not in OPEN_STATES:
        return f"It is {view.state.replace('_', ' ')} already."
    if view.risk is Risk.HIGH:
        return HIGH
    if not selectors.may_decide(view.action, view.domain_id, view.scope, ctx):
        return "You may see it and not decide on it."
    return ""


def groups(found: Sequence[Line], *, beside: str = "") -> list[Group]:
    """Lines by action, place and proposer, and among those by the difference they make, the largest first. `beside` is a
    text with which each is compared."""
    by: dict[tuple[str, str, str], dict[tuple[Passage, ...], list[Line]]] = {}
    for line in found:
        place = place_of(line.view.domain_id, line.view.scope)
        kind = by.setdefault((line.view.action, place, line.view.proposed_by), {})
        kind.setdefault(tuple(line.difference) or (Passage(Kind.SAME, line.text),), []).append(line)
    made = [Group(*named, [_same(rows, beside) for rows in kind.values()]) for named, kind in by.items()]
    return sorted(made, key=lambda group: -group.size)


def _same(rows: list[Line], beside: str) -> Same:
    text = rows[0].text
    return Same(rows, rows[0].difference, brief(beside, text) if beside and text != beside else [])


def canned(views: Sequence[ProposalView], ctx: Ctx) -> list[str]:
    """Ready reasons of the first proposal's scope, nine at most."""
    for view in islice(views, 1):
        reasons = in_force(view.domain_id, ctx).section(ReviewPolicy).canned_reasons
        return for_scope(reasons, view.scope)[:READY]
    return []
