"""Days of the source, and ids that stand in the order of time as those of new rows do."""

from __future__ import annotations

from datetime import date, datetime
from uuid import UUID, uuid5

from legacy.contracts.rows import NAMESPACE, SourceRow, as_uuid, parse_moment

_MOST = 2**48 - 1


def dated_id(row: SourceRow, at: datetime | None) -> UUID:
    """The id of a row here where lists go by it: its own where that is a UUID, else one of version 7 whose time is `at`
    and whose rest is made from table and id, so that it is the same each time."""
    own = as_uuid(row.id)
    if own is not None:
        return own
    when = min(max(0, int(at.timestamp() * 1000)), _MOST) if at else 0
    rest = uuid5(NAMESPACE, f"{row.table}:{row.key}").int
    return UUID(int=when << 80 | 7 << 76 | (rest >> 64 & 0xFFF) << 64 | 2 << 62 | rest & (2**62 - 1))


def day(row: SourceRow, name: str) -> date | None:
    """A day; None for NULL or a missing column. Of a moment, its day in UTC."""
    text = row.columns.get(name)
    if text is None:
        return None
    try:
        return date.fromisoformat(text)
    except ValueError:
        return parse_moment(text, name).date()
