"""What anyone can do with documents, stored bytes and jobs; importing this registers it."""

from __future__ import annotations

from media.actions import (
    documents,
    erasing,
    files,
    filing,
    importing,
    jobs,
    objects,
    retrieving,
    running,
    submitting,
    topics,
    upkeep,
    uploads,
)

__all__ = [
    "documents",
    "erasing",
    "files",
    "filing",
    "importing",
    "jobs",
    "objects",
    "retrieving",
    "running",
    "submitting",
    "topics",
    "upkeep",
    "uploads",
]
