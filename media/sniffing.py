"""What a file is: the class that its name claims, and the type that its content shows."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

from media.encodings import is_text, is_text_with_slips

UNKNOWN = "application/octet-stream"
_EDGE = 65_536  # bytes that are read of each end of a file

_IMAGE = {
    "jpg": "image/jpeg",
    "jpeg": "image/jpeg",
    "png": "image/png",
    "gif": "image/gif",
    "webp": "image/webp",
    "bmp": "image/bmp",
    "tif": "image/tiff",
    "tiff": "image/tiff",
    "heic": "image/heic",
    "heif": "image/heif",
}
_AUDIO = {
    "mp3": "audio/mpeg",
    "wav": "audio/wav",
    "m4a": "audio/mp4",
    "aac": "audio/aac",
    "flac": "audio/flac",
    "ogg": "audio/ogg",
    "oga": "audio/ogg",
    "opus": "audio/ogg",
    "wma": "audio/x-ms-wma",
    "aif": "audio/aiff",
    "aiff": "audio/aiff",
}
_VIDEO = {
    "mp4": "video/mp4",
    "mkv": "video/x-matroska",
    "mov": "video/quicktime",
    "webm": "video/webm",
    "avi": "video/x-msvideo",
    "flv": "video/x-flv",
    "wmv": "video/x-ms-wmv",
    "m4v": "video/mp4",
    "ts": "video/mp2t",
    "mpeg": "video/mpeg",
    "mpg": "video/mpeg",
}
_DOCUMENT = {
    "pdf": "application/pdf",
    "doc": "application/msword",
    "docx": "application/vnd.openxmlformats-officedocument.wordprocessingml.document",
    "xls": "application/vnd.ms-excel",
    "xlsx": "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet",
    "ppt": "application/vnd.ms-powerpoint",
    "pptx": "application/vnd.openxmlformats-officedocument.presentationml.presentation",
    "md": "text/markdown",
    "markdown": "text/markdown",
    "txt": "text/plain",
    "text": "text/plain",
    "html": "text/html",
    "htm": "text/html",
    "csv": "text/csv",
    "json": "application/json",
}
_CLASSES = {"image": _IMAGE, "audio": _AUDIO, "video": _VIDEO, "document": _DOCUMENT}
EXTENSIONS = {name: (kind, mime) for kind, table in _CLASSES.items() for name, mime in table.items()}
_OPEN_DOCUMENT = "application/vnd.oasis.opendocument"
# Archives whose first entry says what they are: what it says is looked up here and never passed on.
_SELF_NAMED = (
    "application/epub+zip",
    f"{_OPEN_DOCUMENT}.text",
    f"{_OPEN_DOCUMENT}.spreadsheet",
    f"{_OPEN_DOCUMENT}.presentation",
)
_OLE = "application/x-ole-storage"
_ASF = "video/x-ms-asf"
# Short names of types: of several, the first.
_FORMATS = {
    **{mime: name for name, (_, mime) in reversed(EXTENSIONS.items())},
    **{
        f"{_OPEN_DOCUMENT}.{kind}": name
        for kind, name in (("text", "odt"), ("spreadsheet", "ods"), ("presentation", "odp"))
    },
    _OLE: "ole",
    "application/vnd.rar": "rar",
    "application/x-7z-compressed": "7z",
}
_TEXTS = frozenset({"text/plain", "text/markdown", "text/html", "text/csv", "application/json", "application/xml"})
# Types that one content may rightly be called: containers whose parts decide, and plain text of any kind.
_ALIKE = (
    _TEXTS | {"image/svg+xml"},
    frozenset({"video/mp4", "audio/mp4", "video/quicktime"}),
    frozenset({"video/x-matroska", "video/webm"}),
    frozenset({_ASF, "audio/x-ms-wma", "video/x-ms-wmv"}),
    frozenset({"image/heic", "image/heif"}),
    frozenset({_OLE, "application/msword", "application/vnd.ms-excel", "application/vnd.ms-powerpoint"}),
)

_STARTS: tuple[tuple[bytes, str], ...] = (
    (b"\xff\xd8\xff", "image/jpeg"),
    (b"\x89PNG\r\n\x1a\n", "image/png"),
    (b"GIF87a", "image/gif"),
    (b"GIF89a", "image/gif"),
    (b"II*\x00", "image/tiff"),
    (b"MM\x00*", "image/tiff"),
    (b"BM", "image/bmp"),
    (b"ID3", "audio/mpeg"),
    (b"fLaC", "audio/flac"),
    (b"FLV\x01", "video/x-flv"),
    (b"\x00\x00\x01\xba", "video/mpeg"),
    (b"\x00\x00\x01\xb3", "video/mpeg"),
    (b"\x30\x26\xb2\x75\x8e\x66\xcf\x11", _ASF),
    (b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1", _OLE),
    (b"\x1f\x8b", "application/gzip"),
    (b"BZh", "application/x-bzip2"),
    (b"\xfd7zXZ\x00", "application/x-xz"),
    (b"7z\xbc\xaf\x27\x1c", "application/x-7z-compressed"),
    (b"Rar!\x1a\x07", "application/vnd.rar"),
    (b"\x7fELF", "application/x-executable"),
    (b"MZ", "application/x-msdownload"),
)
_RIFF = {b"WEBP": "image/webp", b"WAVE": "audio/wav", b"AVI ": "video/x-msvideo"}
_OFFICE = {
    b"word/document.xml": _DOCUMENT["docx"],
    b"xl/workbook.xml": _DOCUMENT["xlsx"],
    b"ppt/presentation.xml": _DOCUMENT["pptx"],
}
_BRANDS = {
    b"heic": "image/heic",
    b"heix": "image/heic",
    b"mif1": "image/heif",
    b"msf1": "image/heif",
    b"avif": "image/avif",
    b"qt  ": "video/quicktime",
    b"M4A ": "audio/mp4",
    b"M4B ": "audio/mp4",
}
_PDF = b"%PDF-"
_PDF_WITHIN = 1024  # bytes before which a PDF begins, whatever a gateway or an editor put before it
_PDF_LINE = re.compile(rb"^%PDF-\d", re.MULTILINE)
_PDF_END = re.compile(rb"startxref\s+\d+\s+%%EOF")
_MPEG_TS_PACKET = 188
_DOCUMENT_TYPES = frozenset({*_DOCUMENT.values(), *_TEXTS, *_SELF_NAMED, _OLE, "application/rtf"})


@dataclass(frozen=True, slots=True)
class Sniffed:
    """What a file is.

    `media_type` is image, audio, video, document or other: the class of its extension, but of its content where that is
    another that is known. `mime` is what its content shows, and what parsers, limits and headers go by. `extension` is
    lower case, without its dot, and empty where the name has none. `warnings` are `code:sentence`.
    """

    media_type: str
    mime: str
    extension: str
    warnings: tuple[str, ...] = ()

    @property
    def is_text(self) -> bool:
        """Whether its content is text of some kind."""
        return self.mime.startswith("text/") or self.mime in _TEXTS

    @property
    def format(self) -> str:
        """The short name of what it holds, such as `pdf`: its extension where the content is that, or text or unknown
        and the extension none that claims more; empty where nothing is known."""
        claimed = EXTENSIONS.get(self.extension)
        if claimed and claimed[1] == self.mime:
            return self.extension
        if not claimed and self.extension and (self.is_text or self.mime == UNKNOWN):
            return self.extension
        if self.mime == UNKNOWN:
            return ""
        return _FORMATS.get(self.mime) or self.mime.rpartition("/")[2].removeprefix("x-").partition("+")[0]


def extension_of(name: str) -> str:
    """The extension of a file's name, in lower case and without its dot; empty where there is none."""
    return PurePosixPath(name.replace("\\", "/")).suffix.lower().removeprefix(".")


