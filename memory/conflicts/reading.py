"""Reading a statement into tokens: words, Han characters, numbers, dates, times and negations, each with its place."""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import NamedTuple

from kernel.tokens import query_terms
from memory.conflicts.figures import FORMS, STARTS
from memory.conflicts.script import CJK, HAN, SCRIPT
from memory.conflicts.vocabulary import DENYING, EXCLUSIVE, FILLERS, INTRODUCING, MODALS, OPPOSITES, SAME

FIGURES = frozenset({"number", "date", "time"})
MAX_CHARS = 1000
_FIGURE = 60  # characters of a number or date; a longer one is no figure that people compare
_MARK = re.compile(r"[\u0300-\u036f\u3099\u309a]")
_CLUSTER = re.compile(rf".{_MARK.pattern}*", re.DOTALL)
_NOT = re.compile(
    r"\b(?=[acjknostpw])(?:no longer|can't|won't|not|never|no|none|neither|nor|without|avoid|"
    r"nicht|keine?[nmrs]?|nie|niemals|ohne|pas|jamais|sans|aucune?|nunca|jamás|sin|tampoco)(?![a-z0-9_])"
    r"|n(?<=[a-z]n)['’]t(?![a-z])|n(?<=can)ot(?![a-z])|"
    r"[不没未别勿非无切并从](?:(?<=不)[要能会需必再得是]|(?<=没)有|(?<=无)[需须]|(?<=切)勿|(?<=并)非|(?<=从)[不未])(?:(?<=不会|不应)该)?|不应该?|"
    r"不(?![仅但过同断错管论如久止妨只光下少利良准许允])|没(?<![淹沉出]没)|未(?![来知婚])|"
    r"别(?<![特级类区分识性个鉴差告]别)(?![名人的墅处样致扭])|勿|非(?<![是除若]非)(?![常洲凡典法营正])|"
    r"ません|ない(?!しょ|ぶ)|なく|안 |못 "
)
_KNOWN = sorted(
    (
        word
        for word in {*SAME, *FILLERS, *MODALS, *EXCLUSIVE, *DENYING, *(word for pair in OPPOSITES for word in pair)}
        if re.match(f"[{CJK}]{{2,}}", word)
    ),
    key=len,
    reverse=True,
)
_WORD = re.compile(
    rf"https?://\S+|[^\W_{CJK}](?:[^\W{CJK}]|[_./@:+#'’](?=[^\W_{CJK}]))*[+#]*|(?=[{CJK}])(?:{'|'.join(_KNOWN)}|.)"
)
_SWITCHED = re.compile(
    r"(?:\b(?:is|are|be|was|turn|turned|switch|switched|keep|kept|stays?|left|leave)(?: \w+)? on|:\s*on)$"
)
_NOUN_FOLLOWS = re.compile(
    r" (?:a|an|the|my|our|his|her|\d|monday|tuesday|wednesday|thursday|friday|saturday|sunday|\w+$)"
)


_CLITIC = re.compile(r"'(?:s|re|ve|ll|d|m)$")
_BRITISH = (
    (re.compile(r"(?<=\w{3})our(?=$|s$|ed$|ing$|ite|ite?s$|able$|al$)"), "or"),
    (re.compile(r"(?<=\w{3})is(?=(?:e|es|ed|er|ing|ation)$)"), "iz"),
    (re.compile(r"(?<=\w{2})tre(?=s?$)"), "ter"),
    (re.compile(r"(?<=\w{3})ence(?=s?$)"), "ense"),
    (re.compile(r"(?<=\w{2})ll(?=(?:ed|ing|er)$)"), "l"),
)


class Token(NamedTuple):
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


@dataclass(frozen=True)
class Reading:
    """A text read: its folded form and its tokens in order. It is compared with several: what follows is worked out
    once."""

    text: str
    folded: str
    tokens: tuple[Token, ...]

    @cached_property
    def telling(self) -> tuple[Token, ...]:
        """The tokens that say something."""
        return tuple(token for token in self.tokens if not token.empty)

    @cached_property
    def norms(self) -> tuple[str, ...]:
        """The forms in which those tokens are compared."""
        return tuple(map(norm_of, self.telling))

    @cached_property
    def counts(self) -> Counter[str]:
        """How often each form is there."""
        return Counter(self.norms)

    @cached_property
    def weights(self) -> dict[str, int]:
        """How much each form says beside figures: a word two, a Han character one."""
        return {norm: _weight(token) for norm, token in zip(self.norms, self.telling, strict=True)}

    @cached_property
    def weight(self) -> int:
        """How much all of it says."""
        return sum(map(_weight, self.telling))

    @cached_property
    def negations(self) -> int:
        """How many negations it has."""
        return sum(token.kind == "not" for token in self.telling)


