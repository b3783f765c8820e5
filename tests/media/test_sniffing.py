"""What a file is taken for: by its name, by its content, and where the two disagree (case 87)."""

from __future__ import annotations

import io
import wave
import zipfile

import pytest
from PIL import Image

from media.contracts.kinds import MediaType
from media.sniffing import EXTENSIONS, extension_of, media_type_of_name, sniff

MISMATCH = "content_mismatch"
IMAGES = ["jpg", "jpeg", "png", "gif", "webp", "bmp", "tif", "tiff", "heic", "heif"]
AUDIO = ["mp3", "wav", "m4a", "aac", "flac", "ogg", "oga", "opus", "wma", "aif", "aiff"]
VIDEO = ["mp4", "mkv", "mov", "webm", "avi", "flv", "wmv", "m4v", "ts", "mpeg", "mpg"]
DOCUMENTS = ["pdf", "doc", "docx", "xls", "xlsx", "ppt", "pptx", "md", "txt", "html", "csv", "json"]


def picture(form: str) -> bytes:
    out = io.BytesIO()
    Image.new("RGB", (3, 2), "red").save(out, form)
    return out.getvalue()


def archive(*names: str, first: tuple[str, bytes] | None = None) -> bytes:
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as made:
        if first:
            made.writestr(*first)
        for name in names:
            made.writestr(name, b"<x/>")
    return out.getvalue()


def sound() -> bytes:
    out = io.BytesIO()
    with wave.open(out, "wb") as made:
        made.setnchannels(1)
        made.setsampwidth(2)
        made.setframerate(8000)
        made.writeframes(b"\x00\x01" * 80)
    return out.getvalue()


@pytest.fixture
def sniffed(tmp_path):
    def call(name: str, content: bytes):
        path = tmp_path / "upload"
        path.write_bytes(content)
        return sniff(name, path)

    return call


def test_it_works(sniffed):
    found = sniffed("Whiteboard.JPG", picture("JPEG"))
    assert (found.media_type, found.mime, found.extension, found.warnings) == ("image", "image/jpeg", "jpg", ())


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        *[(f"a.{extension}", "image") for extension in IMAGES],
        *[(f"a.{extension}", "audio") for extension in AUDIO],
        *[(f"a.{extension}", "video") for extension in VIDEO],
        *[(f"a.{extension}", "document") for extension in DOCUMENTS],
        *[("a.xyz", "other"), ("a", "other"), ("", "other"), (".jpg", "other"), ("a.jpg.exe", "other")],
        *[("C:\\photos\\a.PNG", "image"), ("/srv/a.b/c", "other"), ("报告.MD", "document")],
    ],
)
def test_a_name_claims_a_class(name, expected):
    assert media_type_of_name(name) == expected


def test_every_class_is_one_of_the_closed_list():
    assert {kind for kind, _ in EXTENSIONS.values()} < {kind.value for kind in MediaType}


def test_an_extension_is_lower_case_and_without_its_dot():
    assert [extension_of(name) for name in ("A.TXT", "a", "a.tar.GZ", "..", "a.")] == ["txt", "", "gz", "", ""]


