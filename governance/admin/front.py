"""The front page of the admin: what is there, what waits, what happened last, and how to start."""

from __future__ import annotations

from typing import Any

from django.http import HttpRequest

from governance import selectors
from governance.admin.review import place_of
from governance.adminbase import bounded_count, ctx_of, list_url, pages
from governance.models import OPEN_STATES, AuditEntry, Proposal

NEWEST = 8


def front_page(request: HttpRequest, context: dict[str, Any]) -> dict[str, Any]:
    """Everything within the person's sight, each count looking at a thousand rows at most."""
    ctx = ctx_of(request)
    waiting = selectors.visible_proposals(ctx).filter(state__in=OPEN_STATES).prefetch_related(None)
    newest = selectors.visible_audit(ctx).defer("facts", "changes")
    cards = [
        {"label": page.front, "count": bounded_count(page.get_queryset(request)), "link": list_url(page.opts)}
        for page in pages(request)
        if getattr(page, "front", "")
    ]
    return {
        **context,
        "title": "Overview",
        "cards": [
            *cards,
            {"label": "Open proposals", "count": bounded_count(waiting), "link": list_url(Proposal._meta)},  # noqa: SLF001
        ],
        "reach": ctx.reach,
        "waiting": [
            {"row": row, "where": place_of(row.domain_id, row.scope)} for row in waiting.order_by("-id")[:NEWEST]
        ],
        "newest": [_placed(row) for row in newest.order_by("-id")[:NEWEST]],
        "audit_list": list_url(AuditEntry._meta),  # noqa: SLF001
        "nothing_yet": all(card["count"] == "0" for card in cards),
    }


def _placed(row: Proposal | AuditEntry) -> dict[str, Any]:
    return {"row": row, "where": place_of(row.domain_id, row.scope)}
