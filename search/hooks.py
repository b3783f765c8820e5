"""Where the owners of texts tell the index how to read what it found, and how a reference to one is checked."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from uuid import UUID

from kernel.context import Ctx
from search.contracts import Hydrated, Kind, Query

Hydrator = Callable[[Sequence[UUID], str, Sequence[int], str], Mapping[UUID, Hydrated]]

EvidenceResolver = Callable[[Sequence[str], str, Ctx], Mapping[str, str]]

_hydrators: dict[Kind, Hydrator] = {}
_resolvers: dict[str, EvidenceResolver] = {}


def register_hydrator(kind: Kind, hydrator: Hydrator) -> None:
    """Say how objects of a kind are read: from ids, a domain, scope keys and the id of who reads
    to those that may be shown there.

    The hydrator checks domain and scopes itself, so that a wrong index entry leaks nothing.
    """
    if kind in _hydrators:
        raise ValueError(f"a hydrator for {kind!r} is already registered")
    _hydrators[kind] = hydrator


def hydrate(kind: Kind, ids: Sequence[UUID], query: Query) -> Mapping[UUID, Hydrated]:
    """The objects of one kind that may be shown; nothing for a kind that nobody owns."""
    hydrator = _hydrators.get(kind)
    return hydrator(ids, query.domain_id, query.scope_keys, query.reader) if hydrator else {}


def register_evidence_resolver(kind: str, resolver: EvidenceResolver) -> None:
    """Say how references to evidence of a kind are checked: from ids as callers write them and a domain to the stored
    ids of those that exist there and that the caller may see. It reads with one statement, however many ids there are.
    """
    if kind in _resolvers:
        raise ValueError(f"a resolver for {kind!r} is already registered")
    _resolvers[kind] = resolver


def resolve_evidence(kind: str, ids: Sequence[str], domain_id: str, ctx: Ctx) -> Mapping[str, str] | None:
    """The stored ids of those references that the caller may see; None for a kind of which no store is installed."""
    resolver = _resolvers.get(kind)
    return resolver(ids, domain_id, ctx) if resolver else None
