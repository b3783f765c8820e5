"""Pictures, sound and addresses are imported as documents (cases 88 to 91, 102, 104, 107, 108)."""

from __future__ import annotations

import base64

import pytest

from kernel.errors import DomainError, ForbiddenError, InvalidInputError, TooLargeError
from kernel.ids import new_id
from media.extracting import FACTS, Capability, Finding, Segment, providers
from media.models import MediaObject, SourceDocument, SourceSection
from search.models import IndexEntry
from tests.conftest import TEAM
from tests.guards.write_guard import unguarded
from tests.media.keeping import check
from tests.media.pictures_and_sound import Reader, picture, png, sound
from tests.media.sites import page, serving

pytestmark = pytest.mark.usefixtures("media_folder")


def add(player, action: str, name: str, content: bytes, **options: object) -> dict:
    data = base64.b64encode(content).decode()
    made: dict = player.do(action, domain_id=TEAM, options={"name": name, "data": data, **options})
    return made


def test_it_works(cast):
    made = add(cast.agent, "add_image", "whiteboard.jpg", picture(dpi=(72, 72)), title="Board", tags=["kickoff"])
    assert (made["media_type"], made["status"], made["section_count"]) == ("image", "success", 1)
    kept = SourceDocument.objects.get().metadata
    assert kept["media_type"] == "image"
    assert kept["media"] == {
        **FACTS, "format": "jpeg", "width": 40, "height": 20, "dpi": 72, "color_mode": "RGB", "orientation": "landscape",
        "frame_count": 1,
    }  # fmt: skip
    assert kept["semantic"] == {"description": None, "captions": [], "tags": ["kickoff"]}
    assert "title" not in kept
    assert [warning.partition(":")[0] for warning in made["warnings"]] == ["no_ocr", "no_caption"]
    row = MediaObject.objects.get()
    assert (row.reference_count, row.mime) == (1, "image/jpeg")


def test_sound_without_a_transcriber_is_found_by_its_name_and_tags(cast):
    made = add(cast.agent, "add_audio", "standup.wav", sound(), tags=["meeting"])
    assert (made["status"], made["metadata"]["media"]["duration_ms"]) == ("success", 1500)
    assert [warning.partition(":")[0] for warning in made["warnings"]] == ["no_transcript"]
    assert SourceSection.objects.get().content.split("\n") == ["standup.wav", "meeting"]


def test_what_the_caller_does_not_want_is_not_missed(cast):
    assert add(cast.agent, "add_audio", "a.wav", sound(), transcribe=False)["warnings"] == []


def test_what_was_said_becomes_sections_with_their_times(cast, monkeypatch):
    said = (
        Segment("audio_transcript", "Let us begin.", 1500, 3200, "Alice"),
        Segment("audio_transcript", "Yes.", 65_000, 66_000),
    )
    heard = Reader(Capability.TRANSCRIPT, Finding(segments=said))
    monkeypatch.setattr(providers, "_providers", [heard, *providers._providers])
    made = add(cast.agent, "add_audio", "a.wav", sound())
    assert (made["section_count"], made["warnings"]) == (2, [])
    first, second = SourceSection.objects.order_by("number")
    assert (first.title, second.title) == ("Transcript 00:00:01", "Transcript 00:01:05")
    place = {name: first.metadata[name] for name in ("start_ms", "end_ms", "speaker", "extraction_kind")}
    assert place == {"start_ms": 1500, "end_ms": 3200, "speaker": "Alice", "extraction_kind": "audio_transcript"}
    assert made["metadata"]["semantic"]["captions"] == ["Let us begin.", "Yes."]


def test_what_a_picture_shows_is_found(cast, monkeypatch):
    found = [
        Reader(Capability.OCR, Finding(text="Q3 路线图")),
        Reader(Capability.CAPTION, Finding(description="A whiteboard.", captions=("A flow chart.",))),
    ]
    monkeypatch.setattr(providers, "_providers", [*found, *providers._providers])
    made = add(cast.agent, "add_image", "a.png", picture("PNG"))
    assert made["metadata"]["semantic"] == {"description": "A whiteboard.", "captions": ["A flow chart."], "tags": []}
    assert SourceSection.objects.get().content.split("\n") == ["a.png", "A whiteboard.", "A flow chart.", "Q3 路线图"]


