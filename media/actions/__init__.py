"""What anyone can do with documents, stored bytes and jobs; importing this registers it."""

from __future__ import annotations

from media.actions import documents, filing, importing, jobs, objects, retrieving, topics, upkeep

__all__ = ["documents", "filing", "importing", "jobs", "objects", "retrieving", "topics", "upkeep"]
