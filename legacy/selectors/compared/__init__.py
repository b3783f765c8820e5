"""Which values of a row must be the same on both sides, written without a look at how rows are moved."""

from __future__ import annotations

from legacy.selectors.compared.brain import BRAIN
from legacy.selectors.compared.library import LIBRARY
from legacy.selectors.compared.shapes import OWNER, Comparison, Held, held, mark

COMPARISONS: dict[str, Comparison] = {**BRAIN, **LIBRARY}

__all__ = ["COMPARISONS", "OWNER", "Comparison", "Held", "held", "mark"]
