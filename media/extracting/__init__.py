"""What is in a picture, a sound or a video: technical facts, and words where something here can read them."""

from __future__ import annotations

from media.extracting.extraction import extract
from media.extracting.providers import Provider, provider_of, register_provider
from media.extracting.technical import PICTURES, small_picture
from media.extracting.timeline import TimedSection, sections_of
from media.extracting.values import FACTS, Capability, Extracted, ExtractLimits, Finding, Segment

__all__ = [
    "FACTS",
    "PICTURES",
    "Capability",
    "ExtractLimits",
    "Extracted",
    "Finding",
    "Provider",
    "Segment",
    "TimedSection",
    "extract",
    "provider_of",
    "register_provider",
    "sections_of",
    "small_picture",
]
