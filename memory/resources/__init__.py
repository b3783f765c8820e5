"""Clients of a document store: they ask it for evidence and never break a compose, and they hand it what to import."""

from __future__ import annotations

from memory.resources.choice import client_for, store_for
from memory.resources.direct import DirectClient

__all__ = ["DirectClient", "client_for", "store_for"]