def media_type_of_name(name: str) -> str:
    """The class that a name claims: image, audio, video, document or, where its extension says nothing, other."""
    return EXTENSIONS.get(extension_of(name), ("other", UNKNOWN))[0]


def sniff(name: str, path: Path) -> Sniffed:
    """What the file at `path` is, called `name` by whoever brought it. At most its two ends are read."""
    head, tail = _ends(path)
    extension = extension_of(name)
    claimed = EXTENSIONS.get(extension)
    if not head:
        kind, mime = claimed or ("other", UNKNOWN)
        return Sniffed(kind, mime, extension, ("empty_file:The file holds no bytes.",))
    shown = _type_of_content(head, tail)
    if claimed is None:
        return Sniffed(_class_of(shown), shown, extension)
    kind, mime = claimed
    if _alike(mime, shown):
        return Sniffed(kind, mime, extension)
    what = "of no known type" if shown == UNKNOWN else shown
    warning = f"content_mismatch:The name says .{extension}, the content is {what}: the content counts."
    known = _class_of(shown)
    return Sniffed(kind if known == "other" else known, shown, extension, (warning,))


def _ends(path: Path) -> tuple[bytes, bytes]:
    with path.open("rb") as file:
        head = file.read(_EDGE)
        size = file.seek(0, 2)
        file.seek(max(len(head), size - _EDGE))
        return head, file.read(_EDGE)


