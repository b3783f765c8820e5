"""Reading a message: its words, the names it asks about, its languages, and phrases in any language."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from kernel.text import fold
from kernel.tokens import STOP_WORDS, query_terms

_HAN = "\u3005-\u3007\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003ffff"
_KANA = "\u3040-\u30ff\u31f0-\u31ff"
_HANGUL = "\uac00-\ud7af"
_CJK = _HAN + _KANA + _HANGUL
_WORD = re.compile(rf"[{_CJK}]+|[^\W{_CJK}](?:[^\W{_CJK}]|[\-_./@#+’'](?=[^\W{_CJK}]))*")
_IS_CJK = re.compile(rf"[{_CJK}]")
_PLAIN_WORD = re.compile(r"(?<![\w./@-])[A-Za-z]{2,}(?![\w@-]|[./][A-Za-z0-9])", re.ASCII)
_OTHER_LETTER = re.compile(rf"[^\W\d_A-Za-z{_CJK}]")

# What stands between the words that matter in a Chinese question.
_HAN_GLUE = re.compile(
    "请问|请|记住|告诉|用什么|是什么|为什么|什么时候|什么|怎么样|怎么办|怎么|如何|哪一个|哪个|哪些|哪里|多少|"
    "有没有|是不是|能不能|可不可以|可以|一下|我们|你们|他们|最近|现在|目前|的|了|吗|呢|吧|啊|和|与|及|跟|是|在|把|被|给|并|我|你|他|她|它"
)
_QUOTED = re.compile(r"[\"“「『《`]([^\"”」』》`\n]{2,80})[\"”」』》`]")
_IDENTIFIER = re.compile(
    r"(?<![A-Za-z0-9_])(?:[A-Za-z0-9]+(?:[_./@:-][A-Za-z0-9]+)+|[a-z0-9]+[A-Z][A-Za-z0-9]*)", re.ASCII
)
_CAPITALISED = re.compile(r"(?<![\w.])[A-Z][\w’'-]+(?: [A-Z][\w’'-]+)*")
_MAX_NAMES = 8


def runs(text: str) -> list[str]:
    """Words of letters, and whole runs of Han, kana or hangul, in order."""
    return _WORD.findall(text)


def words(text: str) -> list[str]:
    """The words in order; a run of Han, kana or hangul is cut at its function words."""
    found: list[str] = []
    for run in runs(text):
        found += [part for part in _HAN_GLUE.split(run) if part] if _IS_CJK.match(run) else [run]
    return found


def telling(found: Iterable[str]) -> list[str]:
    """The words that say something."""
    return [word for word in found if fold(word) not in STOP_WORDS]


def core_names(text: str) -> list[str]:
    """Names that the text asks about: quoted words, identifiers, and words written with a capital."""
    opening = re.match(r"\W*([A-Za-z]+)", text)
    # A sentence of Latin letters begins with a capital whatever its first word is; a Chinese one only with a name.
    first = opening.group(1) if opening and not _IS_CJK.search(text) else ""
    found = [match.strip() for match in _QUOTED.findall(text)]
    found += _IDENTIFIER.findall(text)
    for name in _CAPITALISED.findall(text):
        parts = name.split(" ")
        while parts and (fold(parts[0]) in STOP_WORDS or (parts[0] == first and not _names_itself(first))):
            first = ""
            parts = parts[1:]
        if parts:
            found.append(" ".join(parts))
    return unique(name for name in found if len(name) > 1)[:_MAX_NAMES]


def _names_itself(word: str) -> bool:
    return word.isupper() or any(char.isupper() for char in word[1:])


def unique(texts: Iterable[str]) -> list[str]:
    """The texts without those that are equal after folding, in order."""
    return list({fold(text): text for text in reversed(list(texts))}.values())[::-1]


@dataclass(frozen=True, slots=True)
class Finder:
    """Looks for any of some words in folded texts: Latin ones where a word begins, and, if `whole`, where it ends."""

    words: tuple[str, ...]
    whole: bool = False

    def finds(self, folded: str) -> bool:
        """Whether the text, which must be folded, holds one of the words."""
        return any(word in folded and self._stands(word, folded) for word in self.words)

    def _stands(self, word: str, folded: str) -> bool:
        if _IS_CJK.search(word):
            return True
        end = r"(?![a-z0-9])" if self.whole else ""
        return re.search(rf"(?<![a-z0-9]){re.escape(word)}{end}", folded) is not None


def name_finder(name: str) -> Finder:
    """Looks for a name."""
    return Finder((fold(name),), whole=True)


def word_finders(question: str) -> list[Finder]:
    """One for each word of a question that says something; a stem finds its forms, a run of Han goes by bigrams."""
    found = words(question)
    finders: dict[Finder, None] = {}
    for word in telling(found) or found:
        forms = tuple(query_terms(word))
        finders.update(dict.fromkeys([Finder((form,)) for form in forms] if _IS_CJK.match(word) else [Finder(forms)]))
    return list(finders)


def has_phrase(text: str, phrases: Sequence[str]) -> str | None:
    """The first phrase that the text holds. A Latin one must begin where a word begins; its end is free."""
    folded = fold(text)
    for phrase in phrases:
        pattern = re.escape(phrase) if _IS_CJK.search(phrase) else rf"(?<![a-z0-9_]){re.escape(phrase)}"
        if re.search(pattern, folded):
            return phrase
    return None


def languages(text: str) -> list[str]:
    """The languages of a text in more than one, as ISO codes; empty where it is in one or we cannot tell.

    Two plain words of Latin letters make English, since single ones in Chinese text are mostly names.
    """
    if _OTHER_LETTER.search(text):
        return []
    found = []
    if re.search(f"[{_KANA}]", text):
        found.append("ja")
    elif re.search(f"[{_HAN}]", text):
        found.append("zh")
    if re.search(f"[{_HANGUL}]", text):
        found.append("ko")
    if len(_PLAIN_WORD.findall(re.sub(rf"([{_CJK}]+)", r" \1 ", text))) >= 2:
        found.append("en")
    return found if len(found) > 1 else []
