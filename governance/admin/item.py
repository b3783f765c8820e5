"""One proposal: what it would change, what helps to decide, and the forms that decide."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import UUID

from django.core.exceptions import PermissionDenied
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.urls import reverse

from governance import selectors, services
from governance.admin.editing import edited, text_fields
from governance.admin.filters import Address
from governance.adminbase import Screen, ctx_of, decide, place_of, read, toast, whole
from governance.adminbase.briefs import RowDiff, counted, row_of
from governance.adminbase.diff import FieldDiff, as_text, compare_values
from governance.contracts import (
    Presentation,
    ProposalDetail,
    ProposalFilters,
    ProposalState,
    ProposalView,
    RelatedText,
)
from kernel.context import Ctx
from kernel.errors import ConflictError, DomainError, InvalidInputError, NotFoundError, TransitionError
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
    "draft_rule": "Rule drafted: it waits as a proposal of its own",
}
STATE_TONES = {
    ProposalState.OPEN: "sb-warn",
    ProposalState.APPROVED: "sb-good",
    ProposalState.REJECTED: "sb-bad",
}
# The heading of what changes, and of its two sides
OPEN_WORDS = ("What would change", "Now", "Proposed")
DONE_WORDS = ("What it changed", "Before", "After")
LEFT_WORDS = ("What it would have changed", "Then", "Proposed")
STAYING = frozenset({"claim_proposal", "release_proposal", "comment_on_proposal", "draft_rule"})
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
        """A proposal out of sight answers like one that does not exist, as every other row; one that waits for a second
        look of the person leads to that."""
        if isinstance(error, selectors.SecondLookError):
            return HttpResponseRedirect(reverse("admin:governance_blind", args=[names["pk"]]))
        return self.owner.missing(request, str(names["pk"]))

    def show(self, request: HttpRequest, **names: Any) -> dict[str, Any]:
        """Everything that the decision rests on, and where to go from here."""
        ctx = ctx_of(request)
        address = Address.read(request.POST.get("query") or request.GET.urlencode())
        filters = address.given() if listed(address, ctx) else None
        review = read("review_proposal", request, id=str(names["pk"]), filters=filters)
        proposal: ProposalDetail = review.proposal
        may = {each.step for each in review.may if each.allowed}
        return {
            **shape_of(request),
            **shown_of(review.presentation, proposal),
            "review": review,
            "proposal": proposal,
            "where": place_of(proposal.domain_id, proposal.scope),
            "state_tone": STATE_TONES.get(proposal.state, ""),
            **said_of(proposal),
            "edit": [compare_values("input", proposal.proposed_input, proposal.input)],
            "hidden": has_invisible(as_text(proposal.input) or ""),
            "may": may,
            "why_not": ""
            if proposal.decided_at
            else next((each.why_not for each in review.may if each.step == "approve"), ""),
            "verdict": proposal.decisions[-1] if proposal.decided_at and proposal.decisions else None,
            **way_back(proposal, ctx),
            "address": address,
            "before": review.previous_id,
            "after": review.next_id,
            "fields": text_fields(proposal.input) if "edit_and_approve" in may else [],
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
        if request.POST.get("quiet"):
            return self.looked(action, request, given)
        answer = decide(action, request, **given)
        address = Address.read(request.POST.get("query", ""))
        here = f"{reverse('admin:governance_item', args=[names['pk']])}?{address.query}"
        if action in STAYING:
            toast(request, f"{DONE[action]}.")
            return HttpResponseRedirect(here)
        ctx, proposal = ctx_of(request), answer.proposal
        left = selectors.count_decidable(None, ctx)
        undo = reverse("admin:governance_undo") if action in UNDOABLE and not settled(proposal) else ""
        fields = {"proposal_id": str(names["pk"]), "query": address.query}
        toast(request, f"{DONE[action]}, {left} left.", undo=undo, fields=fields)
        filters = listed(address, ctx)
        before, after = selectors.neighbours_of(proposal.id, filters, ctx) if filters else (None, None)
        following = after or before
        if following is None:
            return HttpResponseRedirect(f"{reverse('admin:governance_queue')}?{address.query}")
        return HttpResponseRedirect(f"{reverse('admin:governance_item', args=[following])}?{address.query}")

    def looked(self, action: str, request: HttpRequest, given: Mapping[str, Any]) -> HttpResponse:
        """A claim that a page made because somebody looks at it: nobody reads the answer, and who cannot claim is told
        by the badge of the page."""
        if action != "claim_proposal":
            raise PermissionDenied
        with suppress(ConflictError, TransitionError):
            decide(action, request, **given)
        return HttpResponse(status=204)


class EffectScreen(Screen):
    """What a proposal would do, tried out and undone: a page of its own, which the item's page takes in."""

    name = "governance_effect"
    route = "<uuid:pk>/effect/"
    title = "What it would do"
    template = "smartbrain/effect.html"
    placed = False

    def show(self, request: HttpRequest, **names: Any) -> dict[str, Any]:
        """The dry run."""
        effect = read("preview_proposal", request, id=str(names["pk"]))
        lines = [(line, counted(line.what, line.count)) for line in effect.lines]
        return {"effect": effect, "lines": lines, "pk": names["pk"], "address": Address.read(request.GET.urlencode())}