MP4 = b"\x00\x00\x00\x18ftypisom" + bytes(40)
CONTENTS = {
    "image/jpeg": picture("JPEG"),
    "image/png": picture("PNG"),
    "image/gif": picture("GIF"),
    "image/webp": picture("WEBP"),
    "image/bmp": picture("BMP"),
    "image/tiff": picture("TIFF"),
    "image/heic": b"\x00\x00\x00\x18ftypheic" + bytes(40),
    "image/svg+xml": b'<?xml version="1.0"?><svg xmlns="http://www.w3.org/2000/svg"/>',
    "audio/wav": sound(),
    "audio/mpeg": b"ID3\x04\x00" + bytes(40),
    "audio/aac": b"\xff\xf1\x50\x80\x00\x00\x00" + bytes(40),
    "audio/flac": b"fLaC\x00\x00\x00\x22" + bytes(40),
    "audio/ogg": b"OggS\x00\x02" + bytes(20) + b"OpusHead",
    "audio/aiff": b"FORM\x00\x00\x00\x10AIFFCOMM" + bytes(40),
    "audio/mp4": b"\x00\x00\x00\x18ftypM4A " + bytes(40),
    "video/mp4": MP4,
    "video/quicktime": b"\x00\x00\x00\x18ftypqt  " + bytes(40),
    "video/webm": b"\x1a\x45\xdf\xa3\x00\x42\x82\x84webm" + bytes(40),
    "video/x-matroska": b"\x1a\x45\xdf\xa3\x00\x42\x82\x88matroska" + bytes(40),
    "video/ogg": b"OggS\x00\x02" + bytes(20) + b"\x80theora",
    "video/x-msvideo": b"RIFF\x00\x01\x00\x00AVI LIST" + bytes(40),
    "video/x-flv": b"FLV\x01\x05\x00\x00\x00\x09" + bytes(40),
    "video/mpeg": b"\x00\x00\x01\xba" + bytes(40),
    "video/mp2t": (b"G" + bytes(187)) * 3,
    "application/pdf": b"%PDF-1.7\n1 0 obj\n",
    "application/zip": archive("a.txt"),
    "application/epub+zip": archive("a.xml", first=("mimetype", b"application/epub+zip")),
    EXTENSIONS["docx"][1]: archive("[Content_Types].xml", "word/document.xml"),
    EXTENSIONS["xlsx"][1]: archive("[Content_Types].xml", "xl/workbook.xml"),
    EXTENSIONS["pptx"][1]: archive("[Content_Types].xml", "ppt/presentation.xml"),
    "application/x-ole-storage": b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + bytes(40),
    "application/rtf": b"{\\rtf1 hello}",
    "application/xml": b'<?xml version="1.0"?><a/>',
    "application/json": b' {"a": 1}',
    "application/gzip": b"\x1f\x8b\x08\x00" + bytes(20),
    "application/x-executable": b"\x7fELF\x02\x01\x01\x00" + bytes(20),
    "application/x-msdownload": b"MZ\x90\x00" + bytes(20),
    "application/octet-stream": b"\x01\x02\x03\x00\x04",
    "text/html": b"\xef\xbb\xbf\n<!DOCTYPE HTML><title>x</title>",
    "text/plain": "默认数据库是 MySQL".encode(),
}


@pytest.mark.parametrize("mime", CONTENTS)
def test_a_name_that_says_nothing_leaves_it_to_the_content(sniffed, mime):
    found = sniffed("upload.bin2", CONTENTS[mime])
    assert (found.mime, found.warnings) == (mime, ())


@pytest.mark.parametrize(
    ("mime", "expected"),
    [
        *[("image/png", "image"), ("audio/flac", "audio"), ("video/webm", "video"), ("application/pdf", "document")],
        *[("text/plain", "document"), ("application/zip", "other"), ("application/x-executable", "other")],
        *[("application/octet-stream", "other"), ("application/epub+zip", "document"), ("text/html", "document")],
    ],
)
def test_the_class_follows_the_content_where_the_name_says_nothing(sniffed, mime, expected):
    assert sniffed("upload", CONTENTS[mime]).media_type == expected


@pytest.mark.parametrize(
    ("name", "mime", "kind"),
    [
        *[("a.jpg", "image/png", "image"), ("a.png", "text/html", "document"), ("a.txt", "image/jpeg", "image")],
        *[("a.mp3", "text/plain", "document"), ("a.ts", "text/plain", "document"), ("a.html", "image/jpeg", "image")],
        *[
            ("a.jpg", "application/pdf", "document"),
            ("a.pdf", "text/html", "document"),
            ("a.wav", "video/mp4", "video"),
        ],
        # of what is of no class, the name's stands
        *[("a.mp3", "application/x-executable", "audio"), ("a.docx", "application/zip", "document")],
        *[("a.jpg", "application/octet-stream", "image"), ("a.json", "application/octet-stream", "document")],
    ],
)
def test_where_a_name_lies_the_content_counts(sniffed, name, mime, kind):
    found = sniffed(name, CONTENTS[mime])
    assert (found.media_type, found.mime) == (kind, mime)
    assert [warning.partition(":")[0] for warning in found.warnings] == [MISMATCH]


PDF = b"%PDF-1.4\n1 0 obj<<>>endobj\ntrailer<<>>\nstartxref\n9\n%%EOF\n"


@pytest.mark.parametrize(
    "before",
    [b"", b"\n", b"\xef\xbb\xbf", b"\xef\xbb\xbf\r\n \n", b"X-Header: 1\r\n\r\n", b"\x00\x01\xff" * 40 + b"\n"],
)
def test_a_pdf_may_begin_a_little_later(sniffed, before):
    assert sniffed("a.pdf", before + PDF).warnings == ()
    assert sniffed("a", before + PDF).mime == "application/pdf"


@pytest.mark.parametrize(
    "text",
    [b"A PDF begins with %PDF-1.4 and ends so.", b"Header:\n%PDF-1.4\nis all.", b"\n" * 1100 + PDF],
)
def test_a_text_about_pdf_is_text(sniffed, text):
    assert sniffed("a.txt", text).mime == "text/plain"


