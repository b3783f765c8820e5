"""Memory's actions; importing this package registers them."""

from __future__ import annotations

from memory.actions import (
    compose,
    conflicts,
    diagnostics,
    erasing,
    extraction,
    indexing,
    items,
    lifecycle,
    promotion,
    search,
    shadows,
    turns,
    writing,
)

__all__ = [
    "compose",
    "conflicts",
    "diagnostics",
    "erasing",
    "extraction",
    "indexing",
    "items",
    "lifecycle",
    "promotion",
    "search",
    "shadows",
    "turns",
    "writing",
]
