"""What extraction is asked for and what it finds, as plain values."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

# One object for all kinds of media: what does not apply or is not known is null, and `exif` is empty.
FACTS: Mapping[str, Any] = {
    "format": None,
    "width": None,
    "height": None,
    "dpi": None,
    "color_mode": None,
    "orientation": None,
    "exif": {},
    "duration_ms": None,
    "bitrate_bps": None,
    "sample_rate_hz": None,
    "channels": None,
    "codec": None,
    "fps": None,
    "audio_codec": None,
    "frame_count": None,
}


class Capability(StrEnum):
    """What a provider can find."""

    TECHNICAL = "technical"
    OCR = "ocr"
    CAPTION = "caption"
    TRANSCRIPT = "transcript"


@dataclass(frozen=True, slots=True)
class ExtractLimits:
    """How much one file may take: seconds and bytes of memory to read it, pixels of a picture, seconds it may last."""

    seconds: float = 60.0
    memory: int = 1_073_741_824
    max_pixels: int = 100_000_000
    max_duration_seconds: int = 7200


@dataclass(frozen=True, slots=True)
class Segment:
    """Words at a place in time, in milliseconds from the beginning. `kind` is audio_transcript, video_transcript or
    video_frame; a frame has no end."""

    kind: str
    text: str
    start_ms: int
    end_ms: int | None = None
    speaker: str = ""


@dataclass(frozen=True, slots=True)
class Finding:
    """What one provider found. `media` holds some of FACTS; warnings are `code:sentence`."""

    media: Mapping[str, Any] = field(default_factory=dict)
    description: str | None = None
    captions: tuple[str, ...] = ()
    segments: tuple[Segment, ...] = ()
    text: str = ""
    warnings: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Extracted:
    """All that was found: `media` has every key of FACTS, `segments` are in the order of time, `text` is what was read
    in a picture."""

    media: dict[str, Any]
    description: str | None = None
    captions: tuple[str, ...] = ()
    segments: tuple[Segment, ...] = ()
    text: str = ""
    warnings: tuple[str, ...] = ()
