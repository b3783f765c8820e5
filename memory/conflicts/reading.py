"""Reading a statement into tokens: words, Han characters, numbers, dates, times and negations, each with its place."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache

from kernel.tokens import query_terms
from memory.conflicts.figures import FORMS
from memory.conflicts.vocabulary import FILLERS, MODALS, OPPOSITES, SAME

FIGURES = frozenset({"number", "date", "time"})
MAX_CHARS = 1000
_CJK = "\u3005-\u3007\u3040-\u30ff\u31f0-\u31ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff"
_CLUSTER = re.compile(r".[\u0300-\u036f\u3099\u309a]*", re.DOTALL)
_NOT = re.compile(
    r"(?<![a-z0-9_])(?:no longer|can't|won't|not|never|no|none|neither|nor|without|avoid|"
    r"nicht|keine?[nmrs]?|nie|niemals|ohne|pas|jamais|sans|aucune?|nunca|jamás|sin|tampoco)(?![a-z0-9_])"
    r"|(?<=[a-z])n['’]t(?![a-z])|(?<=can)not(?![a-z])|"
    r"不要|不能|不会|不应该?|不需要|不必|不再|不得|没有|无需|无须|切勿|并非|从不|从未|不是|"
    r"不(?![仅但过同断错管论如久止妨只光下少利良准许允])|(?<![淹沉出])没|未(?![来知婚])|"
    r"(?<![特级类区分识性个鉴差告])别(?![名人的墅处样致扭])|勿|(?<![是除若])非(?![常洲凡典法营正])|"
    r"ません|ない(?!しょ|ぶ)|なく|안 |못 "
)
_KNOWN = sorted(
    (
        word
        for word in {*SAME, *FILLERS, *MODALS, *(word for pair in OPPOSITES for word in pair)}
        if re.match(f"[{_CJK}]{{2,}}", word)
    ),
    key=len,
    reverse=True,
)
_WORD = re.compile(
    rf"https?://\S+|[^\W_{_CJK}](?:[^\W{_CJK}]|[_./@:+#'’](?=[^\W_{_CJK}]))*[+#]*|{'|'.join(_KNOWN)}|[{_CJK}]"
)
_HAN = re.compile(f"[{_CJK}]")


@dataclass(frozen=True, slots=True)
class Token:
    """One piece of a text in the form in which it is compared. `kind` is word, han, number, date, time or not.

    `start` and `end` are places in the text; `at` and `to` those in its folded form. An `empty` one says nothing.
    `named` marks a word written with a capital or holding a digit.
    """

    kind: str
    norm: str
    start: int
    end: int
    at: int
    to: int
    empty: bool = False
    named: bool = False


@dataclass(frozen=True, slots=True)
class Reading:
    """A text read: its folded form and its tokens in order."""

    text: str
    folded: str
    tokens: tuple[Token, ...]

    @property
    def telling(self) -> tuple[Token, ...]:
        """The tokens that say something."""
        return tuple(token for token in self.tokens if not token.empty)


@lru_cache(maxsize=2_000)
def read(text: str) -> Reading:
    """Read a statement; of a long one the first thousand characters."""
    text = text[:MAX_CHARS]
    folded, places = _folded(text)
    taken: list[tuple[int, int, str, str]] = []
    free = bytearray(len(folded) + 1)
    for kind, form, normal in FORMS:
        for found in form.finditer(folded):
            _take(taken, free, kind, normal(found), found.span())
    for found in _NOT.finditer(folded):
        _take(taken, free, "not", "not", found.span())
    for found in _WORD.finditer(folded):
        if not any(free[found.start() : found.end()]):
            taken += [(at, to, kind, norm) for kind, norm, at, to in _word(found)]
            continue
        inner = _WORD.search(folded, found.start(), found.end())
        if inner is not None and _HAN.match(inner.group()):
            taken += [(n, n + 1, "han", folded[n]) for n in range(found.start(), found.end()) if not free[n]]
    tokens = (
        Token(kind, norm, places[at], places[to], at, to, _is_empty(norm), _is_named(text[places[at] : places[to]]))
        for at, to, kind, norm in sorted(taken)
    )
    return Reading(text, folded, tuple(tokens))


def _take(
    taken: list[tuple[int, int, str, str]], free: bytearray, kind: str, norm: str, span: tuple[int, int]
) -> None:
    at, to = span
    if at == to or any(free[at:to]):
        return
    free[at:to] = b"\x01" * (to - at)
    taken.append((at, to, kind, norm))


def _folded(text: str) -> tuple[str, list[int]]:
    """The text in NFKC and case-folded, and for each place in it the place in the text."""
    if text.isascii():
        return text.lower(), list(range(len(text) + 1))
    parts, places = [], []
    for cluster in _CLUSTER.finditer(text):
        part = unicodedata.normalize("NFKC", cluster.group()).casefold()
        parts.append(part)
        places += [cluster.start()] * len(part)
    return "".join(parts), [*places, len(text)]


def _word(found: re.Match[str]) -> Iterator[tuple[str, str, int, int]]:
    raw, at = found.group(), found.start()
    if _HAN.match(raw):
        norm = SAME.get(raw, raw)
        yield ("word" if len(raw) > 1 else "han"), norm, at, found.end()
        return
    yield "word", normal_word(raw), at, found.end()


@lru_cache(maxsize=20_000)
def normal_word(word: str) -> str:
    """The form in which a folded word is compared: one of its other names, or its stem."""
    word = word.replace("’", "'").removesuffix("'s")
    if word in SAME:
        return SAME[word]
    if word in FILLERS or not word.isalpha():
        return word
    stem = query_terms(word)[-1] if word.isascii() else word
    return SAME.get(stem, stem)


def _is_empty(norm: str) -> bool:
    return norm in FILLERS or norm in MODALS or (len(norm) == 1 and norm in "-_")


def _is_named(raw: str) -> bool:
    return raw[:1].isupper() or any(char.isdigit() for char in raw) or raw.isupper()
