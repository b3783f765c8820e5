"""A cue: a pattern of words that announces something worth proposing, and its place in a sentence."""

from __future__ import annotations

import re
from dataclasses import dataclass

UNDENIED = (
    r"(?<!不)(?<!没)(?<!没有)(?<!未)(?<!别)(?<!无需)(?<!不要)(?<!不用)(?<!不必)(?<!不需要)(?<!难以)(?<!无法)(?<!不能)"
)


@dataclass(frozen=True)
class Cue:
    """A pattern over the folded view. An anchored cue counts only where a clause begins."""

    name: str
    kind: str
    pattern: re.Pattern[str]
    anchored: bool
    arg: str


@dataclass(frozen=True)
class Hit:
    """A cue found in a sentence."""

    cue: Cue
    start: int
    end: int
    groups: dict[str, str | None]


def cue(name: str, kind: str, pattern: str, *, anchored: bool = True, arg: str = "") -> Cue:
    return Cue(name, kind, re.compile(pattern), anchored, arg)
