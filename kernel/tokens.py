"""The one tokeniser, for indexing, searching and counting: any language, no dictionary, no model.

Rules (version 1): NFKC and case folding; Latin and other alphabetic words as they are and by their snowball stem;
identifiers whole and split at `_`, `-`, `.`, `/` and camel humps; digits kept; Han, kana and hangul runs as bigrams and
single characters, also where they are glued to Latin words; spaces between two such characters are ignored.
"""

from __future__ import annotations

import re
import threading
import unicodedata
from collections import Counter
from collections.abc import Iterator
from functools import lru_cache

import snowballstemmer

from kernel.text import join_spaced_cjk

VERSION = 1

_CJK = (
    "\u3005-\u3007\u3040-\u30ff\u31f0-\u31ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7af\uf900-\ufaff\U00020000-\U0003ffff"
)
_PIECE = re.compile(rf"[{_CJK}]+|[^\W{_CJK}](?:[^\W{_CJK}]|[_\-./'’:@+#](?=[^\W{_CJK}]))*")
_CJK_START = re.compile(rf"[{_CJK}]")
_HUMP = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])")
_SPLIT = re.compile(r"[_\-./:@+#]+")
_CJK_COUNT = re.compile(rf"[{_CJK}]")
_MAX_TERM = 64

STOP_WORDS = frozenset(
    [
        "a",
        "an",
        "and",
        "are",
        "as",
        "at",
        "be",
        "been",
        "but",
        "by",
        "did",
        "do",
        "does",
        "for",
        "from",
        "had",
        "has",
        "have",
        "he",
        "her",
        "him",
        "his",
        "how",
        "i",
        "if",
        "in",
        "is",
        "it",
        "its",
        "me",
        "my",
        "of",
        "on",
        "or",
        "our",
        "she",
        "so",
        "that",
        "the",
        "their",
        "them",
        "then",
        "there",
        "they",
        "this",
        "to",
        "was",
        "we",
        "were",
        "what",
        "when",
        "where",
        "which",
        "who",
        "why",
        "will",
        "with",
        "you",
        "your",
        "的",
        "了",
        "是",
        "在",
        "吗",
        "呢",
        "吧",
        "啊",
        "我",
        "你",
        "他",
        "她",
        "它",
        "们",
    ]
)


def terms(text: str) -> Counter[str]:
    """The index terms of a text with how often each occurs."""
    counted: Counter[str] = Counter()
    for piece in _pieces(text):
        counted.update(_cjk_terms(piece) if _CJK_START.match(piece) else _word_terms(piece))
    return counted


def query_terms(text: str) -> list[str]:
    """The terms to look up for a query, each once, in order; common words are left out unless nothing else is there.

    Single characters of a Han, kana or hangul run are looked up only when the run is one character long, since the
    bigrams of a longer run say more.
    """
    found: dict[str, None] = {}
    for piece in _pieces(text):
        if _CJK_START.match(piece):
            found.update(dict.fromkeys(_bigrams(piece) or [piece]))
        else:
            found.update(dict.fromkeys(_word_terms(piece)))
    telling = [term for term in found if term not in STOP_WORDS]
    return telling or list(found)


def count_tokens(text: str) -> int:
    """An estimate of the tokens a language model would count: one for each CJK character, else four bytes a token."""
    cjk = len(_CJK_COUNT.findall(text))
    other = len(_CJK_COUNT.sub("", text).encode("utf-8"))
    return cjk + (other + 3) // 4


def _pieces(text: str) -> Iterator[str]:
    normal = join_spaced_cjk(unicodedata.normalize("NFKC", text))
    for match in _PIECE.finditer(normal):
        yield match.group()


def _bigrams(run: str) -> list[str]:
    folded = run.casefold()
    return [folded[i : i + 2] for i in range(len(folded) - 1)]


def _cjk_terms(run: str) -> list[str]:
    return [*run.casefold(), *_bigrams(run)]


def _word_terms(word: str) -> list[str]:
    folded = word.casefold()
    parts = [part for chunk in _SPLIT.split(word) for part in _HUMP.split(chunk) if part]
    found = [*_with_stem(folded)]
    if parts != [word]:
        for part in parts:
            found.extend(_with_stem(part.casefold()))
    return found


@lru_cache(maxsize=50_000)
def _with_stem(word: str) -> tuple[str, ...]:
    base = word.removesuffix("'s").removesuffix("’s").replace("’", "'")[:_MAX_TERM]
    stem = _stemmers.english.stemWord(base) if base.isalpha() else base
    return (base,) if stem == base else (base, stem)


class _Stemmers(threading.local):
    """One stemmer a thread: a stemmer keeps the word it works on in itself."""

    def __init__(self) -> None:
        self.english = snowballstemmer.stemmer("english")


_stemmers = _Stemmers()
