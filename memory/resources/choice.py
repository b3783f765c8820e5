"""Which document store a call asks: the one that the operator named, or none."""

from __future__ import annotations

from kernel.conf import conf
from media.contracts.retrieval import RetrievalPlan
from memory.compose.policy import RetrievalPolicy
from memory.resources.client import GuardedClient, NullClient, ResourceClient
from memory.resources.http import HttpClient, HttpStore


def client_for(plan: RetrievalPlan, policy: RetrievalPolicy) -> ResourceClient:
    """The client for a plan; it never raises, and without a reason to ask it does not go out."""
    settings = conf()
    if not (settings.resource_url and plan.resource_retrieval.enabled):
        return GuardedClient(NullClient())
    store = HttpStore(settings.resource_url, settings.resource_api_key, settings.resource_timeout)
    return GuardedClient(HttpClient(store, policy.scope_filter))
