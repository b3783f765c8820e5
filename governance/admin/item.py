"""One proposal: what it would change, what helps to decide, and the forms that decide."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import UUID

from django.core.exceptions import PermissionDenied
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.urls import reverse

from governance import selectors
from governance.admin.editing import edited, text_fields
from governance.admin.filters import Address
from governance.adminbase import Screen, act, ctx_of, place_of, read, toast
from governance.adminbase.briefs import rows_of
from governance.adminbase.diff import as_text, compare_values
from governance.contracts import ProposalDetail, ProposalFilters, ProposalState
from governance.models import OPEN_STATES
from kernel.context import ANY, Ctx, Right
from kernel.errors import DomainError, InvalidInputError, NotFoundError
from kernel.ids import new_id
from kernel.text import has_invisible

DONE = {
    "approve_proposal": "Approved",
    "reject_proposal": "Rejected",
    "request_changes": "Sent back",
    "edit_and_approve": "Edited and approved",
    "snooze_proposal": "Snoozed",
    "claim_proposal": "Claimed",
    "release_proposal": "Released",
    "comment_on_proposal": "Comment kept",
}
STATE_TONES = {
    ProposalState.OPEN: "sb-warn",
    ProposalState.APPROVED: "sb-good",
    ProposalState.REJECTED: "sb-bad",
}
STAYING = frozenset({"claim_proposal", "release_proposal", "comment_on_proposal"})
UNDOABLE = frozenset({"approve_proposal", "reject_proposal", "request_changes", "edit_and_approve"})
SNOOZES = [(1, "for an hour"), (24, "for a day"), (168, "for a week")]


class ItemScreen(Screen):
    """The page of one proposal; after a decision the next one of the same filter follows."""

    name = "governance_item"
    route = "<uuid:pk>/change/"
    title = "Proposal"
    template = "smartbrain/review.html"
    placed = False

    def absent(self, request: HttpRequest, error: NotFoundError, **names: Any) -> HttpResponse:
        """A proposal out of sight answers like one that does not exist, as every other row."""
        return self.owner.missing(request, str(names["pk"]))

    def show(self, request: HttpRequest, **names: Any) -> dict[str, Any]:
        """Everything that the decision rests on, and where to go from here."""
        ctx = ctx_of(request)
        proposal = read("get_proposal", request, id=str(names["pk"]))
        address = Address.read(request.POST.get("query") or request.GET.urlencode())
        before, after = neighbours(names["pk"], address, ctx)
        mode = request.GET.get("diff") or selectors.preferences_of(ctx).diff
        return {
            "title": "Proposal",
            "subject": proposal.subject or proposal.action,
            "proposal": proposal,
            "where": place_of(proposal.domain_id, proposal.scope),
            "state_tone": STATE_TONES.get(proposal.state, ""),
            "rows": rows_of(proposal.changes),
            "timeline": proposal.decisions,
            "edit": [compare_values("input", proposal.proposed_input, proposal.input)],
            "hidden": has_invisible(as_text(proposal.input) or ""),
            "may": what_may(proposal, ctx),
            "address": address,
            "before": before,
            "after": after,
            "mode": "unified" if mode == "unified" else "side",
            "other_mode": "side" if mode == "unified" else "unified",
            "rendered": "markdown" if request.GET.get("read") == "markdown" else "",
            "fields": text_fields(proposal.input),
            "snoozes": [((ctx.now + timedelta(hours=n)).isoformat(), words) for n, words in SNOOZES],
            "key": str(new_id()),
            "history": reverse("admin:governance_auditentry_changelist", query={"proposal": str(names["pk"])}),
        }

    def send(self, request: HttpRequest, **names: Any) -> HttpResponse:
        """Carry out one of the forms."""
        action = request.POST.get("act", "")
        if action not in DONE:
            raise PermissionDenied
        given = _given(action, request, names["pk"])
        act(action, request, **given)
        address = Address.read(request.POST.get("query", ""))
        here = f"{reverse('admin:governance_item', args=[names['pk']])}?{address.query}"
        if action in STAYING:
            toast(request, f"{DONE[action]}.")
            return HttpResponseRedirect(here)
        ctx = ctx_of(request)
        left = selectors.count_decidable(None, ctx)
        toast(request, f"{DONE[action]}, {left} left.")
        before, after = neighbours(names["pk"], address, ctx)
        following = after or before
        if following is None:
            return HttpResponseRedirect(f"{reverse('admin:governance_queue')}?{address.query}")
        return HttpResponseRedirect(f"{reverse('admin:governance_item', args=[following])}?{address.query}")


def neighbours(proposal_id: UUID, address: Address, ctx: Ctx) -> tuple[UUID | None, UUID | None]:
    """The proposals before and after one in the queue that the address names, whether it is still in it or not."""
    row = selectors.visible_proposals(ctx).prefetch_related(None).only("id", "risk").filter(pk=proposal_id).first()
    if row is None:
        return None, None
    try:
        filters = ProposalFilters.parse(address.given())
        rows = selectors.filter_proposals(filters, ctx)
    except DomainError:
        return None, None
    return selectors.before_and_after(row, rows)


def _given(action: str, request: HttpRequest, proposal_id: UUID) -> dict[str, Any]:
    sent = request.POST
    given: dict[str, Any] = {"id": str(proposal_id), "idempotency_key": sent.get("key") or None}
    if action in UNDOABLE:
        given["revision"] = revision_of(sent.get("revision", ""))
        given["reason"] = sent.get("reason", "")
    if action == "edit_and_approve":
        stored = read("get_proposal", request, id=str(proposal_id))
        given["input"] = edited(stored.input, sent.dict())
    if action == "snooze_proposal":
        given |= _sleep(sent.get("chosen", ""), sent.get("until", ""), sent.get("seen_again", ""))
    if action == "comment_on_proposal":
        given["text"] = sent.get("text", "")
    return given


def revision_of(text: str) -> int:
    """The revision that a form was made for. A form without one could decide on what nobody looked at."""
    if not (text.isascii() and text.isdigit() and len(text) < 10):
        raise InvalidInputError("The form does not say which revision it is about: open the page again.")
    return int(text)


def _sleep(chosen: str, until: str, seen: str) -> dict[str, Any]:
    """How long a form puts a proposal off: a chosen instant, a typed one in UTC, or a number of times seen."""
    if seen:
        return {"seen_again": int(seen) if seen.isdigit() else seen}
    if not until:
        return {"until": chosen} if chosen else {}
    try:
        return {"until": datetime.fromisoformat(until).replace(tzinfo=UTC).isoformat()}
    except ValueError as exc:
        raise InvalidInputError("Say until when as a date and time, such as 2026-12-24T09:00.") from exc


def what_may(proposal: ProposalDetail, ctx: Ctx) -> set[str]:
    """What the person may do with a proposal now: the buttons for anything else are absent."""
    if proposal.state not in OPEN_STATES or not ctx.may(Right.DECIDE, proposal.domain_id or ANY, proposal.scope):
        return set()
    return {"approve", "reject", "request_changes", "edit", "snooze", "claim", "comment"}
