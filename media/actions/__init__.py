"""What anyone can do with documents; importing this registers it."""

from __future__ import annotations

from media.actions import objects, retrieving

__all__ = ["objects", "retrieving"]
