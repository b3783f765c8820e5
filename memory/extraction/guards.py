"""What keeps a cue from counting: questions, hypotheses, hedges, and the words of others."""

from __future__ import annotations

import re

from memory.extraction.cue import Hit
from memory.extraction.reading import Reading, Sentence
from memory.extraction.words import HYPOTHETICAL, NOT_REPORTED, POLITE, REPORTED, SOFT_HEDGE, UNDECIDED

_REQUEST = re.compile(r"(?:please |pls )?(?:can|could|would|will) you|能不能|可不可以|可以|能|帮我|请帮我|麻烦你?|请")
_ASKED_OBJECT = re.compile(r"[^,。]{0,12}(?:什么|哪个|哪种|哪些|谁|怎么|如何|多少|几点|啥)")
_CLAIM_KINDS = frozenset({"decide", "settled", "prefer", "like", "dislike", "habit", "goal", "profile", "task"})
_SETTLED_KINDS = frozenset({"decide", "settled", "correct", "correct_full", "correct_mid", "not_but"})
_WINDOW = 300


def is_request(view: str, hit: Hit) -> bool:
    """Whether a question mark only makes the order polite: "can you remember that …?"."""
    asks = hit.cue.kind in {"remember", "forget", "standing"} or hit.cue.arg == "explicit"
    return asks and bool(_REQUEST.match(view, hit.start, hit.end))


def objection(reading: Reading, sentence: Sentence, hit: Hit, content: str, wrapper: Hit | None = None) -> str:
    """The reason why a cue does not count, or nothing. `wrapper` is the order to remember that it stands in."""
    if hit.start >= sentence.asked_from and not is_request(reading.view, wrapper or hit):
        return "question"
    kind = hit.cue.kind
    if kind in _CLAIM_KINDS and _ASKED_OBJECT.match(content):
        return "question"
    # A cue that spans its whole clause may hold the doubt in itself.
    until = hit.end if kind == "decide" and hit.groups.get("all") else hit.start
    prefix = POLITE.sub(" ", reading.view[max(sentence.start, hit.start - _WINDOW) : until])
    if HYPOTHETICAL.search(prefix):
        return "hypothetical"
    if REPORTED.search(NOT_REPORTED.sub(" ", prefix)):
        return "reported"
    if kind in _SETTLED_KINDS and SOFT_HEDGE.search(prefix):
        return "hedged"
    if kind in _CLAIM_KINDS and UNDECIDED.search(content):
        return "undecided"
    return ""


def doubt(reading: Reading, sentence: Sentence) -> str:
    """The reason why a sentence that no cue announces claims nothing, or nothing."""
    view = reading.view[sentence.start : sentence.end]
    if sentence.asked_from < sentence.end:
        return "question"
    if HYPOTHETICAL.search(POLITE.sub(" ", view)):
        return "hypothetical"
    if REPORTED.search(NOT_REPORTED.sub(" ", view)):
        return "reported"
    return "hedged" if SOFT_HEDGE.search(view) or UNDECIDED.search(view) else ""