def test_an_archive_that_holds_a_pdf_is_an_archive(sniffed):
    assert sniffed("a", archive(first=("a.pdf", PDF))).mime == "application/zip"


@pytest.mark.parametrize(
    ("name", "mime", "form"),
    [
        *[("a.JPEG", "image/jpeg", "jpeg"), ("a.txt", "image/jpeg", "jpg"), ("a.png", "application/pdf", "pdf")],
        *[("a.log", "text/plain", "log"), ("a.md", "text/plain", "md"), ("a.jpg", "text/plain", "txt")],
        *[
            ("a.log", "image/png", "png"),
            ("a.doc", "application/x-ole-storage", "doc"),
            ("a.svg", "image/svg+xml", "svg"),
        ],
        *[
            ("a.bin", "application/octet-stream", "bin"),
            ("a.md", "application/octet-stream", ""),
            ("a", "text/html", "html"),
        ],
        *[("a.md", "application/x-executable", "executable"), ("a", "application/epub+zip", "epub")],
    ],
)
def test_the_format_is_what_the_content_is(sniffed, name, mime, form):
    assert sniffed(name, CONTENTS[mime]).format == form


@pytest.mark.parametrize(
    "content",
    [
        *[bytes(range(256)) * 8, b"abc\x00" * 100, b"\xff\xfe" + bytes(range(256)) * 8, b"a\x00b\x01" * 90],
        *[b"\x89\x00" * 400, b"words \x01\x02" * 20, b"\xfe\xff" + b"\x00\x01" * 60],
    ],
)
@pytest.mark.parametrize("name", ["n.txt", "x.md", "d.json", "t.csv", "page.html", "s.log"])
def test_bytes_that_are_no_text_are_never_taken_for_it(sniffed, name, content):
    assert not sniffed(name, content).is_text


@pytest.mark.parametrize(
    "content",
    [
        *["Hello".encode("utf-16-le"), "Hello".encode("utf-16-be"), ("文字 with 😀 " * 50).encode("utf-16")],
        *["文字".encode("utf-32"), ("line of a log\n" * 20 + "\x00").encode(), ("文字" * 40_000).encode("utf-16")],
        *[("默认数据库" * 9000).encode("gb18030"), ("資料" * 9000).encode("big5"), b"\x1b[1mbold\x1b[0m"],
    ],
)
def test_text_in_another_encoding_stays_text(sniffed, content):
    found = sniffed("a.txt", content)
    assert (found.mime, found.warnings) == ("text/plain", ())


@pytest.mark.parametrize(
    ("name", "mime"),
    [
        *[("notes.md", "text/html"), ("a.csv", "text/plain"), ("a.txt", "application/json"), ("a.html", "text/plain")],
        *[("a.m4a", "video/mp4"), ("a.mov", "video/mp4"), ("a.mkv", "video/webm")],
        *[("a.doc", "application/x-ole-storage"), ("a.xls", "application/x-ole-storage"), ("a.heif", "image/heic")],
    ],
)
def test_contents_that_have_several_right_names_are_what_the_name_says(sniffed, name, mime):
    found = sniffed(name, CONTENTS[mime])
    assert (found.mime, found.warnings) == (EXTENSIONS[extension_of(name)][1], ())


@pytest.mark.parametrize(
    "text",
    [
        *["BMW is a car", "MZ is a unit", "ID3 tags", "BZh", "RIFF and WAVE", "GIF89a in prose", "PK\n"],
        *["默认数据库".encode("gbk"), "既定".encode("shift-jis"), "데이터".encode("euc-kr"), "über".encode("latin-1")],
        *["文字".encode("utf-16"), "a" * 65_535 + "数"],
    ],
)
def test_text_that_begins_like_a_format_is_text(sniffed, text):
    content = text.encode() if isinstance(text, str) else text
    found = sniffed("a.txt", content)
    assert (found.mime, found.warnings) == ("text/plain", ())


def test_an_empty_file_is_said_to_be_empty(sniffed):
    assert sniffed("a.png", b"").warnings == ("empty_file:The file holds no bytes.",)
    assert sniffed("a", b"").mime == "application/octet-stream"


def test_what_an_archive_says_of_itself_is_never_passed_on(sniffed):
    claimed = archive("a", first=("mimetype", b"text/html\r\nX-Evil: 1"))
    assert sniffed("a", claimed).mime == "application/zip"


def test_a_large_archive_is_known_by_its_end(sniffed):
    content = archive("word/document.xml", first=("[Content_Types].xml", b"x" * 200_000))
    assert sniffed("a.docx", content).warnings == ()
