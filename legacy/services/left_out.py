"""Tables of the source of which no row is taken along: those that are derived or local, and those that nobody here knows."""

from __future__ import annotations

from legacy.source import Source
from legacy.steps import LEFT_OUT, STEPS

UNKNOWN = "unknown table"
CLOSED = "unknown table that may not be read"


def left_out(source: Source) -> list[tuple[str, str, int]]:
    """Of each such table with rows its name, why it is left out, and how many rows it has. A table that nobody here knows is
    named too where the account may not read it, with no rows, for they cannot be counted."""
    known = {table for step in STEPS for table in step.tables} | LEFT_OUT.keys()
    unknown = source.unknown_tables(known)
    closed = set(source.unreadable(unknown))
    reasons = {**LEFT_OUT, **{table: CLOSED if table in closed else UNKNOWN for table in unknown}}
    counted = [(table, why, 0 if table in closed else source.count(table)) for table, why in reasons.items()]
    return [(table, why, many) for table, why, many in counted if many or table in closed]
