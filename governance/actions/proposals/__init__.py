"""Actions on proposals; importing this package registers them."""

from __future__ import annotations

from governance.actions.proposals import deciding, desk, own, reading

__all__ = ["deciding", "desk", "own", "reading"]
