"""Writing conflicts: what is found at write time, what becomes of it, and what people decide."""

from __future__ import annotations

from memory.services.conflicts.finding import find_conflicts, remember_again, rule_between
from memory.services.conflicts.following import follow, follow_out
from memory.services.conflicts.keeping import TOGETHER, Found
from memory.services.conflicts.relating import find_edge_conflicts

__all__ = [
    "TOGETHER",
    "Found",
    "find_conflicts",
    "find_edge_conflicts",
    "follow",
    "follow_out",
    "remember_again",
    "rule_between",
]
