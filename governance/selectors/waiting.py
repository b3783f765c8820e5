"""What calls that wait for a person still need."""

from __future__ import annotations

from collections.abc import Collection, Iterator

from django.db.models.fields.json import KT

from governance.models import OPEN_STATES, Proposal


def sources_waiting(actions: Collection[str]) -> Iterator[str]:
    """The `source` of every call of these actions that waits and names one; for upkeep: not limited to what anyone may
    see. Nothing else of their inputs is read, for they may be megabytes long."""
    rows = Proposal.objects.filter(state__in=OPEN_STATES, action__in=actions)
    sources = rows.values_list(KT("input__source"), flat=True).iterator(chunk_size=200)
    yield from (source for source in sources if source)
