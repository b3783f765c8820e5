"""Which Unicode encoding bytes are in, by the mark before them or by where their zeros stand, and whether they are text."""

from __future__ import annotations

import codecs
import unicodedata

_MARKS = (
    (codecs.BOM_UTF8, "utf-8-sig"),
    (codecs.BOM_UTF32_LE, "utf-32"),
    (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)
_SAMPLE = 65_536
_PLAIN = bytes(byte for byte in range(256) if byte >= 0x20 or byte in b"\t\n\v\f\r\x1b")
_PLAIN_CONTROLS = "\t\n\v\f\r\x1b\ufeff"
_NO_CHARACTER = ("Cc", "Cn", "Co", "Cs")
_STRANGE = 100  # one of so many characters of a text may be a control character
_ZEROS = 0.9  # of UTF-16 without a mark, which is known by the zeros of Latin letters


def encoding_shown(raw: bytes) -> str:
    """The encoding that a mark or the zeros of UTF-16 show; empty where nothing shows one."""
    for mark, encoding in _MARKS:
        if raw.startswith(mark):
            return encoding
    even, odd = raw[0:_SAMPLE:2], raw[1:_SAMPLE:2]
    first, second = even.count(0), odd.count(0)
    if len(odd) > 1 and not first and second >= _ZEROS * len(odd):
        return "utf-16-le"
    if len(odd) > 1 and not second and first >= _ZEROS * len(even):
        return "utf-16-be"
    return ""


def is_text(head: bytes) -> bool:
    """Whether the beginning of a file is text: in Unicode that says so, or in one of the older encodings. Those of
    Chinese and Japanese as well keep clear of the control characters."""
    encoding = encoding_shown(head)
    if encoding and encoding != "utf-8-sig":
        return _is_written(_decoded(head, encoding, "replace"))
    return not head.translate(None, _PLAIN)


def is_text_with_slips(head: bytes) -> bool:
    """Whether it is UTF-8 in which a control character stands here and there, as logs have them."""
    try:
        return _is_written(_decoded(head, "utf-8", "strict"))
    except UnicodeDecodeError:
        return False


def _decoded(head: bytes, encoding: str, errors: str) -> str:
    """The text; a character that is cut off at the end is left out."""
    return codecs.getincrementaldecoder(encoding)(errors).decode(head)


def _is_written(text: str) -> bool:
    strange = sum(
        each == "\ufffd" or (each not in _PLAIN_CONTROLS and unicodedata.category(each) in _NO_CHARACTER)
        for each in text
    )
    return strange * _STRANGE <= len(text)
