"""The action that asks for a media job."""

from __future__ import annotations

from governance.gate import foresee
from governance.policies import ScopesPolicy, Verdict, in_force
from kernel.actions import Action, Applied, Target, register
from kernel.context import ActorKind, Ctx, Right
from kernel.errors import ForbiddenError
from media.contracts.jobs import EnqueueMediaInput, EnqueueMediaResult
from media.contracts.kinds import JobStatus
from media.selectors.jobs import domain_of, may_import
from media.services import jobs
from media.services.operations import action_of, input_of, tree_of
from scopes.selectors import check_ref, require_domain


def _enqueue_target(given: EnqueueMediaInput, ctx: Ctx) -> Target:
    domain_id = domain_of(given.domain_id, ctx)
    require_domain(domain_id, ctx)
    return Target(domain_id, tuple(ref.name for ref in given.scopes))


def _prepare_enqueue(given: EnqueueMediaInput, ctx: Ctx) -> jobs.Wanted:
    domain_id = domain_of(given.domain_id, ctx)
    allowed = in_force(domain_id, ctx).section(ScopesPolicy).allowed_types
    for ref in given.scopes:
        check_ref(ref, domain_id, allowed)
    scopes = tuple(ref.name for ref in given.scopes)
    if not may_import(ctx, domain_id, scopes):
        raise ForbiddenError("An import needs the right to write, on each scope that it is shared to.")
    action = action_of(given.operation)
    parsed = input_of(given.operation, tree_of(domain_id, given.source, given.options, scopes))
    if ctx.actor.kind is ActorKind.AGENT and ctx.approval is None:
        _, decision, _ = foresee(action, action.target(parsed, ctx), ctx)
        if decision.verdict is Verdict.QUEUE:
            raise ForbiddenError(f"Here {given.operation} waits for a person: call it without `async`.")
    return jobs.Wanted(domain_id, given.operation.value, given.source, given.options, scopes)


def _enqueue(given: EnqueueMediaInput, wanted: jobs.Wanted, ctx: Ctx) -> Applied[EnqueueMediaResult]:
    row, changes = jobs.submit(wanted, (given.idempotency_key or "").strip(), ctx)
    result = EnqueueMediaResult(
        job_id=row.pk, status=JobStatus(row.status), media_type=None, warnings=[], deduplicated=not changes
    )
    return result, changes


ENQUEUE_MEDIA = register(
    Action(
        "enqueue_media",
        "Import a document or media file later: a worker does it, and the job says how it went.",
        EnqueueMediaInput,
        EnqueueMediaResult,
        Right.READ,
        _enqueue_target,
        _prepare_enqueue,
        _enqueue,
        instead="Cancel the job while it waits; afterwards remove the document.",
    )
)
