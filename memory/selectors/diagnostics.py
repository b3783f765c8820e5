"""Reading how memory is doing in one domain (behavioural specification 1.7)."""

from __future__ import annotations

import math
from collections import Counter
from typing import Any

from django.db.models import Count, Q, QuerySet

from governance.selectors import count_refused
from governance.selectors.health import parts_of
from kernel.context import Ctx
from memory.contracts.diagnostics import CommitLog, ComposeLog, Counters, DiagnosticsResult, Metrics
from memory.contracts.items import Status
from memory.models import ContextRecord, MemoryItem, Summary, Turn
from memory.selectors.events import visible_sessions, visible_turns
from search.selectors.upkeep import count_entries

WINDOW = 1_000


def diagnostics(domain_id: str, limit: int, ctx: Ctx) -> DiagnosticsResult:
    """Logs, figures and counts of one domain. Conversations that the actor may not read, such as those of another
    principal in the legacy domain, are in the figures and not in the logs."""
    records = ContextRecord.objects.filter(domain_id=domain_id).select_related("session").order_by("-id")
    newest = list(records.defer("package")[:WINDOW])
    entries, stale = count_entries(domain_id)
    return DiagnosticsResult(
        domain_id=domain_id,
        compose_logs=_compose_logs(newest, limit, ctx),
        commit_logs=_commit_logs(domain_id, limit, ctx),
        metrics=_metrics(newest),
        counters=_counters(domain_id, newest),
        turns=Turn.objects.filter(domain_id=domain_id).count(),
        index_entries=entries,
        stale_index_entries=stale,
        parts=parts_of(domain_id, ctx.now),
    )


def percentile_95(values: list[float]) -> float:
    """The value at place ceil(0.95 n) - 1 of the sorted values; 0 where there is none."""
    return sorted(values)[math.ceil(len(values) * 0.95) - 1] if values else 0.0


def _compose_logs(newest: list[ContextRecord], limit: int, ctx: Ctx) -> list[ComposeLog]:
    sessions = {row.session_id for row in newest if row.session_id}
    seen = set(visible_sessions(ctx).filter(pk__in=sessions).values_list("pk", flat=True))
    return [_compose_log(row) for row in newest if row.session_id is None or row.session_id in seen][:limit]


def _compose_log(row: ContextRecord) -> ComposeLog:
    return ComposeLog(
        context_id=row.id,
        session_id=row.session.external_id if row.session else None,
        request_id=row.request_id,
        plan_id=row.plan_id,
        selected_evidence=row.memories + row.resources,
        ignored_fields=row.ignored_fields,
        token_used=row.tokens_used,
        token_limit=row.token_limit,
        took_ms=row.took_ms,
        at=row.created_at,
    )


def _commit_logs(domain_id: str, limit: int, ctx: Ctx) -> list[CommitLog]:
    turns = list(visible_turns(ctx).filter(domain_id=domain_id).select_related("session").order_by("-id")[:limit])
    ids = [turn.pk for turn in turns]
    stored = _counted(MemoryItem.objects.filter(source_turn__in=ids), "source_turn")
    replaced = _counted(MemoryItem.objects.filter(successor__source_turn__in=ids), "successor__source_turn")
    summed = set(
        Summary.objects.filter(session__in=[turn.session_id for turn in turns]).values_list("session_id", "source_to")
    )
    return [
        CommitLog(
            commit_id=turn.id,
            session_id=turn.session.external_id,
            turn_id=turn.id,
            memory_items=stored.get(turn.pk, 0),
            conflicts=replaced.get(turn.pk, 0),
            summary_triggered=(turn.session_id, turn.seq) in summed,
            at=turn.created_at,
        )
        for turn in turns
    ]


def _metrics(newest: list[ContextRecord]) -> Metrics:
    over = sum(1 for row in newest if row.tokens_used > row.token_limit)
    memories, resources = sum(row.memories for row in newest), sum(row.resources for row in newest)
    return Metrics(
        compose_p95_ms=percentile_95([row.took_ms for row in newest]),
        memory_resource_ratio=f"{memories}/{resources}",
        token_over_budget_rate=round(over / len(newest), 3) if newest else 0.0,
    )


def _counters(domain_id: str, newest: list[ContextRecord]) -> Counters:
    items = MemoryItem.objects.filter(domain_id=domain_id)
    recalls: Counter[str] = Counter()
    for row in newest:
        recalls.update(row.recalls)
    return Counters(
        writes_by_scope_type=_counted(items, "scope__scope_type"),
        recalls_by_scope_type=dict(sorted(recalls.items())),
        shadowed=sum(row.shadowed for row in newest),
        conflicts=items.filter(Q(status=Status.RETRACTED) | Q(successor__isnull=False)).count(),
        promotions=items.filter(source_item__isnull=False).count(),
        validation_failures=count_refused(domain_id),
        scope_filter_failures=sum(1 for row in newest if row.scope_filter_failed),
    )


def _counted(rows: QuerySet[MemoryItem], column: str) -> dict[Any, int]:
    return dict(sorted(rows.order_by().values_list(column).annotate(n=Count("pk"))))
