"""Writing the index. Owners call this in the transaction that writes the text."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import datetime
from uuid import UUID

from kernel import tokens
from search.contracts import Kind, NewEntry, State
from search.models import IndexEntry, Posting
from search.terms import term_key

_BATCH = 500
_MAX_COUNT = 32_767


def add(entries: Iterable[NewEntry]) -> int:
    """Index texts; gives the number of entries written. An object can be indexed once a scope."""
    wanted = list(entries)
    counted = [tokens.terms(f"{entry.author} {entry.text}") for entry in wanted]
    rows = IndexEntry.objects.bulk_create(
        [_row(entry, sum(found.values())) for entry, found in zip(wanted, counted, strict=True)], batch_size=_BATCH
    )
    postings = [
        Posting(term=term_key(row.scope_id, term), entry=row, count=min(count, _MAX_COUNT))
        for row, found in zip(rows, counted, strict=True)
        for term, count in found.items()
    ]
    Posting.objects.bulk_create(postings, batch_size=_BATCH)
    return len(rows)


def set_state(kind: Kind, object_ids: Sequence[UUID], state: State) -> int:
    """Move objects in or out of ordinary searches; gives the number of entries changed."""
    return IndexEntry.objects.filter(kind=kind, object_id__in=object_ids).update(state=state)


def close(kind: Kind, object_ids: Sequence[UUID], at: datetime) -> int:
    """Move objects into history as of an instant; gives the number of entries changed. Closing twice keeps the first."""
    rows = IndexEntry.objects.filter(kind=kind, object_id__in=object_ids)
    rows.filter(current_until=None).update(current_until=at)
    return rows.update(state=State.HISTORY)


def remove(kind: Kind, object_ids: Sequence[UUID]) -> int:
    """Forget objects; gives the number of entries removed."""
    rows = IndexEntry.objects.filter(kind=kind, object_id__in=object_ids)
    Posting.objects.filter(entry__in=rows.values("pk")).delete()
    return rows.delete()[0]


def _row(entry: NewEntry, length: int) -> IndexEntry:
    return IndexEntry(
        kind=entry.kind,
        object_id=entry.object_id,
        domain_id=entry.domain_id,
        scope_id=entry.scope_key,
        session_key=entry.session_key,
        sequence=entry.sequence,
        author=entry.author[:200],
        label=entry.label,
        valid_from=entry.valid_from,
        valid_to=entry.valid_to,
        event_time=entry.event_time,
        recorded_at=entry.recorded_at,
        state=entry.state,
        tokeniser=tokens.VERSION,
        length=length,
    )
