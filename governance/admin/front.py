"""The front page of the admin: what waits, what was decided, how the parts do, what happened last, and how to start."""

from __future__ import annotations

from typing import Any

from django.db.models import QuerySet
from django.http import HttpRequest
from django.urls import reverse
from django.utils.safestring import SafeString

from governance import selectors
from governance.adminbase import bounded_count, ctx_of, list_url, pages, place_of, sight_of
from governance.adminbase.charts import Series, bars
from governance.contracts import Outcome, Panel
from governance.hooks import dashboard_panels
from governance.models import AuditEntry, PolicyVersion
from kernel.actions import Effect, all_actions
from kernel.context import ActorKind, Ctx, Right
from kernel.queue import health

NEWEST = 8
LOOKED_AT = 2000  # entries among which the newest that are no looks of people are sought


def front_page(request: HttpRequest, context: dict[str, Any]) -> dict[str, Any]:
    """Everything within the person's sight, each count of a table looking at a thousand rows at most."""
    ctx = ctx_of(request)
    looks = request.GET.get("looks") == "yes"
    cards = [
        {"label": page.front, "count": bounded_count(page.get_queryset(request)), "link": list_url(page.opts)}
        for page in pages(request)
        if getattr(page, "front", "")
    ]
    waiting = selectors.waiting_work(ctx)
    return {
        **context,
        "title": "Overview",
        "cards": cards,
        "reach": ctx.reach,
        "waiting": waiting,
        "waits": any(row.all for row in waiting),
        "own": selectors.own_day(ctx),
        "panels": panels(ctx),
        "jobs": health(ctx.now),
        "chart": decisions_chart(ctx),
        "newest": [{"row": row, "where": place_of(row.domain_id, row.scope)} for row in newest(ctx, looks=looks)],
        "looks": looks,
        "looked_at": LOOKED_AT,
        "queue": reverse("admin:governance_queue"),
        "statistics": reverse("admin:governance_statistics"),
        "policies": list_url(PolicyVersion._meta),
        "audit_list": list_url(AuditEntry._meta),
        "nothing_yet": all(card["count"] == "0" for card in cards),
        "sight": sight_of(ctx, Right.READ),
    }


def newest(ctx: Ctx, *, looks: bool) -> QuerySet[AuditEntry]:
    """What happened last: also that people looked at something where `looks`, else what they and agents did, and which
    looks were refused, among the newest entries."""
    rows = selectors.visible_audit(ctx).filter(selectors.may_be_told(ctx)).order_by("-at", "-id")
    if not looks:
        looking = [action.name for action in all_actions() if action.effect == Effect.READ]
        rows = AuditEntry.objects.filter(pk__in=rows.values("pk")[:LOOKED_AT]).exclude(
            actor_kind=ActorKind.PERSON, action__in=looking, outcome=Outcome.ALLOWED
        )
    return rows.defer("facts", "changes").order_by("-at", "-id")[:NEWEST]


def panels(ctx: Ctx) -> list[Panel]:
    """What apps add."""
    made = [make(ctx) for make in dashboard_panels()]
    return [panel for panel in made if panel is not None]


def decisions_chart(ctx: Ctx) -> SafeString:
    """The decisions of the last thirty days, day by day."""
    days = selectors.decided_by_day(ctx)
    return bars(
        "Decisions a day",
        [f"{day.day:%d %b}" for day in days],
        [
            Series("approved", [day.approved for day in days], "good"),
            Series("rejected", [day.rejected for day in days], "bad"),
            Series("sent back", [day.sent_back for day in days], "warn"),
            Series("undone later", [day.undone for day in days], "plain"),
        ],
        "Nothing was decided in the last 30 days in the scopes that you review.",
    )
