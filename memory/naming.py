"""Names: how they are compared, and which ones a text might hold: runs of words and of Han characters, folded, to look up among known entities."""

from __future__ import annotations

import re
import unicodedata
from itertools import islice

from kernel.text import fold

MAX_NAME = 300
MAX_WORDS = 4
MAX_HAN = 8
MAX_CANDIDATES = 300

_HAN = "\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7af"
_WORD = re.compile(rf"[{_HAN}]+|[^\s{_HAN}]+")
_JOINTS = re.compile(r"[-_\s]+")
_EDGES = "\"'“”‘’()[]{}<>《》「」【】,.;:!?，。；：！？、…"


def fold_name(name: str) -> str:
    """The form in which names are compared and kept: folded, and `smart-rag`, `smart_rag` and `Smart RAG` alike.

    In a path or an address every sign counts. Folding can make a text longer than the columns that hold it.
    """
    folded = fold(name)
    plain = folded if any(mark in folded for mark in "/.:@") else " ".join(_JOINTS.sub(" ", folded).split())
    return (plain or folded)[:MAX_NAME]


def name_candidates(text: str) -> list[str]:
    """Folded names that the text might hold, the shortest first: at most four words, or eight Han characters, in a row."""
    words = [word.strip(_EDGES) for word in _WORD.findall(unicodedata.normalize("NFKC", text))]
    words = [word for word in words if word]
    found: dict[str, None] = {}
    for size in range(1, MAX_WORDS + 1):
        found.update(dict.fromkeys(fold_name(" ".join(words[at : at + size])) for at in range(len(words) - size + 1)))
    for word in words:
        if re.match(rf"[{_HAN}]", word):
            found.update(dict.fromkeys(fold_name(part) for part in _substrings(word)))
    return list(islice(found, MAX_CANDIDATES))


def _substrings(run: str) -> list[str]:
    return [run[at : at + size] for size in range(2, MAX_HAN + 1) for at in range(len(run) - size + 1)]
