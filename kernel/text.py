"""Text as data: folding for comparison, and making hidden characters visible."""

from __future__ import annotations

import re
import unicodedata

_SPACE_BETWEEN_CJK = re.compile(
    r"(?<=[\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7af])[ \u3000]+"
    r"(?=[\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7af])"
)
_LINE_BREAKS = dict.fromkeys(map(ord, "\n\t\r"))


def fold(text: str) -> str:
    """The form in which two texts are compared: NFKC, case-folded, white space squeezed and trimmed."""
    return " ".join(unicodedata.normalize("NFKC", text).casefold().split())


def sort_key(text: str) -> bytes:
    """Bytes that order texts alike on every database, whatever its collation."""
    return fold(text).encode("utf-8")


def join_spaced_cjk(text: str) -> str:
    """Drop the spaces that OCR and PDF extraction put between two Han, kana or hangul syllables."""
    return _SPACE_BETWEEN_CJK.sub("", text)


_FILLERS = "\u034f\u115f\u1160\u17b4\u17b5\u180b\u180c\u180d\u180f\u2800\u3164\uffa0"
_UNSEEN_MARKS = re.compile(f"[{_FILLERS}\ufe00-\ufe0d\U000e0100-\U000e01ef]")  # printable, by Unicode's own word


def is_invisible(char: str) -> bool:
    """Whether a reader cannot see this character: controls, format and bidirectional marks, fillers, tag characters and
    those variation selectors that no ordinary text needs."""
    if char in "\n\t\r":
        return False
    return unicodedata.category(char) in {"Cc", "Cf", "Co", "Cn", "Zl", "Zp"} or bool(_UNSEEN_MARKS.match(char))


def has_invisible(text: str) -> bool:
    """Whether the text holds any character that a reader cannot see."""
    return not _is_plain(text) and any(is_invisible(char) for char in text)


def show_invisible(text: str) -> str:
    """The text with each invisible character written as its code point, such as ⟦U+200B⟧."""
    if _is_plain(text):
        return text
    return "".join(f"⟦U+{ord(char):04X}⟧" if is_invisible(char) else char for char in text)


def one_line(text: str, most: int) -> str:
    """A text in one line of at most so many characters."""
    line = " ".join(text.split())
    return line if len(line) <= most else f"{line[: most - 1]}…"


def storable(text: str) -> str:
    """The text as any text column holds it: NUL is shown as ␀, half a surrogate pair as a question mark."""
    return text.replace("\x00", "␀").encode("utf-8", "replace").decode("utf-8")


def _is_plain(text: str) -> bool:
    """A quick yes for most texts, since looking at each character takes long; a no decides nothing."""
    return text.translate(_LINE_BREAKS).isprintable() and not _UNSEEN_MARKS.search(text)


def is_address(text: str) -> bool:
    """Whether it is written as an http(s) address, in large letters or small."""
    return text[:8].lower().startswith(("http://", "https://"))
