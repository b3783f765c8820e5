"""The admin pages of conversations."""

from __future__ import annotations

from memory.admin import conversations

__all__ = ["conversations"]
