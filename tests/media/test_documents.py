"""Importing documents: what is kept of them, once and again, how they are listed, and what is no source."""

from __future__ import annotations

import base64

import pytest

from media.contracts.documents import AddDocumentInput
from media.models import MediaObject, SourceDocument, SourceSection
from search.models import IndexEntry
from tests.conftest import TEAM
from tests.guards.write_guard import unguarded
from tests.media import files
from tests.media.imports import PROJECT, TEXT, add, found, peer, refused, sections

__all__ = ["peer"]


def test_it_works(cast):
    made = add(cast.agent, tags=["Plans"], metadata={"mine": [1]})
    assert (made["status"], made["media_type"], made["section_count"], made["warnings"]) == (
        "success",
        "document",
        2,
        [],
    )
    assert made["metadata"]["mine"] == [1]
    assert made["metadata"]["semantic"]["tags"] == ["Plans"]
    told = cast.agent.do("get_document", document_id=made["document_id"])
    assert (told["document"]["title"], told["document"]["own"], told["document"]["scopes"]) == ("Plan", True, [])
    first, second = told["sections"]
    assert (first["title"], second["title"], second["tags"]) == ("Database", "水果", ["Plans"])
    assert first["metadata"] == {"chunk_index": 0, "offset_start": 0, "offset_end": 72, "section_title": "Database"}
    listed = cast.agent.do("list_documents", domain_id=TEAM)["documents"]
    assert [each["id"] for each in listed] == [made["document_id"]]


def test_the_metadata_has_every_key(cast):
    told = add(cast.agent)["metadata"]
    assert told["media"] == {
        "format": "md", "width": None, "height": None, "dpi": None, "color_mode": None, "orientation": None, "exif": {},
        "duration_ms": None, "bitrate_bps": None, "sample_rate_hz": None, "channels": None, "codec": None, "fps": None,
        "audio_codec": None, "frame_count": None,
    }  # fmt: skip
    assert told["semantic"] == {"description": None, "captions": [], "tags": []}
    assert (told["media_type"], told["content"], told["schema_version"]) == ("document", TEXT, 1)
    assert "title" not in told


def test_the_content_is_cut_and_the_sections_are_not(cast):
    text = "The database is Postgres. " * 1000
    made = add(cast.agent, text)
    assert len(made["metadata"]["content"]) == 4000
    told = "".join(section["content"] for section in sections(cast.agent, made["document_id"]))
    assert told.count("Postgres") == 1000


def test_a_file_of_bytes(cast, tmp_path):
    raw = files.pdf(tmp_path / "a.pdf").read_bytes()
    made = add(cast.agent, data=base64.b64encode(raw).decode(), name="C:\\secret\\report.pdf")
    told = cast.agent.do("get_document", document_id=made["document_id"])
    assert (told["document"]["title"], told["document"]["author"]) == ("The report", "Ann")
    assert (told["metadata"]["file_name"], told["metadata"]["file_type"]) == ("report.pdf", "application/pdf")
    assert (told["metadata"]["file_size"], told["document"]["source_type"]) == (len(raw), "file")
    assert told["sections"][0]["metadata"]["page"] == 1


def test_an_own_title_wins(cast):
    made = add(cast.agent, title="Mine", author="Me", language="de", publication_date="2020-02-03")
    told = cast.agent.do("get_document", document_id=made["document_id"])["document"]
    assert (told["title"], told["author"], told["language"]) == ("Mine", "Me", "de")
    assert told["publication_date"] == "2020-02-03"


# Importing again


@pytest.mark.parametrize("options", [{}, {"source_uri": "https://example.org/plan"}], ids=["bytes", "address"])
def test_the_same_again_is_the_same_document(cast, options):
    first, second = add(cast.agent, **options), add(cast.agent, **options)
    assert (first["document_id"], first["section_count"]) == (second["document_id"], second["section_count"])
    assert SourceSection.objects.count() == 2
    assert IndexEntry.objects.filter(kind="section").count() == 2


def test_another_text_of_the_same_source_replaces_its_sections(cast):
    uri = "https://example.org/plan"
    first = add(cast.agent, source_uri=uri, scopes=(PROJECT,), tags=["old"])
    kept = {each["title"]: each["id"] for each in sections(cast.agent, first["document_id"])}
    second = add(cast.agent, TEXT.replace("Postgres", "DuckDB") + "\n## New\n\nMore.\n", source_uri=uri)
    assert second["document_id"] == first["document_id"]
    now = sections(cast.agent, first["document_id"])
    assert [each["title"] for each in now] == ["Database", "水果", "New"]
    assert [each["number"] for each in now] == [1, 2, 3]
    assert now[1]["id"] == kept["水果"], "what did not change stays the same section, with its tags"
    assert [each["tags"] for each in now] == [["old"], ["old"], []], "what stands in its place is filed as it was"
    assert found(cast.agent, "Postgres") == []
    assert "DuckDB" in found(cast.agent, "DuckDB")[0]


