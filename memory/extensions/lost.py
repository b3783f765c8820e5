"""Which evidence of calls that wait is gone by now, or out of the sight of who would make them."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any
from uuid import UUID

from governance.hooks import HeldCall
from memory.contracts.refs import EvidenceRef, ref_of
from search.hooks import resolve_evidence

FIELDS = ("verification_refs", "supporting_refs", "teaching_refs", "evidence_refs")
LOOKS = 2  # statements that look for evidence, the most named first: most batches have one proposer and one kind


@dataclass(slots=True)
class _Look:
    """What calls of one maker in one domain name as evidence of one kind."""

    call: HeldCall
    by: dict[str, list[UUID]] = field(default_factory=lambda: defaultdict(list))


def lost_evidence(calls: Mapping[UUID, HeldCall]) -> dict[UUID, str]:
    """Why calls would be refused for their evidence, by the id of their proposal, as their makers would be told: LOOKS
    statements at most, so that of a batch of many makers not everything is found."""
    looks: dict[tuple[str, str | None, str], _Look] = {}
    for proposal, call in calls.items():
        for ref in _refs(call):
            if call.maker is not None and ref.kind != "url":
                key = (call.maker.actor.id, call.domain_id, ref.kind)
                looks.setdefault(key, _Look(call)).by[ref.id].append(proposal)
    told: dict[UUID, str] = {}
    for (_, domain_id, kind), look in sorted(looks.items(), key=lambda pair: -len(pair[1].by))[:LOOKS]:
        maker = look.call.maker
        known = resolve_evidence(kind, list(look.by), domain_id, maker) if maker and domain_id else None
        for name, proposals in look.by.items():
            if known is not None and name not in known:
                said = f"Its proposer sees no {kind} {name[:200]!r} by now, which it names as evidence."
                told |= {proposal: said for proposal in proposals if proposal not in told}
    return told


def _refs(call: HeldCall) -> Iterator[EvidenceRef]:
    """What a call names as evidence, itself or in the item that it would write."""
    item = call.given.get("item")
    for given in (call.given, item if isinstance(item, Mapping) else {}):
        for name in FIELDS:
            yield from refs_in(given, name)


def refs_in(given: Mapping[str, Any], name: str) -> Iterator[EvidenceRef]:
    """The references in a field of a stored input; nothing of one that was erased since."""
    refs = given.get(name)
    for told in refs if isinstance(refs, list) else ():
        ref = ref_of(told)
        if ref is not None:
            yield ref
