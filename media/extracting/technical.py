"""The built-in provider: technical facts of pictures and of WAV sound, read in a process of its own."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from kernel.errors import InvalidInputError, TooLargeError
from media.converting.process import Allowance, run
from media.extracting.values import Capability, ExtractLimits, Finding
from media.sniffing import Sniffed

_CHILD = Path(__file__).with_name("child.py")
_READ = frozenset({"image/jpeg", "image/png", "image/gif", "image/webp", "image/bmp", "image/tiff", "audio/wav"})


class BuiltIn:
    """What Pillow tells of a picture, and the header of a WAV file. Parsers of strange bytes are where faults in
    libraries are used, so they run with nothing to gain and little to spend."""

    capability = Capability.TECHNICAL

    def reads(self, sniffed: Sniffed) -> bool:
        """Pictures of the usual kinds, and WAV."""
        return sniffed.mime in _READ

    def find(self, path: Path, sniffed: Sniffed, limits: ExtractLimits) -> Finding:
        """The facts. Raises InvalidInputError for a damaged file, TooLargeError over a limit."""
        allowed = Allowance(limits.seconds, limits.memory)
        told = _read(run(_CHILD, (path, sniffed.mime, limits.max_pixels), allowed), sniffed.mime)
        duration = told["media"].get("duration_ms")
        if duration is not None and duration > limits.max_duration_seconds * 1000:
            most = limits.max_duration_seconds
            raise TooLargeError(f"The recording lasts {duration / 1000:.0f} seconds; {most} at most.")
        return Finding(media=told["media"], warnings=tuple(told["warnings"]))


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