def test_a_new_title_or_date_is_found_for_every_section(cast):
    add(cast.agent, source_uri="x:1", title="Quokka", scopes=(PROJECT,))
    assert len(found(cast.agent, "quokka")) == 2
    add(cast.agent, source_uri="x:1", title="Wombat", publication_date="2020-02-03", scopes=(PROJECT,))
    assert (len(found(cast.agent, "wombat")), found(cast.agent, "quokka")) == (2, [])
    entries = IndexEntry.objects.filter(kind="section")
    assert (entries.count(), {each.event_time.year for each in entries}) == (4, {2020})


def test_sections_that_change_places_stay_the_same(cast):
    parts = [f"## Part {n}\n\nText {n}.\n\n" for n in range(5)]
    first = add(cast.agent, "".join(parts), source_uri="x:1")
    before = {each["title"]: each["id"] for each in sections(cast.agent, first["document_id"])}
    add(cast.agent, "".join(reversed(parts)), source_uri="x:1")
    after = sections(cast.agent, first["document_id"])
    assert [each["title"] for each in after] == [f"Part {n}" for n in reversed(range(5))]
    assert {each["title"]: each["id"] for each in after} == before


def test_two_owners_of_one_address_have_two_documents(cast, peer):
    uri = "https://example.org/plan"
    mine, theirs = add(cast.agent, source_uri=uri), add(peer, "# Other\n\nWords.", source_uri=uri)
    assert mine["document_id"] != theirs["document_id"]
    assert cast.agent.do("get_document", document_id=mine["document_id"])["document"]["title"] == "Plan"


def test_one_key_of_idempotency_imports_once(cast):
    given = {"domain_id": TEAM, "options": {"text": TEXT}, "idempotency_key": "k1"}
    first, second = cast.agent.do("add_document", given), cast.agent.do("add_document", given)
    assert (second["document_id"], second["deduplicated"]) == (first["document_id"], True)


def test_the_bytes_are_kept_once_and_let_go_of(cast, peer):
    uri = "https://example.org/plan"
    first, theirs = add(cast.agent, source_uri=uri), add(peer)
    assert list(MediaObject.objects.values_list("reference_count", flat=True)) == [2]
    add(cast.agent, "# Other\n\nText", source_uri=uri)
    assert sorted(MediaObject.objects.values_list("reference_count", flat=True)) == [1, 1]
    for player, made in ((cast.agent, first), (peer, theirs)):
        player.do("remove_document", document_id=made["document_id"], reason="old")
    assert sorted(MediaObject.objects.values_list("reference_count", flat=True)) == [0, 0]


def test_an_own_upload_is_imported_and_no_other(cast, peer):
    add(cast.agent)
    upload = f"upload:{MediaObject.objects.get().pk}"
    made = add(cast.agent, source=upload, name="plan.md", source_uri="x:copy")
    assert made["section_count"] == 2
    assert refused(peer, "add_document", domain_id=TEAM, source=upload) == (404, "not_found")


def test_the_only_domain_is_the_default(cast):
    made = cast.agent.do("add_document", options={"text": "# A\n\nb"})
    assert cast.agent.do("get_document", document_id=made["document_id"])["document"]["domain_id"] == TEAM


# What is no source


@pytest.mark.parametrize(
    "source", ["/etc/passwd", "file:///etc/passwd", "s3://bucket/x", "../x", "ftp://example.org/x", "local://aa/bb"]
)
def test_nothing_is_read_from_the_server(cast, source):
    assert refused(cast.agent, "add_document", domain_id=TEAM, source=source) == (422, "invalid_input")


@pytest.mark.parametrize(
    ("source", "options", "status"),
    [
        ("", {}, 422),
        ("https://example.org/x", {"text": "x"}, 422),
        ("", {"text": "x", "data": "eA=="}, 422),
        ("", {"text": ""}, 422),
        ("", {"data": "no base64!"}, 422),
        ("", {"text": "x", "metadata": {"media_type": "image"}}, 422),
        ("", {"text": "x", "metadata": {"storage_uri": "s3://x"}}, 422),
        ("", {"text": "x", "delete_source_after": True}, 422),
        ("", {"text": "x", "language": "EN-us"}, 422),
        ("", {"text": "x", "tags": [" "]}, 422),
        ("", {"text": "x", "title": "x" * 256}, 422),
        ("", {"text": "x", "url": "https://example.org/a", "source_uri": "https://example.org/b"}, 422),
        ("", {"data": base64.b64encode(b"%PDF-nonsense").decode(), "name": "a.pdf"}, 422),
        ("upload:not-an-id", {}, 404),
        ("upload:019abcde-0000-7000-8000-000000000000", {}, 404),
    ],
)
def test_bad_input_is_refused(cast, source, options, status):
    given = {"domain_id": TEAM, "source": source, "options": options}
    assert refused(cast.agent, "add_document", **given)[0] == status
    assert not SourceDocument.objects.exists()


@pytest.mark.parametrize("source", ["HTTPS://Example.org/", "Http://example.org/a"])
def test_an_address_may_be_in_large_letters(source):
    assert AddDocumentInput.parse({"source": source}).source == source


