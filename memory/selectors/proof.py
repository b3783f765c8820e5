"""Telling whether evidence proves anything: what was taken back or replaced does not, and nothing proves itself."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from typing import Protocol
from uuid import UUID

from django.db.models import Q

from kernel.errors import ConflictError, InvalidInputError
from memory.contracts.items import OUT_OF_USE, Status
from memory.contracts.refs import EvidenceRef
from memory.models import MemoryItem

MAX_DEPTH = 50


class Standing(Protocol):
    """How a memory stands: the columns that tell whether it proves anything."""

    @property
    def status(self) -> str: ...
    @property
    def lifecycle_status(self) -> str: ...
    @property
    def current_until(self) -> datetime | None: ...
    @property
    def successor_id(self) -> UUID | None: ...


def fallen(row: Standing) -> str:
    """The state in which a memory is evidence of nothing any more, such as `retracted`; empty while it holds."""
    if row.status != Status.ACTIVE:
        return str(row.status)
    if row.lifecycle_status in OUT_OF_USE:
        return str(row.lifecycle_status)
    return str(Status.SUPERSEDED.value) if row.current_until is not None else ""


def why_no_proof(roles: Mapping[UUID, str], rows: Mapping[UUID, Standing]) -> str:
    """Why the first of some memories confirms nothing any more, by what is known of them; empty where all do. `roles` says
    as what each was named."""
    for item_id in sorted(roles.keys() & rows.keys()):
        row = rows[item_id]
        state = fallen(row)
        if state:
            follows = f"; look at {row.successor_id} instead" if row.successor_id else ""
            return f"{roles[item_id]}_refs: memory {item_id} is {state} and confirms nothing{follows}."
    return ""


def scopes_of_proof(refs: Mapping[str, Sequence[EvidenceRef]]) -> set[int]:
    """The keys of the scopes in which the memories among the evidence lie: while they are held, none of them falls."""
    ids = [UUID(ref.id) for given in refs.values() for ref in given if ref.kind == "memory"]
    return set(MemoryItem.objects.filter(pk__in=ids).values_list("scope_id", flat=True)) if ids else set()


def require_proof(refs: Mapping[str, Sequence[EvidenceRef]], item: MemoryItem) -> None:
    """Check the memories among an item's evidence, by role and as it is stored. Raises ConflictError where one does not
    hold any more, InvalidInputError where one is of the item's own line: an earlier version, its source, a copy."""
    roles = {UUID(ref.id): role for role, given in refs.items() for ref in given if ref.kind == "memory"}
    roles.pop(item.pk, None)
    if not roles:
        return
    why = why_no_proof(roles, {row.pk: row for row in MemoryItem.objects.filter(pk__in=roles)})
    if why:
        raise ConflictError(why)
    for own in sorted(_of_its_line(item.pk, roles)):
        raise InvalidInputError(
            f"{roles[own]}_refs: memory {own} comes from the memory itself or the other way round, and confirms nothing:"
            " name something else."
        )


def _of_its_line(item_id: UUID, others: Iterable[UUID]) -> set[UUID]:
    """Those of the others that share with the item a row that both come from, or that is one of the two."""
    reached = {start: {start} for start in (item_id, *others)}
    frontier = set(reached)
    for _ in range(MAX_DEPTH):
        rows = MemoryItem.objects.filter(Q(pk__in=frontier) | Q(successor__in=frontier))
        steps = [
            step
            for pk, source, successor in rows.values_list("pk", "source_item_id", "successor_id")
            for step in ((pk, source), (successor, pk))
            if step[0] in frontier and step[1] is not None
        ]
        frontier = set()
        for below, above in steps:
            new = reached[below] - reached.get(above, set())
            if new:
                reached.setdefault(above, set()).update(new)
                frontier.add(above)
        if not frontier:
            break
    return {start for starts in reached.values() if item_id in starts for start in starts} - {item_id}
