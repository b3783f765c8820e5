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
from dataclasses import dataclass
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

_COMMON = """
    a am an and are as at be been being but by can could did do does for from had has have he her him his how i if in
    into is it its me my of on or our she should so than that the their them then there these they this those to us was
    we were what when where which who whom whose why will with would you your
    的 了 是 在 吗 呢 吧 啊 我 你 他 她 它 们 和 与
"""
STOP_WORDS = frozenset(_COMMON.split())
# Pairs of Han characters that ask or point and say nothing of what is looked for.
_POINTING = """
    什么 甚么 为什 怎么 怎样 如何 哪个 哪些 哪里 哪儿 哪一 哪天 多少 几个 是否 是不 请问 告诉 有没 我们 你们 他们 她们 它们
    这个 那个 这些 那些 一下 一个 以及 或者 因为 所以
"""
STOP_PAIRS = frozenset(_POINTING.split())
_SENTENCE_WORDS = 2
# What a character of a Han, kana or hangul run says, against a word.
_CHARACTER_WEIGHT = 0.5


@dataclass(frozen=True, slots=True)
class Unit:
    """One piece of what a query asks for: a text has it where it holds any of the terms."""

    terms: tuple[str, ...]
    weight: float = 1.0


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
    return list(dict.fromkeys(term for unit in query_units(text) for term in unit.terms))


def query_units(text: str) -> list[Unit]:
    """What a query asks for, piece by piece, each once, in order: words in their forms, and the characters of a Han,
    kana or hangul run with the bigrams that hold them. Common words are left out unless nothing else is there."""
    found = dict(_units(text))
    return [unit for unit, telling in found.items() if telling] or list(found)


def is_sentence(text: str) -> bool:
    """Whether a query is more than key words: it asks, or has several common words beside those that tell."""
    telling = [telling for _, telling in _units(text)]
    return any(telling) and ("?" in text or "？" in text or telling.count(False) >= _SENTENCE_WORDS)


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


def _units(text: str) -> Iterator[tuple[Unit, bool]]:
    """Each piece of a query with whether it is more than a common word."""
    for piece in _pieces(text):
        yield from _run_units(piece) if _CJK_START.match(piece) else _word_units(piece)


def _run_units(run: str) -> list[tuple[Unit, bool]]:
    folded, pairs = run.casefold(), _bigrams(run)
    if not pairs:
        return [(Unit((folded,)), folded not in STOP_WORDS)]
    plain = [char not in STOP_WORDS for char in folded]
    for place, pair in enumerate(pairs):
        if pair in STOP_PAIRS:
            plain[place] = plain[place + 1] = False
    weights: dict[tuple[tuple[str, ...], bool], float] = {}
    for place, telling in enumerate(plain):
        held_by = tuple(dict.fromkeys(pairs[max(place - 1, 0) : place + 1]))
        weights[held_by, telling] = weights.get((held_by, telling), 0.0) + _CHARACTER_WEIGHT
    return [(Unit(terms, weight), telling) for (terms, telling), weight in weights.items()]


def _word_units(word: str) -> list[tuple[Unit, bool]]:
    """A word; an identifier as its parts, each of which is also had by the whole."""
    whole, parts = _with_stem(word.casefold()), _parts(word)
    if len(parts) < 2:
        return [(Unit(whole), any(form not in STOP_WORDS for form in whole))]
    return [(Unit(tuple(dict.fromkeys([*whole, *_with_stem(part.casefold())]))), True) for part in parts]


def _cjk_terms(run: str) -> list[str]:
    return [*run.casefold(), *_bigrams(run)]


def _word_terms(word: str) -> list[str]:
    folded = word.casefold()
    parts = _parts(word)
    found = [*_with_stem(folded)]
    if parts != [word]:
        for part in parts:
            found.extend(_with_stem(part.casefold()))
    return found


def _parts(word: str) -> list[str]:
    return [part for chunk in _SPLIT.split(word) for part in _HUMP.split(chunk) if part]


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