def test_an_older_client_calls_the_address_url(cast):
    one = cast.agent.do("add_document", domain_id=TEAM, options={"text": "One", "url": "https://example.org/a"})
    two = cast.agent.do("add_document", domain_id=TEAM, options={"text": "Two", "source_uri": "https://example.org/a"})
    assert one["document_id"] == two["document_id"]
    assert SourceDocument.objects.get().source_uri == "https://example.org/a"


@pytest.mark.parametrize("name", ["old.doc", "old.xls", "a.bin"])
def test_a_document_that_nothing_reads_is_unsupported(cast, name):
    raw = base64.b64encode(b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1 nonsense \x00").decode()
    made = cast.agent.do("add_document", domain_id=TEAM, options={"data": raw, "name": name})
    assert made["status"] == "unsupported"
    assert any(warning.startswith("format_not_read") for warning in made["warnings"])


@pytest.mark.parametrize(
    ("name", "content", "named"),
    [
        ("n.txt", b"\xff\xd8\xff\xe0\x00\x10JFIF\x00" + bytes(40), "jpg"),
        ("x.md", b"\x7fELF\x02\x01\x01\x00" + bytes(40), "executable"),
        ("d.json", bytes(range(256)), "unknown"),
        ("a.log", b"a\x00b\x01" * 50, "unknown"),
    ],
)
def test_bytes_under_the_name_of_a_text_are_not_read_as_text(cast, name, content, named):
    data = base64.b64encode(content).decode()
    made = cast.agent.do("add_document", domain_id=TEAM, options={"data": data, "name": name})
    assert made["status"] == "unsupported"
    assert f"format_not_read:{named}" in made["warnings"]
    assert SourceSection.objects.get().content.split("\n")[0] == name


@pytest.mark.parametrize("before", [b"\n", b"\xef\xbb\xbf", b"HTTP/1.1 200 OK\r\n\r\n"])
def test_a_pdf_that_begins_a_little_later_is_read(cast, tmp_path, before):
    raw = before + files.pdf(tmp_path / "a.pdf", "Melons are ripe").read_bytes()
    data = base64.b64encode(raw).decode()
    made = cast.agent.do("add_document", domain_id=TEAM, options={"data": data, "name": "a.pdf"})
    assert (made["status"], made["warnings"], made["metadata"]["media"]["format"]) == ("success", [], "pdf")
    assert "Melons are ripe" in SourceSection.objects.get().content


def test_what_nothing_reads_is_stored_and_found_by_its_name(cast):
    raw = base64.b64encode(b"\x00\x01\x02 binary").decode()
    made = cast.agent.do(
        "add_media", domain_id=TEAM, options={"data": raw, "name": "quarterly.blob", "tags": ["melons"]}
    )
    assert (made["media_type"], made["status"], made["section_count"]) == ("other", "unsupported", 1)
    assert SourceDocument.objects.get(pk=made["document_id"]).state == "failed", "the front page counts it as not read"
    assert made["warnings"] == ["format_not_read:blob"]
    assert "melons" in found(cast.agent, "quarterly")[0]


def test_a_list_pages_through_everything_once(cast):
    ids = [add(cast.agent, f"# Doc {n}\n\nText {n}.")["document_id"] for n in range(5)]
    seen, cursor = [], None
    while True:
        answer = cast.agent.do("list_documents", domain_id=TEAM, limit=2, **({"cursor": cursor} if cursor else {}))
        seen += [each["id"] for each in answer["documents"]]
        cursor = answer["next_cursor"]
        if cursor is None:
            break
    assert seen == ids[::-1]


def test_filters_of_the_list(cast, peer):
    first = add(cast.agent, scopes=(PROJECT,), tags=["Ｐlans"], source_uri="https://example.org/a", language="zh")
    add(peer, "# B\n\nb", source_type="memory_snapshot", scopes=(PROJECT,))
    for fields in (
        {"own": True}, {"tag": "plans"}, {"source_uri_prefix": "https://example.org/"}, {"language": "zh"},
        {"source_type": "manual"}, {"scope": PROJECT, "own": True},
    ):  # fmt: skip
        listed = cast.agent.do("list_documents", domain_id=TEAM, **fields)["documents"]
        assert [each["id"] for each in listed] == [first["document_id"]], fields
    for other in (
        {"media_type": "image"}, {"tag": "none"}, {"scope": {"type": "task", "id": "t"}},
        {"source_uri_prefix": "https://EXAMPLE.org/"}, {"source_uri_prefix": "https://example.org/_"},
    ):  # fmt: skip
        assert cast.agent.do("list_documents", other, domain_id=TEAM)["documents"] == [], other


def test_tags_are_told_in_one_order_on_both_databases(cast):
    made = add(cast.agent, "# A\n\nb", tags=["é", "z", "a"])
    assert sections(cast.agent, made["document_id"])[0]["tags"] == ["a", "z", "é"]


def test_importing_again_finds_sections_that_the_index_lost(cast):
    add(cast.agent)
    with unguarded():
        IndexEntry.objects.filter(kind="section").earliest("pk").delete()
    before = IndexEntry.objects.filter(kind="section").count()
    add(cast.agent)
    assert IndexEntry.objects.filter(kind="section").count() == before + 1
