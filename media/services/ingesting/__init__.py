"""Importing a document: `prepare` reads it outside any transaction, `apply` stores it inside the gate's."""

from __future__ import annotations

from media.services.ingesting.preparing import Ready, prepare
from media.services.ingesting.storing import apply

__all__ = ["Ready", "apply", "prepare"]
