"""Memory's actions; importing this package registers them."""

from __future__ import annotations

from memory.actions import items, search, turns

__all__ = ["items", "search", "turns"]
