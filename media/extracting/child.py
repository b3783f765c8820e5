"""The script that reads the technical facts of a strange file, as JSON on standard output, or makes a picture small.

It is run by `converting/alone.py`, which limits what it may do, and imports nothing of the product. Arguments: path,
MIME type, pixels; and where a small picture is wanted, the pixels of its longer side: then a JPEG is written.
"""

from __future__ import annotations

import io
import json
import math
import sys
import warnings
import wave
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

TOO_LARGE, DAMAGED = "too_large", "damaged"
FORMATS = ["JPEG", "PNG", "GIF", "WEBP", "BMP", "TIFF", "AVIF"]
HEIF = frozenset({"image/heic", "image/heif"})
MODES = {"1": "bilevel", "L": "grayscale", "LA": "grayscale_alpha", "La": "grayscale_alpha", "P": "palette"}
DATE, MODEL, TURNED, EXIF, GPS = 306, 272, 274, 0x8769, 0x8825
TAKEN, TAKEN_OFFSET = 36867, 36881
SIDEWAYS = frozenset({5, 6, 7, 8})
DEGREES = (1, 60, 3600)


class RefusedError(Exception):
    """The file is not taken; the arguments are why, and the limit it is over."""


class UnreadError(Exception):
    """Nothing here reads such a file; the argument says so."""


@contextmanager
def opened(path: Path, mime: str, pixels: int) -> Iterator[Any]:
    """A picture. Its size is in its header: what is too large is not decoded."""
    from PIL import Image, ImageFile, UnidentifiedImageError  # noqa: PLC0415  only once the limits are set

    Image.MAX_IMAGE_PIXELS = pixels
    ImageFile.LOAD_TRUNCATED_IMAGES = False
    warnings.simplefilter("error", Image.DecompressionBombWarning)
    warnings.filterwarnings("ignore", category=UserWarning)
    try:
        image = Image.open(path, formats=with_heif() if mime in HEIF else FORMATS)
    except (Image.DecompressionBombError, Image.DecompressionBombWarning) as exc:
        raise RefusedError(TOO_LARGE, f"a picture of over {pixels} pixels") from exc
    except UnidentifiedImageError as exc:
        raise RefusedError(DAMAGED, "") from exc
    with image:
        if image.width * image.height > pixels:
            raise RefusedError(TOO_LARGE, f"{image.width} x {image.height} pixels; {pixels} at most")
        yield image


def with_heif() -> list[str]:
    """The formats, with the one for which Pillow needs a package that is not there on every machine."""
    try:
        import pi_heif  # noqa: PLC0415
    except ImportError as exc:
        raise UnreadError("Reading HEIC pictures needs the package pi-heif.") from exc
    pi_heif.register_heif_opener(thumbnails=False)
    return [*FORMATS, "HEIF"]


def picture(path: Path, mime: str, pixels: int) -> dict[str, Any]:
    """The facts of a picture."""
    with opened(path, mime, pixels) as image:
        known, noted = exif_of(image)
        told = [] if is_whole(image) else ["picture_cut_off:The picture ends before its last line."]
        width, height = (image.height, image.width) if noted.get(TURNED) in SIDEWAYS else (image.width, image.height)
        name = {"MPO": "jpeg", "HEIF": mime.rpartition("/")[2]}.get(image.format or "", (image.format or "").lower())
        return {
            "media": {
                "format": name,
                "width": width,
                "height": height,
                "dpi": dots(image.info.get("dpi")),
                "color_mode": "grayscale" if image.mode[:1] in "IF" else MODES.get(image.mode, image.mode),
                "orientation": "square" if width == height else "landscape" if width > height else "portrait",
                "exif": known,
                "frame_count": frames(image),
            },
            "warnings": told,
        }


def frames(image: Any) -> int | None:
    """How many pictures follow each other; null where they cannot be counted."""
    try:
        return int(getattr(image, "n_frames", 1))
    except (OSError, SyntaxError, ValueError, EOFError):
        return None


