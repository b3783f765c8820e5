"""Erasing memories and sessions, and what quotes them."""

from __future__ import annotations

from memory.services.erasing.items import erase_items, hold_items
from memory.services.erasing.quotes import quoting_contexts, scrub_contexts
from memory.services.erasing.sessions import erase_sessions, hold_sessions

__all__ = ["erase_items", "erase_sessions", "hold_items", "hold_sessions", "quoting_contexts", "scrub_contexts"]
