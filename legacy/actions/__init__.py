"""What anyone can do with what was moved in; importing this registers it."""

from __future__ import annotations

from legacy.actions import erasing, exporting, reading

__all__ = ["erasing", "exporting", "reading"]
