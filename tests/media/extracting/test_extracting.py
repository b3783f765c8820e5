"""What is found in pictures and sound, and what is refused (cases 88 to 91, 107)."""

from __future__ import annotations

import io
import struct
import wave
import zlib
from pathlib import Path

import pytest
from PIL import Image

from kernel.errors import InvalidInputError, TooLargeError, UnavailableError
from media.extracting import (
    FACTS,
    Capability,
    ExtractLimits,
    Finding,
    Segment,
    extract,
    providers,
    sections_of,
    small_picture,
)
from media.sniffing import Sniffed, sniff

# Real files: a tone of part of a second and plain pictures, made once with FFmpeg, libsndfile and libheif.
FILES = Path(__file__).parents[1] / "samples"
LIMITS = ExtractLimits(seconds=20, max_pixels=1_000_000)


@pytest.fixture
def extracted(tmp_path):
    def call(name: str, content: bytes, wanted=(), limits: ExtractLimits = LIMITS):
        path = tmp_path / name
        path.write_bytes(content)
        return extract(path, sniff(name, path), wanted, limits)

    return call


def picture(form: str = "JPEG", mode: str = "RGB", size: tuple[int, int] = (40, 20), **options: object) -> bytes:
    out = io.BytesIO()
    Image.new(mode, size).save(out, form, **options)
    return out.getvalue()


def noted(orientation: int = 1, *, offset: str = "", gps: dict | None = None, **tags: object) -> Image.Exif:
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
    out = io.BytesIO()
    with wave.open(out, "wb") as file:
        file.setnchannels(channels)
        file.setsampwidth(width)
        file.setframerate(rate)
        file.writeframes(bytes(int(rate * seconds) * channels * width))
    return out.getvalue()


def test_it_works(extracted):
    found = extracted("a.jpg", picture(dpi=(72, 72)))
    assert found.media == {
        **FACTS, "format": "jpeg", "width": 40, "height": 20, "dpi": 72, "color_mode": "RGB", "orientation": "landscape",
        "frame_count": 1,
    }  # fmt: skip
    assert found.warnings == ()


def test_sound_is_read_from_its_header(extracted):
    found = extracted("a.wav", sound(channels=2))
    assert found.media == {
        **FACTS, "format": "wav", "duration_ms": 1500, "bitrate_bps": 256_000, "sample_rate_hz": 8000, "channels": 2,
        "codec": "pcm_s16le",
    }  # fmt: skip


@pytest.mark.parametrize("name", ["a.jpg", "a.wav", "a.mp3", "a.mp4"])
def test_every_kind_has_the_same_keys(extracted, name):
    content = {"a.jpg": picture(), "a.wav": sound()}.get(name, b"ID3\x04\x00\x00" + bytes(90))
    found = extracted(name, content).media
    assert list(found) == list(FACTS)
    assert found["exif"] == {}


@pytest.mark.parametrize(
    ("form", "mode", "expected"),
    [
        *[("PNG", "RGB", "RGB"), ("PNG", "RGBA", "RGBA"), ("PNG", "L", "grayscale"), ("PNG", "I;16", "grayscale")],
        *[
            ("PNG", "1", "bilevel"),
            ("PNG", "P", "palette"),
            ("PNG", "LA", "grayscale_alpha"),
            ("JPEG", "CMYK", "CMYK"),
        ],
        *[("TIFF", "CMYK", "CMYK"), ("TIFF", "F", "grayscale"), ("GIF", "P", "palette"), ("BMP", "RGB", "RGB")],
        *[("WEBP", "RGB", "RGB"), ("WEBP", "RGBA", "RGBA")],
    ],
)
def test_formats_and_colours(extracted, form, mode, expected):
    found = extracted(f"a.{form.lower()}", picture(form, mode))
    assert (found.media["format"], found.media["color_mode"], found.warnings) == (form.lower(), expected, ())


@pytest.mark.parametrize(("size", "expected"), [((2, 1), "landscape"), ((1, 2), "portrait"), ((2, 2), "square")])
def test_orientation_follows_from_the_size(extracted, size, expected):
    assert extracted("a.png", picture("PNG", size=size)).media["orientation"] == expected


@pytest.mark.parametrize("orientation", range(1, 9))
def test_a_picture_that_was_turned_is_measured_as_it_is_seen(extracted, orientation):
    found = extracted("a.jpg", picture(exif=noted(orientation))).media
    seen = (20, 40, "portrait") if orientation >= 5 else (40, 20, "landscape")
    assert (found["width"], found["height"], found["orientation"]) == seen


