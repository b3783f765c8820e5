"""Keeping what a compose showed, and to whom; forgetting it when policy says so."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from datetime import timedelta
from uuid import UUID

from governance.policies import in_force
from kernel import clock
from kernel.actions import Change
from kernel.context import Ctx
from memory.contracts.compose import ComposeContextInput, ComposeContextResult
from memory.models import ContextRecord, ContextShown, Session
from memory.policies import RetentionPolicy
from memory.selectors import text_hash

PRUNE_BATCH = 200


def record_context(
    given: ComposeContextInput, shown: ComposeContextResult, session: Session | None, ctx: Ctx
) -> list[Change]:
    """Store the package as the agent gets it, and the texts in it by which they are recognised if they come back."""
    sources = Counter(item.source for item in shown.evidence)
    budget = shown.constraints.token_budget
    record = ContextRecord.objects.create(
        id=shown.context_id,
        domain_id=given.domain_id,
        session=session,
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
    ContextShown.objects.bulk_create(
        [
            ContextShown(
                domain_id=given.domain_id,
                record=record,
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


def _prune(domain_id: str, ctx: Ctx) -> None:
    """Forget a batch of contexts older than the domain's policy keeps them."""
    days = in_force(domain_id, ctx).section(RetentionPolicy).context_days
    old = ContextRecord.objects.filter(domain_id=domain_id, created_at__lt=ctx.now - timedelta(days=days))
    batch = list(old.order_by("created_at", "id").values_list("pk", flat=True)[:PRUNE_BATCH])
    if batch:
        ContextShown.objects.filter(record__in=batch).delete()
        ContextRecord.objects.filter(pk__in=batch).delete()
