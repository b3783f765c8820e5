"""Asking and filling our own documents, in this process, as the caller itself would."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from governance import gate
from kernel.context import Ctx
from media.contracts.retrieval import EvidencePack, RetrievalPlan
from media.selectors.retrieving import Reading, has_documents, reading_all, reading_in
from media.selectors.sight import domain_of
from media.services.retrieving import retrieve
from memory.resources.client import Imported, Imports
from memory.resources.sources import Source, inlined
from scopes.selectors import Resolved


class DirectClient(Imports):
    """Our own documents. What it is refused it raises, so that a conflict reaches whoever imports."""

    def __init__(self, place: Resolved | None, ctx: Ctx, domain_id: str | None = None) -> None:
        """`place` are scopes that the caller was found to be allowed to read; without it, all that it may see.
        `domain_id` is where imports go that name no domain."""
        self._place = place
        self._ctx = ctx
        self._domain_id = domain_id

    def has_documents(self) -> bool:
        """Whether there is anything to read."""
        return has_documents(self._reading(None), self._ctx)

    def retrieve(self, plan: RetrievalPlan) -> EvidencePack:
        """Evidence for the plan, from what the caller may see."""
        return retrieve(plan, self._reading(plan.debug.caller.domain_id), self._ctx)

    def add(self, operation: str, source: Source, options: Mapping[str, Any], /, **beside: Any) -> Imported:
        """Carry out the import as an action. Raises DomainError."""
        given, told = inlined(source, options)
        fields = {"domain_id": self._domain_id, "source": given, "options": told, **beside}
        return gate.call(operation, fields, ctx=self._ctx).body()

    def _reading(self, domain_id: str | None) -> Reading:
        if self._place is not None:
            return reading_in(self._place, self._ctx)
        return reading_all(domain_of(domain_id, self._ctx), self._ctx)
