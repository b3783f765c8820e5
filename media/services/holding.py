"""Legal holds on documents: who changes or takes away what is held is refused."""

from __future__ import annotations

from collections.abc import Mapping
from uuid import UUID

from governance.selectors.erasing import by_law, require_free
from scopes.services import lock_domain


def require_unheld(lying: Mapping[str, Mapping[UUID, tuple[str, ...]]], domain_id: str) -> None:
    """Raise ConflictError where a legal hold is on any of these, by kind and id with the scopes in which each lies.

    The domain is locked first: a hold that is placed at this moment is in force, or finds what was done. Whoever calls
    it locks no scope afterwards.
    """
    lock_domain(domain_id)
    require_free(by_law(lying, domain_id))
