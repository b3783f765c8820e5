"""The admin page of moving in."""

from __future__ import annotations

from legacy.admin import migration

__all__ = ["migration"]
