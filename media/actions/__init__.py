"""What anyone can do with documents, stored bytes and jobs; importing this registers it."""

from __future__ import annotations

from media.actions import documents, importing, jobs, objects, retrieving, upkeep

__all__ = ["documents", "importing", "jobs", "objects", "retrieving", "upkeep"]
