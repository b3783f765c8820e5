"""The rules of tiered knowledge: which evidence a tier needs, and what a row of it looks like (specification 5.3, 5.5)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from kernel.errors import ConflictError, InvalidInputError
from memory.contracts.items import Lifecycle, Tier
from memory.contracts.refs import EvidenceRef
from memory.models import MemoryItem


@dataclass(frozen=True, slots=True)
class Needed:
    """Distinct references that a tier needs, by role."""

    supporting: int
    verification: int
    teaching: int = 0


NEEDED = {
    Tier.DAO_TIAN: Needed(3, 2, 1),
    Tier.DAO_REN: Needed(2, 1),
    Tier.SHU: Needed(1, 1),
    Tier.QI: Needed(1, 1),
}


def require_evidence(tier: str, item: MemoryItem, refs: Mapping[str, Sequence[EvidenceRef]], against: int) -> None:
    """Raise where an item may not enter a tier: it stands there, its evidence is too thin, or something speaks against
    it. One reference counts in one role only, and the item is no evidence of itself."""
    if item.tier == tier:
        raise ConflictError(f"Memory item {item.id} is of tier {tier} already.")
    if against:
        raise ConflictError(f"{against} counterexamples speak against memory item {item.id}: correct it first.")
    seen: set[tuple[str, str]] = set()
    needed = NEEDED[Tier(tier)]
    for role in ("supporting", "verification", "teaching"):
        given = [ref for ref in refs.get(role, ()) if (ref.kind, ref.id) != ("memory", str(item.id))]
        twice = next((ref for ref in given if ref.identity in seen), None)
        if twice is not None:
            raise InvalidInputError(f"{role}_refs: {twice.kind} {twice.id!r} is given in another role already.")
        seen.update(ref.identity for ref in given)
        wanted = getattr(needed, role)
        if len(given) < wanted:
            raise InvalidInputError(f"{role}_refs: {tier} needs {wanted} distinct references, {len(given)} given.")


def tier_columns(tier: str, field: str) -> dict[str, Any]:
    """What is particular to a row of a tier: universal law is canonical and pinned, the rest is promoted."""
    universal = tier == Tier.DAO_TIAN
    return {
        "tier": tier,
        "field": field,
        "memory_kind": "knowledge",
        "pinned": universal,
        "lifecycle_status": Lifecycle.CANONICAL if universal else Lifecycle.PROMOTED,
    }
