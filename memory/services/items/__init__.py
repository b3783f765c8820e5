"""Writing memory items inside one scope: versions, conflicts, retraction, and the index text that follows from them.

The one way in: every path that learns something calls `write`.
"""

from __future__ import annotations

from memory.services.items.settling import chunk_of, entry_of, settle, state_of
from memory.services.items.under_way import Commit, Pending, Written, event_of
from memory.services.items.writing import after_all, is_governed, view_written, write

__all__ = [
    "Commit",
    "Pending",
    "Written",
    "after_all",
    "chunk_of",
    "entry_of",
    "event_of",
    "is_governed",
    "settle",
    "state_of",
    "view_written",
    "write",
]