def small(path: Path, mime: str, pixels: int, side: int) -> bytes:
    """The first picture of the file as a JPEG on white, upright, no side longer than `side`, without any notes."""
    from PIL import Image, ImageOps  # noqa: PLC0415

    with opened(path, mime, pixels) as image:
        image.draft("RGB", (side, side))
        upright = ImageOps.exif_transpose(image)
        upright.thumbnail((side, side))
        seen = upright.convert("RGBA")
        ground = Image.new("RGBA", seen.size, "white")
        ground.alpha_composite(seen)
        held = io.BytesIO()
        ground.convert("RGB").save(held, "JPEG", quality=82)
        return held.getvalue()


def is_whole(image: Any) -> bool:
    """Whether every line is there: the first frame is decoded, for a header tells nothing of it."""
    try:
        image.load()
    except (OSError, SyntaxError, ValueError, EOFError):
        return False
    return True


def dots(dpi: Any) -> int | None:
    """Dots an inch, where they are given and make sense."""
    try:
        across = float(dpi[0])
    except (TypeError, ValueError, IndexError, ZeroDivisionError):
        return None
    return round(across) if math.isfinite(across) and 1 <= across <= 100_000 else None


def exif_of(image: Any) -> tuple[dict[str, Any], dict[int, Any]]:
    """What the camera noted, in our words and as it stands there; nothing where its notes are damaged."""
    try:
        noted = image.getexif()
        taken, place = noted.get_ifd(EXIF), noted.get_ifd(GPS)
    except Exception:  # noqa: BLE001  damaged notes fail in ways that nobody can list, and are no reason to refuse
        return {}, {}
    moment = instant(taken.get(TAKEN) or noted.get(DATE), taken.get(TAKEN_OFFSET))
    where = {"lat": angle(place, 1, "S", 90), "lon": angle(place, 3, "W", 180)}
    found = {"datetime": moment, "camera_model": words(noted.get(MODEL)) or None}
    known: dict[str, Any] = {name: value for name, value in found.items() if value}
    if None not in where.values():
        known["gps"] = where
    return known, dict(noted)


def words(value: Any) -> str:
    """A note of the camera as text, without what no text holds."""
    text = value.decode("utf-8", "replace") if isinstance(value, bytes) else str(value or "")
    return "".join(letter for letter in text if letter.isprintable()).strip()[:200]


def instant(value: Any, offset: Any) -> str | None:
    """`2026:07:01 10:00:00` as `2026-07-01T10:00:00`, with its offset where the camera knows it."""
    from datetime import datetime  # noqa: PLC0415

    try:
        read = datetime.strptime(words(value), "%Y:%m:%d %H:%M:%S")  # noqa: DTZ007  a camera knows its own time alone
    except ValueError:
        return None
    try:
        return datetime.fromisoformat(f"{read.isoformat()}{words(offset)}").isoformat()
    except ValueError:
        return read.isoformat()


def angle(place: Any, tag: int, negative: str, most: int) -> float | None:
    """Degrees of latitude or longitude: three numbers after a letter."""
    try:
        parts = [float(each) for each in place[tag + 1]]
        degrees = sum(part / whole for part, whole in zip(parts, DEGREES, strict=True))
    except (KeyError, TypeError, ValueError, ZeroDivisionError):
        return None
    signed = -degrees if words(place.get(tag)).upper() == negative else degrees
    return round(signed, 6) if math.isfinite(signed) and abs(signed) <= most else None