def test_what_the_camera_noted(extracted):
    place = {1: "N", 2: (31.0, 12.0, 0.0), 3: "W", 4: (121.0, 30.0, 36.0)}
    found = extracted("a.jpg", picture(exif=noted(t272="Model X\x00\x07", gps=place, offset="+08:00")))
    assert found.media["exif"] == {
        "datetime": "2026-07-01T10:00:00+08:00", "camera_model": "Model X", "gps": {"lat": 31.2, "lon": -121.51},
    }  # fmt: skip


@pytest.mark.parametrize(
    "place",
    [
        {1: "N"},
        {1: "N", 2: (31.0, 12.0, 0.0)},
        {1: "N", 2: (91.0, 0.0, 0.0), 3: "E", 4: (1.0, 0.0, 0.0)},
        {1: "N", 2: (float("inf"), 0.0, 0.0), 3: "E", 4: (1.0, 0.0, 0.0)},
    ],
)
def test_a_place_that_makes_no_sense_is_left_out(extracted, place):
    assert "gps" not in extracted("a.jpg", picture(exif=noted(gps=place))).media["exif"]


@pytest.mark.parametrize("date", ["", "0000:00:00 00:00:00", "yesterday", "2026:13:01 10:00:00"])
def test_a_date_that_makes_no_sense_is_left_out(extracted, date):
    exif = noted()
    exif.get_ifd(0x8769)[36867] = date
    assert extracted("a.jpg", picture(exif=exif)).media["exif"] == {}


def test_damaged_notes_are_no_reason_to_refuse(extracted):
    content = picture(exif=noted(t272="Model X"))
    at = content.index(b"Exif\x00\x00") + 6
    found = extracted("a.jpg", content[:at] + b"\xff" * 40 + content[at + 40 :])
    assert (found.media["width"], found.media["exif"]) == (40, {})


def test_a_moving_picture_is_measured_by_its_first_frame(extracted):
    frames = [Image.new("RGB", (10, 10), colour) for colour in ("red", "green", "blue")]
    for form in ("GIF", "WEBP"):
        out = io.BytesIO()
        frames[0].save(out, form, save_all=True, append_images=frames[1:])
        found = extracted(f"a.{form.lower()}", out.getvalue())
        assert (found.media["width"], found.media["frame_count"], found.media["duration_ms"]) == (10, 3, None)