def settled(proposal: ProposalView) -> str:
    """Why its approval cannot be taken back, and what to do instead; empty where it can, or where nothing was done."""
    return services.no_way_back(proposal.action) if proposal.state == ProposalState.APPROVED else ""


def way_back(proposal: ProposalDetail, ctx: Ctx) -> dict[str, Any]:
    """Whether the page offers to undo the last decision, and what it says instead."""
    deciding = selectors.may_decide(proposal.action, proposal.domain_id, proposal.scope, ctx)
    decided = bool(proposal.decisions) and deciding
    instead = settled(proposal) if decided else ""
    return {"undoable": decided and not instead, "instead": instead}


def said_of(proposal: ProposalView) -> dict[str, str]:
    """What the page calls the change and its two sides: a decided proposal is told as it was."""
    words = OPEN_WORDS
    if proposal.decided_at is not None:
        words = DONE_WORDS if proposal.state == ProposalState.APPROVED else LEFT_WORDS
    return dict(zip(("heading", "old", "new"), words, strict=True))


def listed(address: Address, ctx: Ctx) -> ProposalFilters | None:
    """The list that an address names; None where it names none that the person can open."""
    try:
        filters = ProposalFilters.parse(address.given())
        if filters.similar_to is not None:
            selectors.get_proposal(filters.similar_to, ctx)
    except DomainError:
        return None
    return filters


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
    if action == "draft_rule":
        given["reason"] = sent.get("reason", "")
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
        return {"seen_again": whole(seen)}
    if not until:
        return {"until": chosen} if chosen else {}
    try:
        return {"until": datetime.fromisoformat(until).replace(tzinfo=UTC).isoformat()}
    except ValueError as exc:
        raise InvalidInputError("Say until when as a date and time, such as 2026-12-24T09:00.") from exc


def shape_of(request: HttpRequest) -> dict[str, str]:
    """How comparisons are laid out: as the address says, else as the person prefers."""
    mode = request.GET.get("diff") or selectors.preferences_of(ctx_of(request)).diff
    return {
        "mode": "unified" if mode == "unified" else "side",
        "other_mode": "side" if mode == "unified" else "unified",
        "rendered": "markdown" if request.GET.get("read") == "markdown" else "",
    }


def shown_of(presentation: Presentation, proposal: ProposalDetail) -> dict[str, Any]:
    """A presentation with its rows compared: those that say something, else those that its app names, the rest folded
    away. Where there are none, the texts of the proposed input stand for them, unless it was carried out and changed
    nothing."""
    rows = [row_of(row) for row in presentation.rows]
    nothing = proposal.state == ProposalState.APPROVED and not rows
    telling = [row for row in rows if row.tells] or [row for row in rows if row.title]
    texts = (
        []
        if telling or nothing
        else [compare_values(field.label, None, field.text) for field in text_fields(proposal.input)]
    )
    if not telling and not texts:
        telling = rows[:1]
    nearest, source = presentation.nearest, presentation.source
    if nearest is not None and nearest.id in {row.id for row in rows}:
        nearest = None  # it changes itself, so it is compared above
    proposed = next((text for row in telling if (text := row.proposed)), "")
    wording = _worded(source, proposed, telling)
    return {
        "subject": presentation.subject,
        "rows": telling,
        "texts": texts,
        "further": [row for row in rows if row not in telling],
        "nearest": nearest,
        "source": source,
        "wording": wording,
        "nearest_fields": [compare_values("text", nearest.text, proposed)] if nearest and proposed else [],
        "surroundings": [
            ("Evidence", [each for each in presentation.evidence if not wording or each != source]),
            ("Similar memories", presentation.neighbours),
            ("Cards that would change", presentation.cards),
        ],
        "conflicts": presentation.conflicts,
    }


def _worded(source: RelatedText | None, proposed: str, rows: Sequence[RowDiff]) -> list[FieldDiff]:
    """How new words differ from those of their source; nothing where a row in sight is compared with it anyway."""
    if source is None or not proposed or any(field.before == source.text for row in rows for field in row.fields):
        return []
    return [replace(compare_values("statement", source.text, proposed), label="Statement")]