@pytest.mark.parametrize(
    ("name", "content", "kind", "form"),
    [
        ("code.ts", b"export const melon = 1;", "document", "txt"),
        ("n.mp3", "西瓜 notes".encode(), "document", "txt"),
        ("photo.jpg", b"<!DOCTYPE html><p>Melon</p>", "document", "html"),
        ("n.txt", picture("PNG"), "image", "png"),
        ("page.html", picture(), "image", "jpeg"),
    ],
)
def test_where_nobody_said_what_it_is_the_content_counts(cast, name, content, kind, form):
    made = add(cast.agent, "add_media", name, content, llm_caption=False)
    assert (made["media_type"], made["status"], made["metadata"]["media"]["format"]) == (kind, "success", form)
    assert "content_mismatch" in [warning.partition(":")[0] for warning in made["warnings"]]


@pytest.mark.parametrize(
    ("action", "name", "content", "error"),
    [
        ("add_image", "a.png", png(50_000, 50_000), TooLargeError),
        ("add_image", "a.jpg", b"\xff\xd8\xff\xe0\x00", InvalidInputError),
        ("add_image", "a.jpg", b"plain text", InvalidInputError),
        ("add_video", "code.ts", b"export const a = 1;", InvalidInputError),
        ("add_audio", "a.wav", sound(rate=1, seconds=7201, width=1), TooLargeError),
    ],
)
def test_what_is_refused_leaves_bytes_that_can_be_collected(cast, action, name, content, error):
    with pytest.raises(error):
        add(cast.agent, action, name, content)
    assert not SourceDocument.objects.exists()
    assert {row.reference_count for row in MediaObject.objects.all()} <= {0}


@pytest.fixture
def site(monkeypatch, set_conf, tmp_path):
    set_conf(media_allowed_hosts="docs.example.org", data_dir=tmp_path)
    with serving() as made:
        monkeypatch.setattr("media.fetching.bringing.Network", lambda: made.network)
        yield made


URL = "http://docs.example.org/files/plan.md"


def test_an_address_is_fetched_and_known_by_its_address(cast, site):
    site.pages["/files/plan.md"] = page(b"# Plan\n\nShip it.", Content_Type="text/markdown")
    first = cast.agent.do("add_document", domain_id=TEAM, source=URL)
    site.pages["/files/plan.md"] = page(b"# Plan\n\nDo not ship it.", Content_Type="text/markdown")
    again = cast.agent.do("add_document", domain_id=TEAM, source=URL)
    assert again["document_id"] == first["document_id"]
    row = SourceDocument.objects.get()
    assert (row.title, row.source_type, row.source_uri) == ("Plan", "url", URL)
    assert SourceSection.objects.get().content.endswith("Do not ship it.")
    assert sorted(MediaObject.objects.values_list("reference_count", flat=True)) == [0, 1]


def test_two_owners_of_one_address_have_two_documents_of_the_same_bytes(cast, site):
    site.pages["/files/plan.md"] = page(b"# Plan")
    other = cast.operator.do("add_document", domain_id=TEAM, source=URL)
    mine = cast.agent.do("add_document", domain_id=TEAM, source=URL)
    assert mine["document_id"] != other["document_id"]
    assert MediaObject.objects.get().reference_count == 2


@pytest.mark.parametrize(
    ("url", "error"),
    [
        ("http://other.example.org/a", ForbiddenError),
        ("http://docs.example.org:22/a", ForbiddenError),
        ("http://user:pw@docs.example.org/a", InvalidInputError),
    ],
)
def test_an_address_that_may_not_be_asked_leaves_nothing(cast, site, url, error):
    with pytest.raises(error):
        cast.agent.do("add_document", domain_id=TEAM, source=url)
    assert (site.reached, MediaObject.objects.exists()) == ([], False)


def test_an_address_inside_our_network_leaves_nothing(cast, site):
    site.names["docs.example.org"] = [["10.0.0.1"]]
    with pytest.raises(InvalidInputError, match="no address that may be reached"):
        cast.agent.do("add_document", domain_id=TEAM, source=URL)
    assert not MediaObject.objects.exists()


def test_without_the_operators_word_nothing_is_fetched(cast):
    with pytest.raises(DomainError, match="SMARTBRAIN_MEDIA_ALLOWED_HOSTS"):
        cast.agent.do("add_document", domain_id=TEAM, source=URL)


def test_a_check_compares_the_index_too(cast):
    add(cast.agent, "add_image", "a.jpg", picture())
    assert check(deep=True) == []
    section = SourceSection.objects.get()
    with unguarded():
        entry = IndexEntry.objects.get(object_id=section.pk)
        IndexEntry.objects.filter(pk=entry.pk).update(object_id=new_id())
    assert [fault["kind"] for fault in check()] == ["unindexed", "stale_entry"]
    assert check()[0]["name"] == str(section.pk)