def norm_of(token: Token) -> str:
    """The form in which a token is compared: a figure never equals a word."""
    return f"{token.kind}:{token.norm}" if token.kind in FIGURES else token.norm


def tells(tokens: Sequence[Token]) -> bool:
    """Whether any of some tokens says something."""
    return any(not token.empty for token in tokens)


def _weight(token: Token) -> int:
    return 0 if token.kind in (*FIGURES, "not") else 1 if token.kind == "han" else 2


@lru_cache(maxsize=2_000)
def read(text: str) -> Reading:
    """Read a statement; of a long one the first thousand characters."""
    text = text[:MAX_CHARS]
    folded, places = _folded(text)
    taken: list[tuple[int, int, str, str]] = []
    free = bytearray(len(folded) + 1)
    for found in INTRODUCING.finditer(folded):
        _take(taken, free, "word", "-", found.span())
    for start in STARTS.finditer(folded):
        if not free[start.start()]:
            _take_figure(taken, free, folded, start.start())
    for found in _NOT.finditer(folded):
        _take(taken, free, "not", "not", found.span())
    for found in _WORD.finditer(folded):
        if not any(free[found.start() : found.end()]):
            taken += [(at, to, kind, norm) for kind, norm, at, to in _word(found)]
            continue
        inner = _WORD.search(folded, found.start(), found.end())
        if inner is not None and HAN.match(inner.group()):
            taken += [(n, n + 1, "han", folded[n]) for n in range(found.start(), found.end()) if not free[n]]
    tokens = [
        Token(kind, norm, places[at], places[to], at, to, _is_empty(norm), _is_named(text[places[at] : places[to]]))
        for at, to, kind, norm in sorted(taken)
    ]
    return Reading(text, folded, tuple(_switch(token, folded) for token in tokens))


def _switch(token: Token, folded: str) -> Token:
    """`on` as the state of a switch says something, `on` before a noun does not."""
    if token.norm != "on" or not _SWITCHED.search(folded[: token.to]) or _NOUN_FOLLOWS.match(folded, token.to):
        return token
    return token._replace(empty=False)


def _take_figure(taken: list[tuple[int, int, str, str]], free: bytearray, folded: str, at: int) -> None:
    """The first form that fits at a place."""
    for kind, form, normal in FORMS:
        found = form.match(folded, at)
        if found is not None and at < found.end() <= at + _FIGURE:
            _take(taken, free, kind, normal(found), found.span())
            return


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
    if unicodedata.is_normalized("NFKC", text) and not _MARK.search(text):
        folded = text.casefold().translate(SCRIPT)
        if len(folded) == len(text):  # no character became longer, and none is ever lost
            return folded, list(range(len(text) + 1))
    parts, places = [], []
    for cluster in _CLUSTER.finditer(text):
        part = unicodedata.normalize("NFKC", cluster.group()).casefold().translate(SCRIPT)
        parts.append(part)
        places += [cluster.start()] * len(part)
    return "".join(parts), [*places, len(text)]


def _word(found: re.Match[str]) -> Iterator[tuple[str, str, int, int]]:
    raw, at = found.group(), found.start()
    if HAN.match(raw):
        norm = SAME.get(raw, raw)
        kind = "not" if raw in DENYING else "word" if len(raw) > 1 else "han"
        yield kind, "deny" if raw in DENYING else norm, at, found.end()
        return
    if raw in DENYING:
        yield "not", "deny", at, found.end()
    else:
        yield "word", normal_word(raw), at, found.end()


@lru_cache(maxsize=20_000)
def normal_word(word: str) -> str:
    """The form in which a folded word is compared: one of its other names, or its stem."""
    word = _CLITIC.sub("", word.replace("’", "'"))
    if not word.isascii():
        word = "".join(char for char in unicodedata.normalize("NFD", word) if not unicodedata.combining(char))
    if word in SAME:
        return SAME[word]
    if word in FILLERS or word in EXCLUSIVE or not word.isalpha():
        return word
    stem = query_terms(_american(word))[-1] if word.isascii() else word
    return SAME.get(stem, stem)


def _american(word: str) -> str:
    """The word as it is spelt in the United States, so far as a rule can tell."""
    for form, spelt in _BRITISH:
        word = form.sub(spelt, word)
    return word


def _is_empty(norm: str) -> bool:
    return norm in FILLERS or norm in MODALS or (len(norm) == 1 and norm in "-_")


def _is_named(raw: str) -> bool:
    return raw[:1].isupper() or raw.isupper() or any(map(str.isdigit, raw))
