"""Who finds what in a file is put together, what nobody finds is named, and a moment becomes a section."""

from __future__ import annotations

from kernel.errors import UnavailableError
from media.extracting import Capability, Finding, Segment, sections_of
from tests.media.extracting.conftest import extracted, register
from tests.media.pictures_and_sound import picture, sound

__all__ = ["extracted", "register"]

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
