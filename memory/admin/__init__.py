"""The admin pages of conversations and of what was learned from them."""

from __future__ import annotations

from memory.admin import conflicts, contexts, conversations, extractions, graph, items

__all__ = ["conflicts", "contexts", "conversations", "extractions", "graph", "items"]
