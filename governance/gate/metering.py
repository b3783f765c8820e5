"""Counting calls towards the quotas before anything is decided."""

from __future__ import annotations

from governance import services
from governance.gate.opening import writing
from governance.policies import Policies, QuotasPolicy
from kernel.context import Ctx


def charge(policies: Policies, domain_id: str | None, effect: str, ctx: Ctx) -> None:
    """Count the call where the policy limits calls, in a transaction of its own, so that a refused call counts too.

    Raises QuotaExceededError over a limit, UnavailableError where nothing can be counted.
    """
    quotas = policies.section(QuotasPolicy)
    if quotas.limits_calls(ctx.actor.kind, ctx.actor.name):
        with writing():
            services.charge_call(quotas, domain_id, effect, ctx)
