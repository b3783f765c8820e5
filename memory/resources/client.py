"""What every client of a document store is, the one that has none, and the guard that keeps its failures in."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from typing import Any, Protocol

from kernel import clock
from kernel.errors import DomainError
from media.contracts.retrieval import EvidencePack, PackExplain, PackStats, RetrievalPlan
from memory.resources.sources import Source

NO_ADAPTER = "no document store is configured: memory only"
FALLBACK = "fallback to memory only"


class ResourceClient(Protocol):
    """Something that answers a plan with evidence from documents."""

    def retrieve(self, plan: RetrievalPlan) -> EvidencePack:
        """Evidence for the plan. What it cannot do it says in `warnings` and `explain.ignored_fields`."""
        ...


Imported = dict[str, Any]
"""What became of an import, with `status` and `warnings`, as `add_document` answers it."""


class Imports(ABC):
    """What every client offers to whoever has something to import; `options` are those of the action of that name."""

    @abstractmethod
    def add(self, operation: str, source: Source, options: Mapping[str, Any], /, **beside: Any) -> Imported:
        """Import a file or an address. `beside` are further fields of the action, such as `scopes`."""

    def add_document(self, source: Source, options: Mapping[str, Any] | None = None) -> Imported:
        """Import a document."""
        return self.add("add_document", source, options or {})

    def add_image(self, source: Source, options: Mapping[str, Any] | None = None) -> Imported:
        """Import a picture."""
        return self.add("add_image", source, options or {})

    def add_audio(self, source: Source, options: Mapping[str, Any] | None = None) -> Imported:
        """Import a recording."""
        return self.add("add_audio", source, options or {})

    def add_video(self, source: Source, options: Mapping[str, Any] | None = None) -> Imported:
        """Import a film."""
        return self.add("add_video", source, options or {})

    def add_media(self, source: Source, options: Mapping[str, Any] | None = None) -> Imported:
        """Import anything; `media_type` in the options may say what it is."""
        return self.add("add_media", source, options or {})


class NullClient(Imports):
    """No document store: no evidence, nothing imported, and a warning that says so."""

    def retrieve(self, plan: RetrievalPlan) -> EvidencePack:
        """An empty pack."""
        return empty_pack(plan, "null", NO_ADAPTER)

    def add(self, operation: str, source: Source, options: Mapping[str, Any], /, **beside: Any) -> Imported:
        """Nothing is imported."""
        return not_imported("unsupported", f"no document store is configured: {operation} ignored")


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


def not_imported(status: str, warning: str) -> Imported:
    """The answer of a store that imported nothing."""
    return {
        "document_id": None,
        "media_type": None,
        "status": status,
        "section_count": 0,
        "metadata": {},
        "warnings": [warning],
    }


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
