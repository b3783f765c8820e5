"""Task status from words: which open task a mention means, and whether one is meant at all."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence

from memory.extraction.facts import bare
from memory.extraction.reading import fold
from memory.extraction.values import Rejected
from memory.extraction.words import EMPTY, PRONOUNS
from memory.keys import slug

_WORD = re.compile(r"[a-z0-9_]+|[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]+")
_IDLE = frozenset(
    [
        "the",
        "a",
        "an",
        "my",
        "our",
        "of",
        "for",
        "to",
        "in",
        "on",
        "and",
        "with",
        "this",
        "that",
        "is",
        "task",
        "todo",
        "now",
        "just",
        "please",
        "all",
        "it",
        "i",
        "we",
        "need",
        "have",
    ]
)
_ENDING = re.compile(r"(?:ing|ed|es|s|e)$")
_ENOUGH = 0.6
_LONGEST_MENTION = 120
_CLAUSE = re.compile(
    r"[,;]|\s(?:and|but|so|because|which|before|after|when|if|until|today|yesterday|this morning|just now|already)(?:\s|$)|,|,|。|因为|所以|但是?|现在|然后"
)


def mention(content: str) -> str:
    """The part of a content that can name a task. Raises Rejected where it names nothing."""
    view = fold(content)
    cut = _CLAUSE.search(view)
    name = bare(content[: cut.start()] if cut else content)
    name = re.sub(
        r"^(?:(?:刚刚?|刚才|终于|总算|今天|昨天|已经|目前|现在|咱|我们?|把){1,4}(?=.{2})|(?:我们?的?|咱们的?|那个|这个|把|任务|关于)(?=.))|(?:我们?|这边|那块|那边|的任务|任务|这件事|这个任务|的事|的工作|这块|了|也|都|已经?|现在|又|还是|今天|昨天)$",
        "",
        name,
    ).strip()
    folded = fold(name)
    if not folded or EMPTY.fullmatch(folded) or folded.split()[0] in PRONOUNS or len(name) > _LONGEST_MENTION:
        raise Rejected("no_target")
    return name


class Board:
    """The open tasks, searchable by the words of their titles."""

    def __init__(self, open_tasks: Iterable[tuple[str, str]]) -> None:
        self._titles: dict[str, str] = {}
        self._tokens: dict[str, frozenset[str]] = {}
        self._by_token: dict[str, list[str]] = defaultdict(list)
        for key, title in open_tasks:
            self.add(key, title)

    def __bool__(self) -> bool:
        return bool(self._titles)

    def add(self, key: str, title: str) -> None:
        if key in self._titles:
            return
        self._titles[key] = title
        self._tokens[key] = _tokens(f"{title} {key.rsplit(':', 1)[-1]}") if not _tokens(title) else _tokens(title)
        for token in self._tokens[key]:
            self._by_token[token].append(key)

    def find(self, name: str) -> tuple[str, str]:
        """The key and title of the one task that is meant. Raises Rejected for none, or for several alike."""
        wanted = _tokens(name)
        shared = Counter(key for token in wanted for key in self._by_token.get(token, ())[:500])
        ranked = sorted(((self._score(wanted, key, count), key) for key, count in shared.items()), reverse=True)
        exact = [key for key in shared if key.rsplit(":", 1)[-1] == slug(name)]
        if len(exact) == 1:
            return exact[0], self._titles[exact[0]]
        if not ranked or ranked[0][0][0] < _ENOUGH:
            raise Rejected("no_open_task")
        if len(ranked) > 1 and ranked[1][0] == ranked[0][0]:
            raise Rejected("ambiguous_task")
        return ranked[0][1], self._titles[ranked[0][1]]

    def _score(self, wanted: frozenset[str], key: str, count: int) -> tuple[float, float]:
        here = self._tokens[key]
        return count / min(len(wanted), len(here)), 2 * count / (len(wanted) + len(here))


def _tokens(text: str) -> frozenset[str]:
    out: set[str] = set()
    for run in _WORD.findall(fold(text)):
        if run.isascii():
            if run not in _IDLE:
                out.add(_ENDING.sub("", run) if len(run) > 4 else run)
        else:
            out.update(_pairs(run))
    return frozenset(out)


def _pairs(run: str) -> Sequence[str]:
    return [run] if len(run) == 1 else [run[at : at + 2] for at in range(len(run) - 1)]