def _alike(claimed: str, shown: str) -> bool:
    return claimed == shown or any(claimed in alike and shown in alike for alike in _ALIKE)


def _class_of(mime: str) -> str:
    family = mime.partition("/")[0]
    if family in ("image", "audio", "video"):
        return family
    return "document" if mime in _DOCUMENT_TYPES or family == "text" else "other"


def _type_of_content(head: bytes, tail: bytes) -> str:
    if is_text(head):
        return "application/pdf" if _is_pdf_of_text(head, tail) else _kind_of_text(head)
    if _begins_pdf(head):
        return "application/pdf"
    for start, mime in _STARTS:
        if head.startswith(start):
            return mime
    found = _container(head) or _zipped(head, tail) or _stream(head)
    if found:
        return found
    if _PDF_LINE.search(head, 0, _PDF_WITHIN):
        return "application/pdf"
    return _kind_of_text(head) if is_text_with_slips(head) else UNKNOWN


def _begins_pdf(head: bytes) -> bool:
    return head[:_PDF_WITHIN].removeprefix(b"\xef\xbb\xbf").lstrip().startswith(_PDF)


def _is_pdf_of_text(head: bytes, tail: bytes) -> bool:
    """Whether what is text alone is a PDF: it begins so, or has a header of its own and ends so."""
    if _begins_pdf(head):
        return True
    return bool(_PDF_LINE.search(head, 0, _PDF_WITHIN) and _PDF_END.search((head + tail)[-_PDF_WITHIN:]))


def _container(head: bytes) -> str:
    """RIFF, AIFF, MP4 and Matroska, which say inside what they hold."""
    if head.startswith(b"RIFF"):
        return _RIFF.get(head[8:12], "")
    if head.startswith(b"FORM") and head[8:12] in (b"AIFF", b"AIFC"):
        return "audio/aiff"
    if head[4:8] == b"ftyp":
        return _BRANDS.get(head[8:12], "video/mp4")
    if head.startswith(b"\x1a\x45\xdf\xa3"):
        return "video/webm" if b"webm" in head[:64] else "video/x-matroska"
    if head.startswith(b"OggS"):
        return "video/ogg" if b"theora" in head[:256] else "audio/ogg"
    return ""


def _zipped(head: bytes, tail: bytes) -> str:
    """Archives, told apart by the names at both ends: their directory may be large, and is not read."""
    if not head.startswith((b"PK\x03\x04", b"PK\x05\x06")):
        return ""
    if head[30:38] == b"mimetype":
        return next((mime for mime in _SELF_NAMED if head.startswith(mime.encode(), 38)), "application/zip")
    for name, mime in _OFFICE.items():
        if name in head or name in tail:
            return mime
    return "application/zip"


def _stream(head: bytes) -> str:
    """Formats without a header, known by the pattern of their first frames."""
    if len(head) > 2 * _MPEG_TS_PACKET and all(head[at * _MPEG_TS_PACKET] == 0x47 for at in range(3)):
        return "video/mp2t"
    if len(head) > 2 and head[0] == 0xFF and head[1] & 0xF6 == 0xF0:  # ADTS: the layer bits are zero
        return "audio/aac"
    if len(head) > 2 and head[0] == 0xFF and head[1] & 0xE0 == 0xE0 and head[1] & 0x06 and head[2] & 0xF0 != 0xF0:
        return "audio/mpeg"
    return ""


def _kind_of_text(head: bytes) -> str:
    start = head.removeprefix(b"\xef\xbb\xbf").lstrip()[:512].lower()
    if start.startswith((b"<!doctype html", b"<html")):
        return "text/html"
    if b"<svg" in start and start.startswith((b"<svg", b"<?xml", b"<!doctype svg")):
        return "image/svg+xml"
    if start.startswith(b"<?xml"):
        return "application/xml"
    if start.startswith(b"{\\rtf"):
        return "application/rtf"
    return "application/json" if start.startswith((b"{", b"[")) else "text/plain"
