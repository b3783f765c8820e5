"""Clients that ask a document store for evidence and never break a compose."""

from __future__ import annotations

from memory.resources.choice import client_for

__all__ = ["client_for"]
