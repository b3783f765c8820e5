"""Cutting Markdown into sections along its structure, each small enough to be found and read by itself."""

from __future__ import annotations

from media.chunking.cutting import SIZE, Chunk, chunk

__all__ = ["SIZE", "Chunk", "chunk"]
