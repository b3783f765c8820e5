"""Keeping what a compose showed, and to whom; forgetting it when policy says so."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from datetime import timedelta
from typing import Any
from uuid import UUID

from django.db.models import QuerySet

from governance.policies import in_force
from kernel import clock
from kernel.actions import Change
from kernel.compiled import Given, compiled, tuple_of
from kernel.context import Ctx
from kernel.rows import insert
from memory.contracts.compose import ComposeContextInput, ComposeContextResult
from memory.models import ContextRecord, ContextShown
from memory.policies import RetentionPolicy
from memory.selectors import text_hash

PRUNE_BATCH = 200


def record_context(
    given: ComposeContextInput, shown: ComposeContextResult, session_id: UUID | None, ctx: Ctx
) -> list[Change]:
    """Store the package as the agent gets it, and the texts in it by which they are recognised if they come back."""
    sources = Counter(item.source for item in shown.evidence)
    budget = shown.constraints.token_budget
    record = ContextRecord(
        id=shown.context_id,
        domain_id=given.domain_id,
        session_id=session_id,
        actor_id=ctx.actor.id,
        actor_name=ctx.actor.name,
        request_id=ctx.request_id,
        package=shown.model_dump(mode="json", exclude={"messages"}),
        plan_id=shown.debug.trace.plan_id,
        ignored_fields=shown.debug.ignored,
        recalls=dict(Counter(item.scope.type for item in shown.evidence if item.scope)),
        scope_filter_failed=bool(shown.debug.scope_filter_warnings),
        tokens_used=budget.used_estimate,
        token_limit=budget.limit,
        memories=sources["memory"],
        resources=sources["resource"],
        shadowed=len(shown.debug.shadowed),
        took_ms=round((clock.now() - ctx.now).total_seconds() * 1000, 3),
        created_at=ctx.now,
    )
    insert([record])
    insert(
        [
            ContextShown(
                domain_id=given.domain_id,
                record_id=record.id,
                actor_id=ctx.actor.id,
                object_id=object_id,
                text_hash=text_hash(text),
            )
            for object_id, text in _texts(shown)
        ]
    )
    _prune(given.domain_id, ctx)
    return [Change("context_records", str(record.id), None, {"evidence": len(shown.evidence)})]


def _texts(shown: ComposeContextResult) -> Iterator[tuple[UUID | None, str]]:
    """What was shown of memory, as a whole and by its lines: a text may come back in pieces."""
    found = [(block.source.memory_item_id, block.text) for block in shown.system_blocks]
    found += [
        (item.ref.memory_item_id, item.snippet)
        for item in shown.evidence
        if item.source == "memory" and item.kind != "message"  # the user may say again what was said before
    ]
    yield from found
    for object_id, text in found:
        lines = text.splitlines()
        yield from ((object_id, line) for line in lines if line.strip() and len(lines) > 1)
    yield from ((None, line[2:]) for line in shown.working_summary.splitlines() if line.startswith("- "))


@compiled(tuple_of)
def _old(domain: Given, before: Given) -> QuerySet[ContextRecord, Any]:
    rows = ContextRecord.objects.filter(domain_id=domain, created_at__lt=before).order_by("created_at", "id")
    return rows.values_list("pk")[:PRUNE_BATCH]


def _prune(domain_id: str, ctx: Ctx) -> None:
    """Forget a batch of contexts older than the domain's policy keeps them."""
    days = in_force(domain_id, ctx).section(RetentionPolicy).context_days
    batch = [pk for (pk,) in _old(domain=domain_id, before=ctx.now - timedelta(days=days))]
    if batch:
        ContextShown.objects.filter(record__in=batch).delete()
        ContextRecord.objects.filter(pk__in=batch).delete()
