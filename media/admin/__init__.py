"""Media's admin pages: documents and the job board."""

from __future__ import annotations

from media.admin import documents, jobs

__all__ = ["documents", "jobs"]
