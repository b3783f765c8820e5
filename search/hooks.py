"""Where the owners of texts tell the index how to read what it found."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from uuid import UUID

from search.contracts import Hydrated, Kind

Hydrator = Callable[[Sequence[UUID], str, Sequence[int]], Mapping[UUID, Hydrated]]

_hydrators: dict[Kind, Hydrator] = {}


def register_hydrator(kind: Kind, hydrator: Hydrator) -> None:
    """Say how objects of a kind are read: from ids, a domain and scope keys to those that may be shown there.

    The hydrator checks domain and scopes itself, so that a wrong index entry leaks nothing.
    """
    if kind in _hydrators:
        raise ValueError(f"a hydrator for {kind!r} is already registered")
    _hydrators[kind] = hydrator


def hydrate(kind: Kind, ids: Sequence[UUID], domain_id: str, scope_keys: Sequence[int]) -> Mapping[UUID, Hydrated]:
    """The objects of one kind that may be shown; nothing for a kind that nobody owns."""
    hydrator = _hydrators.get(kind)
    return hydrator(ids, domain_id, scope_keys) if hydrator else {}
