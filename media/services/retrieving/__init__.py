"""Carrying out a retrieval plan on the documents that the caller may see."""

from __future__ import annotations

from media.services.retrieving.executing import MAX_QUERIES, retrieve

__all__ = ["MAX_QUERIES", "retrieve"]
