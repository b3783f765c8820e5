"""What is found in pictures, what every file has in common, and what is refused (cases 88 to 91, 107)."""

from __future__ import annotations

import io

import pytest
from PIL import Image

from kernel.errors import InvalidInputError, TooLargeError
from media.extracting import FACTS, ExtractLimits, extract, small_picture
from media.sniffing import sniff
from tests.media.extracting.conftest import extracted
from tests.media.pictures_and_sound import FILES, LIMITS, noted, picture, png, sound

__all__ = ["extracted"]


def test_it_works(extracted):
    found = extracted("a.jpg", picture(dpi=(72, 72)))
    assert found.media == {
        **FACTS, "format": "jpeg", "width": 40, "height": 20, "dpi": 72, "color_mode": "RGB", "orientation": "landscape",
        "frame_count": 1,
    }  # fmt: skip
    assert found.warnings == ()


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
    tight = ExtractLimits(seconds=300, memory=150_000_000, max_pixels=1_000_000_000)
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
