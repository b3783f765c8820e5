"""What every client of a document store is, the one that has none, and the guard that keeps its failures in."""

from __future__ import annotations

from typing import Protocol

from kernel import clock
from kernel.errors import DomainError
from media.contracts.retrieval import EvidencePack, PackExplain, PackStats, RetrievalPlan

NO_ADAPTER = "no document store is configured: memory only"
FALLBACK = "fallback to memory only"


class ResourceClient(Protocol):
    """Something that answers a plan with evidence from documents."""

    def retrieve(self, plan: RetrievalPlan) -> EvidencePack:
        """Evidence for the plan. What it cannot do it says in `warnings` and `explain.ignored_fields`."""
        ...


class NullClient:
    """No document store: no evidence, and a warning that says so."""

    def retrieve(self, plan: RetrievalPlan) -> EvidencePack:
        """An empty pack."""
        return empty_pack(plan, "null", NO_ADAPTER)


class GuardedClient:
    """Asks a client only where the plan wants documents; whatever fails in it, the rest of the context is still made."""

    def __init__(self, client: ResourceClient) -> None:
        self._client = client

    def retrieve(self, plan: RetrievalPlan) -> EvidencePack:
        """Evidence for the plan, or none and the reason."""
        if not plan.resource_retrieval.enabled:
            return empty_pack(plan, "disabled", f"resource retrieval disabled: {plan.resource_retrieval.reason}")
        try:
            return self._client.retrieve(plan)
        except TimeoutError:
            return empty_pack(plan, "timeout", f"resource retrieval timeout: {FALLBACK}")
        except (DomainError, OSError, ValueError) as exc:
            return empty_pack(plan, "error", f"resource retrieval failed ({type(exc).__name__}): {FALLBACK}")


def empty_pack(
    plan: RetrievalPlan, kind: str, warning: str, *, took_ms: float = 0.0, ignored: tuple[str, ...] = ()
) -> EvidencePack:
    """A pack without evidence that says why; `plan_id` is `<kind>-<request>`."""
    return EvidencePack(
        version=plan.version,
        plan_id=f"{kind}-{plan.request_id}",
        request_id=plan.request_id,
        generated_at=clock.now(),
        evidences=[],
        stats=PackStats(took_ms=took_ms),
        explain=PackExplain(ignored_fields=list(ignored)),
        warnings=[warning],
    )
