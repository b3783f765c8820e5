"""Pictures and sound made when a test asks for them, where real ones lie, and a reader that finds what it is told to."""

from __future__ import annotations

import io
import struct
import wave
import zlib
from pathlib import Path

from PIL import Image

from media.extracting import Capability, ExtractLimits, Finding
from media.sniffing import Sniffed

# Real files: a tone of part of a second and plain pictures, made once with FFmpeg, libsndfile and libheif.
FILES = Path(__file__).parent / "samples"
LIMITS = ExtractLimits(seconds=300, max_pixels=1_000_000)


def picture(form: str = "JPEG", mode: str = "RGB", size: tuple[int, int] = (40, 20), **options: object) -> bytes:
    """The bytes of a plain picture."""
    out = io.BytesIO()
    Image.new(mode, size).save(out, form, **options)
    return out.getvalue()


def noted(orientation: int = 1, *, offset: str = "", gps: dict | None = None, **tags: object) -> Image.Exif:
    """The notes of a camera."""
    exif = Image.Exif()
    exif[274] = orientation
    for tag, value in tags.items():
        exif[int(tag.removeprefix("t"))] = value
    inside = exif.get_ifd(0x8769)
    inside[36867] = "2026:07:01 10:00:00"
    if offset:
        inside[36881] = offset
    if gps:
        exif.get_ifd(0x8825).update(gps)
    return exif


def sound(rate: int = 8000, seconds: float = 1.5, channels: int = 1, width: int = 2) -> bytes:
    """The bytes of silence as a wave file."""
    out = io.BytesIO()
    with wave.open(out, "wb") as file:
        file.setnchannels(channels)
        file.setsampwidth(width)
        file.setframerate(rate)
        file.writeframes(bytes(int(rate * seconds) * channels * width))
    return out.getvalue()


def chunk(name: bytes, body: bytes) -> bytes:
    """A chunk of a PNG."""
    return struct.pack(">I", len(body)) + name + body + struct.pack(">I", zlib.crc32(name + body))


def png(width: int, height: int) -> bytes:
    """A header that promises a picture of that size, and hardly any bytes."""
    head = chunk(b"IHDR", struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0))
    return b"\x89PNG\r\n\x1a\n" + head + chunk(b"IDAT", zlib.compress(bytes(100_000))) + chunk(b"IEND", b"")


class Reader:
    """A provider that finds what it is told to."""

    def __init__(self, capability: Capability, finding: Finding | Exception) -> None:
        self.capability = capability
        self._finding = finding

    def reads(self, sniffed: Sniffed) -> bool:
        return sniffed.media_type in ("image", "audio", "video")

    def find(self, path: Path, sniffed: Sniffed, limits: ExtractLimits) -> Finding:
        if isinstance(self._finding, Exception):
            raise self._finding
        return self._finding
