"""Second looks: decided proposals of the sample, shown to another reviewer without what was decided and by whom."""

from __future__ import annotations

from typing import Any
from urllib.parse import urlencode

from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.urls import reverse

from governance.admin.editing import text_fields
from governance.admin.item import shape_of
from governance.adminbase import Screen, ctx_of, decide, place_of, read, toast
from governance.adminbase.briefs import row_of
from governance.adminbase.diff import as_text, compare_values
from governance.contracts import BlindCase
from kernel.errors import NotFoundError
from kernel.ids import new_id
from kernel.text import has_invisible

PAGE = 20
BRIEF = 300  # characters of a reason that a notice repeats


class BlindListScreen(Screen):
    """What waits for a second look of the signed-in reviewer, newest first."""

    name = "governance_blind_list"
    route = "second-looks/"
    title = "Second looks"
    template = "smartbrain/blind_list.html"
    group, place, icon = "Review", 1, "visibility_off"

    def show(self, request: HttpRequest, **names: Any) -> dict[str, Any]:
        """One page of them."""
        listed = read("list_blind_reviews", request, limit=PAGE, cursor=request.GET.get("cursor") or None)
        return {
            "cases": [(case, place_of(case.domain_id, case.scope)) for case in listed.cases],
            "next": urlencode({"cursor": listed.next_cursor}) if listed.next_cursor else "",
            "no_reach": not ctx_of(request).reach,
        }


class BlindScreen(Screen):
    """One of them as it was proposed, and the form that takes the answer; then the next one follows."""

    name = "governance_blind"
    route = "second-looks/<uuid:pk>/"
    title = "Second look"
    template = "smartbrain/blind.html"
    placed = False

    def show(self, request: HttpRequest, **names: Any) -> dict[str, Any]:
        """The proposal. Raises NotFoundError where it does not wait for a look of this person."""
        cases: list[BlindCase] = read("list_blind_reviews", request, id=str(names["pk"])).cases
        if not cases:
            raise NotFoundError(f"Proposal {names['pk']} does not wait for a second look of yours.")
        case = cases[0]
        return {
            **shape_of(request),
            "case": case,
            "where": place_of(case.domain_id, case.scope),
            "texts": [compare_values(field.label, None, field.text) for field in text_fields(case.input)],
            "rows": [row_of(row) for row in case.rows],
            "hidden": has_invisible(as_text(case.input) or ""),
            "key": str(new_id()),
            "list": reverse("admin:governance_blind_list"),
        }

    def send(self, request: HttpRequest, **names: Any) -> HttpResponse:
        """Keep the answer, say what was decided, and go on to the next."""
        sent = request.POST
        given = {"verdict": sent.get("verdict", ""), "reason": sent.get("reason", "")}
        answer = decide(
            "review_blindly", request, id=str(names["pk"]), **given, idempotency_key=sent.get("key") or None
        )
        said = "You agree" if answer.agrees else "You do not agree"
        because = f" because: {answer.reason[:BRIEF]}" if answer.reason else ", without a comment"
        toast(request, f"Kept. {said}: it was {answer.decided.value}{because}")
        waiting = read("list_blind_reviews", request, limit=1).cases
        if not waiting:
            return HttpResponseRedirect(reverse("admin:governance_blind_list"))
        return HttpResponseRedirect(reverse("admin:governance_blind", args=[waiting[0].id]))
