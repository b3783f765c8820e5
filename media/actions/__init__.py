"""What anyone can do with documents, stored bytes and jobs; importing this registers it."""

from __future__ import annotations

from media.actions import jobs, objects, retrieving, upkeep

__all__ = ["jobs", "objects", "retrieving", "upkeep"]
