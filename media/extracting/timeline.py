"""Making sections of what has a place in time."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from media.extracting.values import Segment

_LABELS = {"audio_transcript": "Transcript", "video_transcript": "Transcript", "video_frame": "Frame"}


@dataclass(frozen=True, slots=True)
class TimedSection:
    """A section of a recording: `metadata` has extraction_kind and start_ms and end_ms, or frame_timestamp_ms, and the
    speaker where one is known."""

    title: str
    content: str
    metadata: dict[str, Any]


def sections_of(segments: Iterable[Segment]) -> list[TimedSection]:
    """One section for each segment that says something, in the order of time, titled by its kind and moment."""
    spoken = sorted((each for each in segments if each.text.strip()), key=lambda each: each.start_ms)
    return [TimedSection(_title(each), each.text.strip(), _place(each)) for each in spoken]


def _title(segment: Segment) -> str:
    label = _LABELS.get(segment.kind, segment.kind.replace("_", " ").capitalize())
    return f"{label} {moment(segment.start_ms)}"


def moment(milliseconds: int) -> str:
    """A place in time as HH:MM:SS."""
    minutes, seconds = divmod(milliseconds // 1000, 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours:02}:{minutes:02}:{seconds:02}"


def _place(segment: Segment) -> dict[str, Any]:
    place: dict[str, Any] = {"extraction_kind": segment.kind}
    if segment.end_ms is None:
        place["frame_timestamp_ms"] = segment.start_ms
    else:
        place |= {"start_ms": segment.start_ms, "end_ms": segment.end_ms}
    return place | ({"speaker": segment.speaker} if segment.speaker else {})
