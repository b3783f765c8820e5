"""Governance's background jobs: one line each, the work is elsewhere."""

from __future__ import annotations

from governance.audit import chain


def seal_audit() -> int:
    """Seal every audit entry that waits, batch by batch; how many. Ended in the middle, the next run goes on."""
    sealed = 0
    while batch := chain.seal_next():
        sealed += batch
    return sealed
