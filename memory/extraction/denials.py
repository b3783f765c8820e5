"""Denials: "X is not Y" turned into the "X is Y" that it denies, so that both have one key."""

from __future__ import annotations

import re
from dataclasses import dataclass

from memory.extraction.reading import fold

_HEAD = 120  # characters in which the relation of a statement has to stand
_EN = re.compile(
    r"\b(?:(?P<be>is|are|was|were)(?: not|n't)|(?P<may>must|should|would|could)(?: not|n't)|(?P<can>cannot|can't|can not)"
    r"|(?P<will>won't|will not)|(?P<do>do|does)(?: not|n't) (?P<verb>[a-z]{2,20}))(?= )(?! (?:only|just|merely|simply|yet|sure))"
)
_ZH = re.compile(
    r"并?(?P<no>不(?=是|支持|需要|包含|依赖|喜欢|使用|采用|负责|应该|可以|会|在|位于|等于)|没(?=有)|不(?=能))(?!.[不没])(?!是(?:只|因为|说|否))"
)
_IRREGULAR = {"have": "has", "do": "does", "go": "goes", "be": "is"}
_DENYING = re.compile(r"\b(?:not|never|cannot)\b|n't\b|^(?:并?不|没|未|禁止)")


@dataclass(frozen=True, slots=True)
class Affirmed:
    """A denial as the statement that it denies: `at` is where its relation begins, `said` how the denial put it."""

    text: str
    at: int
    said: str


def affirmed(statement: str) -> Affirmed | None:
    """What a statement denies, said positively; None for a statement that denies nothing."""
    view = fold(statement)
    match = _EN.search(view, 0, _HEAD)
    if match:
        positive = _positive(match)
        return Affirmed(statement[: match.start()] + positive + statement[match.end() :], match.start(), match[0])
    match = _ZH.search(view, 0, _HEAD)
    if match is None or _asks(view, match):
        return None
    start, end = match.span()
    positive = "可以" if view.startswith("能", end) else ""
    end += len("能") if positive else 0
    return Affirmed(statement[:start] + positive + statement[end:], start, match[0])


def denies(relation: str) -> bool:
    """Whether a relation, as a fact keeps it, denies."""
    return bool(_DENYING.search(relation))


def _positive(match: re.Match[str]) -> str:
    groups = match.groupdict()
    if groups["verb"]:
        return _third_person(groups["verb"]) if groups["do"] == "does" else groups["verb"]
    if groups["will"]:
        return "will"
    return groups["be"] or groups["may"] or "can"


def _third_person(verb: str) -> str:
    if verb in _IRREGULAR:
        return _IRREGULAR[verb]
    if verb.endswith(("s", "x", "z", "ch", "sh", "o")):
        return f"{verb}es"
    if verb.endswith("y") and verb[-2] not in "aeiou":
        return f"{verb[:-1]}ies"
    return f"{verb}s"


def _asks(view: str, match: re.Match[str]) -> bool:
    """Whether it is the middle of a question such as 是不是 or 有没有."""
    return match.start() > 0 and view[match.start() - 1] == view[match.end() : match.end() + 1]
