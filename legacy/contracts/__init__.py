"""Plain values of moving in: a row of the source, what became of it, and why."""

from __future__ import annotations

from legacy.contracts.outcomes import Fate, Outcome
from legacy.contracts.reasons import REASONS, Quarantined, Reason
from legacy.contracts.rows import SourceRow

__all__ = ["REASONS", "Fate", "Outcome", "Quarantined", "Reason", "SourceRow"]
