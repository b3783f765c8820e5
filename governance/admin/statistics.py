"""How reviewing goes: the signed-in reviewer's own figures, and those of others where they may be seen."""

from __future__ import annotations

from typing import Any

from django.http import HttpRequest

from governance.adminbase import Screen, read
from governance.adminbase.charts import Series, bars

SPANS = (7, 30, 90)


class StatisticsScreen(Screen):
    """Decisions a day, approve rates, time to decision, approvals taken back: mine, by reviewer, by agent."""

    name = "governance_statistics"
    route = "statistics/"
    title = "Statistics"
    template = "smartbrain/statistics.html"
    group, place, icon = "Review", 2, "monitoring"

    def show(self, request: HttpRequest, **names: Any) -> dict[str, Any]:
        """The figures of the last days."""
        asked = request.GET.get("days", "30")
        days = int(asked) if asked in map(str, SPANS) else 30
        stats = read("review_stats", request, days=days)
        chart = bars(
            "Decisions a day, by everyone on what you review",
            [f"{day.day:%d %b}" for day in stats.days],
            [
                Series("approved", [day.approved for day in stats.days], "good"),
                Series("rejected", [day.rejected for day in stats.days], "bad"),
                Series("sent back", [day.changes_requested for day in stats.days], "warn"),
                Series("undone later", [day.undone for day in stats.days], "plain"),
            ],
            f"Nothing was decided in the last {days} days in the scopes that you review.",
        )
        tables = [("Mine", [stats.mine]), ("By reviewer", stats.reviewers), ("By agent", stats.agents)]
        agreement = stats.agreed / stats.looked_at_twice if stats.looked_at_twice else None
        return {"agreement": agreement, "stats": stats, "chart": chart, "tables": tables, "spans": SPANS, "days": days}
