"""What is found in sound and film, and which are refused (cases 88 to 91, 107)."""

from __future__ import annotations

import struct

import pytest

from kernel.errors import TooLargeError
from media.extracting import FACTS
from tests.media.extracting.conftest import extracted
from tests.media.pictures_and_sound import FILES, sound

__all__ = ["extracted"]


def test_sound_is_read_from_its_header(extracted):
    found = extracted("a.wav", sound(channels=2))
    assert found.media == {
        **FACTS, "format": "wav", "duration_ms": 1500, "bitrate_bps": 256_000, "sample_rate_hz": 8000, "channels": 2,
        "codec": "pcm_s16le",
    }  # fmt: skip


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