def test_frames_that_are_cut_off_are_told_or_left_out(extracted):
    out = io.BytesIO()
    noise = [Image.effect_noise((80, 80), 50 + step) for step in range(3)]
    noise[0].save(out, "GIF", save_all=True, append_images=noise[1:])
    assert extracted("a.gif", out.getvalue()).media["frame_count"] == 3
    found = extracted("a.gif", out.getvalue()[: len(out.getvalue()) // 2])
    assert found.media["frame_count"] in (1, 2, None)


@pytest.mark.parametrize(("name", "count", "exif"), [("a.heic", 1, {"camera_model": "Camera X"}), ("two.heic", 2, {})])
def test_pictures_of_phones_are_read(extracted, name, count, exif):
    found = extracted(name, (FILES / name).read_bytes())
    assert found.media == {
        **FACTS, "format": "heic", "width": 48, "height": 32, "color_mode": "RGB", "orientation": "landscape",
        "frame_count": count, "exif": exif,
    }  # fmt: skip
    assert found.warnings == ()


@pytest.mark.parametrize(
    ("name", "form", "milliseconds", "bits", "rate", "channels", "codec"),
    [
        ("a.mp3", "mp3", 648, 16_000, 8000, 1, "mp3"),
        ("a.ogg", "ogg", 200, 25_200, 8000, 1, "vorbis"),
        ("a.opus", "ogg", 500, 8_624, 48_000, 1, "opus"),
        ("a.flac", "flac", 200, 32_880, 8000, 1, "flac"),
        ("a.m4a", "m4a", 500, 18_305, 8000, 1, "aac"),
        ("a.wma", "wma", 231, 32_000, 44_100, 1, "wmav2"),
        ("a.aiff", "aiff", 50, 256_000, 8000, 2, "pcm_s16be"),
    ],
)
def test_sound_of_the_usual_kinds(extracted, name, form, milliseconds, bits, rate, channels, codec):
    found = extracted(name, (FILES / name).read_bytes())
    assert found.media == {
        **FACTS, "format": form, "duration_ms": milliseconds, "bitrate_bps": bits, "sample_rate_hz": rate,
        "channels": channels, "codec": codec,
    }  # fmt: skip
    assert found.warnings == ()


def test_of_film_its_length_and_sound_are_read_and_the_rest_is_named(extracted):
    found = extracted("a.mp4", (FILES / "a.mp4").read_bytes())
    assert found.media == {
        **FACTS, "format": "mp4", "duration_ms": 1000, "sample_rate_hz": 8000, "channels": 1, "audio_codec": "aac",
    }  # fmt: skip
    assert found.warnings == ("no_probe:Of film only its length and its sound are read here.",)


@pytest.mark.parametrize("name", ["a.mp3", "a.ogg", "a.flac", "a.m4a", "a.wma", "a.aiff", "a.mp4"])
@pytest.mark.parametrize("kept", [0.05, 0.5])
def test_sound_that_is_cut_off_is_kept_with_what_can_be_read(extracted, name, kept):
    """What cannot be measured is no reason to lose a recording."""
    whole = (FILES / name).read_bytes()
    found = extracted(name, whole[: max(40, int(len(whole) * kept))])
    assert found.media.keys() == FACTS.keys()
    assert found.media["duration_ms"] is not None or found.warnings


def test_sound_that_says_it_lasts_for_days_is_refused(extracted):
    whole = bytearray((FILES / "a.flac").read_bytes())
    whole[21:26] = bytes([whole[21] | 0x0F, 0xFF, 0xFF, 0xFF, 0xFF])  # 36 bits of samples at 8000 a second
    with pytest.raises(TooLargeError, match="7200 at most"):
        extracted("a.flac", bytes(whole))


# What is refused


def chunk(name: bytes, body: bytes) -> bytes:
    return struct.pack(">I", len(body)) + name + body + struct.pack(">I", zlib.crc32(name + body))


def png(width: int, height: int) -> bytes:
    """A header that promises a picture of that size, and hardly any bytes."""
    head = chunk(b"IHDR", struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0))
    return b"\x89PNG\r\n\x1a\n" + head + chunk(b"IDAT", zlib.compress(bytes(100_000))) + chunk(b"IEND", b"")


def small(tmp_path, content: bytes, mime: str = "image/png") -> Image.Image:
    path = tmp_path / "a"
    path.write_bytes(content)
    return Image.open(io.BytesIO(small_picture(path, mime, LIMITS)))


def test_a_small_picture_for_a_page(tmp_path):
    made = small(tmp_path, picture(size=(900, 300), exif=noted(6, t272="Model X")), "image/jpeg")
    assert (made.format, made.size, dict(made.getexif())) == ("JPEG", (213, 640), {})  # turned upright, without notes
    assert small(tmp_path, picture("PNG", "RGBA", (10, 10))).getpixel((5, 5)) == (255, 255, 255)
    assert small(tmp_path, (FILES / "a.heic").read_bytes(), "image/heic").size == (48, 32)


@pytest.mark.parametrize(
    ("content", "error"),
    [(b"", InvalidInputError), (b"\xff\xd8\xff", InvalidInputError), (png(2000, 2000), TooLargeError)],
)
def test_of_what_is_no_picture_there_is_no_small_one(tmp_path, content, error):
    with pytest.raises(error):
        small(tmp_path, content)


@pytest.mark.parametrize(("width", "height"), [(1001, 1000), (50_000, 50_000), (2_000_000_000, 1)])
def test_a_bomb_is_refused_by_its_header(extracted, width, height):
    with pytest.raises(TooLargeError, match="1000000"):
        extracted("a.png", png(width, height))


def test_a_picture_of_just_the_limit_is_taken(extracted):
    assert extracted("a.png", picture("PNG", size=(1000, 1000))).media["width"] == 1000


def test_a_bomb_within_the_pixels_is_stopped_by_its_memory(extracted):
    bomb = picture("PNG", size=(12_000, 12_000), mode="L")
    tight = ExtractLimits(seconds=20, memory=150_000_000, max_pixels=1_000_000_000)
    with pytest.raises(TooLargeError, match="memory"):
        extracted("a.png", bomb, limits=tight)


def test_a_picture_that_is_cut_off_is_told(extracted):
    whole = picture("JPEG", size=(400, 400))
    found = extracted("a.jpg", whole[: len(whole) // 2])
    assert found.media["width"] == 400
    assert found.warnings == ("picture_cut_off:The picture ends before its last line.",)


@pytest.mark.parametrize(
    "content",
    [
        *[b"\xff\xd8\xff\xe0\x00", b"\x89PNG\r\n\x1a\n\x00", b"GIF89a\x00", b"II*\x00\xff\xff\xff\xff", b"BM\x00\x00"],
        *[b"RIFF\x00\x00\x00\x00WEBP\x00", b"RIFF\x24\x00\x00\x00WAVEfmt \x10\x00\x00\x00" + bytes(4)],
    ],
)
def test_a_damaged_file_is_refused(extracted, content):
    with pytest.raises(InvalidInputError, match="damaged"):
        extracted("a", content)


def test_a_type_that_was_not_sniffed_is_not_tried(tmp_path):
    """Parsers follow the content: what is called a picture and is none is given to no parser of pictures."""
    path = tmp_path / "a.jpg"
    path.write_bytes(b"<html></html>")
    found = extract(path, sniff("a.jpg", path), (), LIMITS)
    assert found.media["width"] is None
    assert found.warnings[0].startswith("no_probe:")


def test_a_recording_of_over_two_hours_is_refused(extracted):
    with pytest.raises(TooLargeError, match="7201 seconds; 7200 at most"):
        extracted("a.wav", sound(rate=1, seconds=7201, width=1))
    assert extracted("a.wav", sound(rate=1, seconds=7200, width=1)).media["duration_ms"] == 7_200_000


def test_how_long_sound_is_comes_from_its_bytes(extracted):
    content = bytearray(sound(seconds=1, width=1))
    content[40:44] = struct.pack("<I", 2_000_000_000)
    assert extracted("a.wav", bytes(content)).media["duration_ms"] < 1100


def test_sound_of_another_encoding_is_named(extracted):
    content = bytearray(sound())
    content[20:22] = struct.pack("<H", 85)
    found = extracted("a.wav", bytes(content))
    assert found.media["format"] == "wav"
    assert found.warnings[0].startswith("no_probe:")


# Who finds what


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


@pytest.fixture
def register(monkeypatch):
    monkeypatch.setattr(providers, "_providers", list(providers._providers))
    return lambda capability, finding: providers.register_provider(Reader(capability, finding))


EVERYTHING = tuple(Capability)


def test_what_nobody_can_find_is_named(extracted):
    assert [w.partition(":")[0] for w in extracted("a.jpg", picture(), EVERYTHING).warnings] == [
        "no_ocr",
        "no_caption",
    ]
    assert [w.partition(":")[0] for w in extracted("a.wav", sound(), EVERYTHING).warnings] == ["no_transcript"]
    assert extracted("a.jpg", picture()).warnings == ()


def test_what_providers_find_is_put_together(extracted, register):
    register(Capability.OCR, Finding(text="Q3 路线图"))
    register(Capability.CAPTION, Finding(description="A whiteboard.", captions=("A flow chart.",)))
    found = extracted("a.jpg", picture(), EVERYTHING)
    assert (found.text, found.description, found.captions) == ("Q3 路线图", "A whiteboard.", ("A flow chart.",))
    assert (found.warnings, found.media["width"]) == ((), 40)


def test_a_provider_that_cannot_work_now_stops_nothing(extracted, register):
    register(Capability.OCR, UnavailableError("The reader is not there."))
    found = extracted("a.jpg", picture(), [Capability.OCR])
    assert found.warnings == ("ocr_unavailable:The reader is not there.",)


def test_of_two_providers_the_later_one_is_asked(extracted, register):
    register(Capability.OCR, Finding(text="first"))
    register(Capability.OCR, Finding(text="second"))
    assert extracted("a.jpg", picture(), [Capability.OCR]).text == "second"


def test_what_nobody_asked_for_is_not_looked_for(extracted, register):
    register(Capability.OCR, AssertionError("asked"))
    assert extracted("a.jpg", picture(), [Capability.CAPTION]).text == ""


# Places in time


def test_a_segment_becomes_a_section():
    [section] = sections_of([Segment("audio_transcript", " Hello. ", 1500, 3200, "Alice")])
    assert (section.title, section.content) == ("Transcript 00:00:01", "Hello.")
    assert section.metadata == {
        "extraction_kind": "audio_transcript", "start_ms": 1500, "end_ms": 3200, "speaker": "Alice",
    }  # fmt: skip


def test_speech_and_pictures_of_a_video_stand_in_the_order_of_time():
    frame = Segment("video_frame", "A menu.", 30_000)
    sections = sections_of([frame, Segment("video_transcript", "Click import.", 5000, 8000)])
    assert [section.title for section in sections] == ["Transcript 00:00:05", "Frame 00:00:30"]
    assert sections[1].metadata == {"extraction_kind": "video_frame", "frame_timestamp_ms": 30_000}


def test_a_segment_that_says_nothing_is_left_out():
    assert sections_of([Segment("audio_transcript", " \n", 0, 5)]) == []


def test_long_recordings_have_hours_in_their_titles():
    assert sections_of([Segment("other_kind", "x", 36_061_999, 1)])[0].title == "Other kind 10:01:01"
