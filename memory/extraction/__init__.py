"""What the words of a conversation propose to remember, found by rules in Chinese and English, without a model."""

from __future__ import annotations

from memory.extraction.engine import extract
from memory.extraction.redaction import looks_like_secret, redact
from memory.extraction.values import Extraction, Proposed, Said, Skipped

__all__ = ["Extraction", "Proposed", "Said", "Skipped", "extract", "looks_like_secret", "redact"]
