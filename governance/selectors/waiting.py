"""What calls that wait for a person still need."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from typing import Any

from governance.contracts import ProposalState
from governance.models import Proposal

_WAITING = (ProposalState.OPEN, ProposalState.CHANGES_REQUESTED)


def inputs_waiting(actions: Collection[str]) -> Iterator[dict[str, Any]]:
    """The inputs of all calls of these actions that wait; for upkeep: not limited to what anyone may see."""
    rows = Proposal.objects.filter(state__in=_WAITING, action__in=actions)
    yield from rows.values_list("input", flat=True).iterator(chunk_size=200)