def sound(path: Path) -> dict[str, Any]:
    """The facts of a WAV file. How long it is comes from the bytes that are there, not from what its header claims."""
    try:
        with wave.open(str(path), "rb") as file:
            rate, channels, width = file.getframerate(), file.getnchannels(), file.getsampwidth()
            frames = min(file.getnframes(), path.stat().st_size // (channels * width))
    except (wave.Error, EOFError) as exc:
        if "unknown format" in str(exc):
            told = "no_probe:Nothing here reads the technical data of WAV that is not plain PCM."
            return {"media": {"format": "wav"}, "warnings": [told]}
        raise RefusedError(DAMAGED, "") from exc
    codec = "pcm_u8" if width == 1 else f"pcm_s{8 * width}le"
    return {
        "media": {
            "format": "wav",
            "duration_ms": round(frames * 1000 / rate),
            "bitrate_bps": rate * channels * width * 8,
            "sample_rate_hz": rate,
            "channels": channels,
            "codec": codec,
        },
        "warnings": [],
    }


def recording(path: Path, mime: str) -> dict[str, Any]:
    """The facts of compressed sound, as its headers tell them; of film its length and its sound."""
    from tinytag import ParseError, TinyTag, UnsupportedFormatError  # noqa: PLC0415

    name = {"mpeg": "mp3", "mp4": "mp4" if mime.startswith("video") else "m4a", "quicktime": "mov", "x-ms-wma": "wma"}
    known: dict[str, Any] = {"format": name.get(kind := mime.rpartition("/")[2], kind)}
    told = []
    if mime.startswith("video"):
        told.append("no_probe:Of film only its length and its sound are read here.")
    try:
        with path.open("rb") as file:
            read = TinyTag.get(file_obj=file, tags=False)
    except (ParseError, UnsupportedFormatError) as exc:
        return {"media": known, "warnings": [f"no_probe:Its technical data cannot be read ({type(exc).__name__})."]}
    if not read.duration:
        told.append("no_length:How long it is does not stand in its headers.")
    codec = encoding(str(read.mime_type or ""), read.bitdepth, known["format"])
    film = mime.startswith("video")
    known |= {
        "duration_ms": round(read.duration * 1000) if read.duration else None,
        "bitrate_bps": round(read.bitrate * 1000) if read.bitrate and not film else None,
        "sample_rate_hz": read.samplerate or None,
        "channels": read.channels or None,
        "audio_codec" if film else "codec": codec if read.samplerate else None,
    }
    return {"media": known, "warnings": told}


def encoding(told: str, depth: int | None, name: str) -> str:
    """The name of an encoding, out of a MIME type such as `audio/mp4; codecs="mp4a.40.2"`."""
    codec = told.partition('codecs="')[2].rstrip('"')
    if name == "wma":
        return {"160": "wmav1", "161": "wmav2", "162": "wmapro", "163": "wmalossless"}.get(codec, "wma")
    if name == "aiff":
        return f"pcm_s{depth}be" if codec in ("", "NONE") else codec.lower()
    return {"": name, "mp4a.6B": "mp3", "mp4a.69": "mp3"}.get(codec, "aac" if codec.startswith("mp4a") else codec)


def facts(path: Path, mime: str, pixels: int) -> dict[str, Any]:
    """The facts of any file that is read here."""
    if mime.startswith("image/"):
        return picture(path, mime, pixels)
    return sound(path) if mime == "audio/wav" else recording(path, mime)


def main(path: str, mime: str, pixels: str, side: str = "") -> None:
    """Write what was asked for, or why there is none."""
    answer: dict[str, Any]
    try:
        if side:
            sys.stdout.buffer.write(small(Path(path), mime, int(pixels), int(side)))
            return
        answer = facts(Path(path), mime, int(pixels))
    except RefusedError as exc:
        answer = {"refused": list(exc.args)}
    except UnreadError as exc:
        answer = {"media": {"format": mime.rpartition("/")[2]}, "warnings": [f"no_probe:{exc}"]}
    except MemoryError:
        answer = {"refused": [TOO_LARGE, "more memory than reading it may take"]}
    except Exception as exc:  # noqa: BLE001  a parser fails on a strange file in ways that nobody can list
        answer = {"refused": [DAMAGED, type(exc).__name__]}
    sys.stdout.write(json.dumps(answer))


if __name__ == "__main__":
    main(*sys.argv[1:])
