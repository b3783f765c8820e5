"""Whether a database holds anything of the older systems, and may be read."""

from __future__ import annotations

from kernel.errors import UnavailableError
from legacy.source import Source
from legacy.steps import STEPS


def require_readable(source: Source) -> None:
    """Raise UnavailableError for a source that holds no table of ours, or one that the account may not read."""
    known = [table for step in STEPS for table in step.tables]
    if not any(source.has(table) for table in known):
        raise UnavailableError(
            f"{source.label} has no table of SmartBrain or SmartRAG on its search path: "
            "another schema is named in the address as ?options=-csearch_path%3Dname."
        )
    closed = source.unreadable(known)
    if closed:
        raise UnavailableError(f"The account may not read {', '.join(closed)}: GRANT SELECT on them, then run again.")
