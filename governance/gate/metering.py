"""Counting what is asked for towards the quotas: calls before anything is decided, bytes before they are kept."""

from __future__ import annotations

from governance import services
from governance.gate.opening import writing
from governance.policies import Policies, QuotasPolicy, in_force
from kernel.context import Ctx


def charge(policies: Policies, domain_id: str | None, effect: str, ctx: Ctx) -> None:
    """Count the call where the policy limits calls, in a transaction of its own, so that a refused call counts too.

    Raises QuotaExceededError over a limit, UnavailableError where nothing can be counted.
    """
    quotas = policies.section(QuotasPolicy)
    if not ctx.counted and quotas.limits_calls(ctx.actor.kind, ctx.actor.name):
        with writing():
            services.charge_call(quotas, domain_id, effect, ctx)


def charge_upload(domain_id: str, size: int, ctx: Ctx) -> None:
    """Count bytes that a call brought into a domain, before they are kept, in a transaction of its own: they were brought
    whatever becomes of the call. What a person approved was counted when it was asked for.

    Raises QuotaExceededError over the limit, UnavailableError where nothing can be counted.
    """
    quotas = in_force(domain_id, ctx).section(QuotasPolicy)
    if ctx.approval is None and quotas.limits_uploads(ctx.actor.kind, ctx.actor.name):
        with writing():
            services.charge_upload(quotas, domain_id, size, ctx)
