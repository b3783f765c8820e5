"""Which decisions were taken back later: they are kept, and count as what they said no longer."""

from __future__ import annotations

from typing import Any

from django.db.models import Case, OuterRef, Q, QuerySet, Subquery, Value, When
from django.db.models.functions import Coalesce

from governance.contracts import Verdict
from governance.models import Decision

TAKEN_BACK = (Verdict.REOPENED, Verdict.REVERTED)


def with_undone(rows: QuerySet[Decision]) -> QuerySet[Any]:
    """Decisions with `undone`: whether the next one at the same revision of the proposal took them back. All approvals
    that stood together go together; taking back is itself never undone."""
    later = Q(created_at__gt=OuterRef("created_at")) | Q(created_at=OuterRef("created_at"), id__gt=OuterRef("id"))
    same = Decision.objects.filter(later, proposal=OuterRef("proposal"), revision=OuterRef("revision"))
    following = same.exclude(verdict=Verdict.APPROVED).order_by("created_at", "id").values("verdict")[:1]
    given = ~Q(verdict__in=TAKEN_BACK)
    return rows.annotate(_after=Coalesce(Subquery(following), Value(""))).annotate(
        undone=Case(When(given & Q(_after__in=TAKEN_BACK), then=Value(True)), default=Value(False))
    )
