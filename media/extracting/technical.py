"""The built-in provider: technical facts of pictures and recordings, read in a process of its own; small pictures too."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from kernel.errors import InvalidInputError, NotFoundError, TooLargeError
from media.converting.process import Allowance, run
from media.extracting.values import Capability, ExtractLimits, Finding
from media.sniffing import Sniffed

_CHILD = Path(__file__).with_name("child.py")
PICTURES = frozenset(
    {
        "image/jpeg", "image/png", "image/gif", "image/webp", "image/bmp", "image/tiff", "image/avif", "image/heic",
        "image/heif",
    }
)  # fmt: skip
_RECORDINGS = frozenset(
    {
        "audio/wav", "audio/mpeg", "audio/mp4", "audio/flac", "audio/ogg", "audio/aiff", "audio/x-ms-wma", "video/mp4",
        "video/quicktime",
    }
)  # fmt: skip
_SIDE = 640  # pixels of the longer side of a small picture


class BuiltIn:
    """What Pillow tells of a picture, and the headers of recordings. Parsers of strange bytes are where faults in
    libraries are used, so they run with nothing to gain and little to spend."""

    capability = Capability.TECHNICAL

    def reads(self, sniffed: Sniffed) -> bool:
        """Pictures and recordings of the usual kinds."""
        return sniffed.mime in PICTURES | _RECORDINGS

    def find(self, path: Path, sniffed: Sniffed, limits: ExtractLimits) -> Finding:
        """The facts. Raises InvalidInputError for a damaged file, TooLargeError over a limit."""
        allowed = Allowance(limits.seconds, limits.memory)
        told = _read(run(_CHILD, (path, sniffed.mime, limits.max_pixels), allowed), sniffed.mime)
        duration = told["media"].get("duration_ms")
        if duration is not None and duration > limits.max_duration_seconds * 1000:
            most = limits.max_duration_seconds
            raise TooLargeError(f"The recording lasts {duration / 1000:.0f} seconds; {most} at most.")
        return Finding(media=told["media"], warnings=tuple(told["warnings"]))


def small_picture(path: Path, mime: str, limits: ExtractLimits) -> bytes:
    """The picture of a file of one of PICTURES as a JPEG that a page can show, at most 640 pixels wide and high.

    Raises InvalidInputError for a damaged file, TooLargeError over a limit, NotFoundError where nothing here reads it.
    """
    told = run(_CHILD, (path, mime, limits.max_pixels, _SIDE), Allowance(limits.seconds, limits.memory))
    if told.startswith(b"\xff\xd8"):
        return told
    _read(told, mime)
    raise NotFoundError("Nothing here shows such a picture.")


def _read(answer: bytes, mime: str) -> dict[str, Any]:
    try:
        told: dict[str, Any] = json.loads(answer)
    except ValueError:  # the process died
        told = {"refused": ["damaged", ""]}
    if "refused" not in told:
        return told
    reason, detail = told["refused"]
    if reason == "too_large":
        raise TooLargeError(f"The file is too large to read: {detail}.")
    raise InvalidInputError(f"The file is damaged: it cannot be read as {mime}.")
