"""Media's admin pages: the job board."""

from __future__ import annotations

from media.admin import jobs

__all__ = ["jobs"]
