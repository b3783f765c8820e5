"""Which document store a call asks: the one that the operator named, else our own."""

from __future__ import annotations

from typing import Literal

from kernel.conf import conf
from kernel.context import Ctx
from media.contracts.retrieval import RetrievalPlan
from memory.compose.policy import RetrievalPolicy
from memory.resources.client import GuardedClient, NullClient, ResourceClient
from memory.resources.direct import DirectClient
from memory.resources.http import HttpClient, HttpStore


def client_for(plan: RetrievalPlan, policy: RetrievalPolicy, own: DirectClient | None = None) -> ResourceClient:
    """The client for a plan; it never raises, and without a reason to ask it does not go out. `own` asks our own
    documents, where no other store is named and there are any."""
    if not plan.resource_retrieval.enabled:
        return GuardedClient(NullClient())
    store = _named(policy.scope_filter)
    if store is not None:
        return GuardedClient(store)
    return GuardedClient(own if own is not None and own.has_documents() else NullClient())


def store_for(ctx: Ctx, domain_id: str) -> HttpClient | DirectClient:
    """The client to hand imports to: the store that the operator named, which has domains of its own, else our own."""
    return _named("closed") or DirectClient(None, ctx, domain_id)


def _named(scope_filter: Literal["closed", "warn"]) -> HttpClient | None:
    settings = conf()
    if not settings.resource_url:
        return None
    store = HttpStore(settings.resource_url, settings.resource_api_key, settings.resource_timeout)
    return HttpClient(store, scope_filter)
