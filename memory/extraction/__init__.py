"""What the words of a conversation propose to remember, found by rules in Chinese and English, without a model."""

from __future__ import annotations

from memory.extraction.engine import Extraction, extract
from memory.extraction.redaction import looks_like_secret, redact
from memory.extraction.unprompted import Unprompted
from memory.extraction.values import Proposed, Said, Skipped

__all__ = ["Extraction", "Proposed", "Said", "Skipped", "Unprompted", "extract", "looks_like_secret", "redact"]
