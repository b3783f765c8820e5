"""Finding cues in a sentence: which words of the tables stand where they can speak."""

from __future__ import annotations

import re

from memory.extraction.cue import Cue, Hit
from memory.extraction.cue_claims import CLAIMS, PROFILE
from memory.extraction.cue_orders import CORRECTIONS, STANDING_IMPERATIVE, STATUS, WRAPPERS
from memory.extraction.cue_spoken import SPOKEN_CHANGES, SPOKEN_ORDERS, SPOKEN_STATUS
from memory.extraction.cue_spoken_claims import SPOKEN_CLAIMS, SPOKEN_PROFILE
from memory.extraction.words import OPENERS_EN, OPENERS_ZH

TABLE: tuple[Cue, ...] = (
    *WRAPPERS,
    *SPOKEN_ORDERS,
    *CLAIMS,
    *SPOKEN_PROFILE,
    *PROFILE,
    *STATUS,
    *SPOKEN_CHANGES,
    *CORRECTIONS,
    *SPOKEN_CLAIMS,
    *SPOKEN_STATUS,
    STANDING_IMPERATIVE,
)
WRAPPING = frozenset({"remember", "standing", "forget", "wrong"})
# Kinds whose cue may stand in the middle of a clause; inside the words of a claim they are part of what is claimed.
_MID = frozenset({"done", "blocked", "no_longer", "not_but", "correct_mid"})
_CLAIMING = frozenset({"decide", "settled", "prefer", "like", "dislike", "habit", "goal", "task", "profile"})
_NEW_CLAUSE = re.compile(r"[,;:]|\s(?:and|but|so) |但|并且|而且|所以")

# Where a clause may begin: after punctuation, a masked quotation, or a connective.
_EDGE = re.compile(
    r"[,:()\[\]\-、*•&/>~!.'\"”」\x1a\x1b]\s{0,3}|(?<![a-z'])(?:"
    + "|".join(sorted(OPENERS_EN, key=len, reverse=True))
    + r")(?![a-z'])\s{1,3}"
)
_HAN = re.compile(r"[\u4e00-\u9fff]")
_LATIN = re.compile(r"[a-z]")
_LATIN_WORD = re.compile(r"[a-z]{2}")
_NAMED_GROUP = re.compile(r"\?P<\w+>|\\u[0-9a-f]{4}")
_Ranked = tuple[tuple[int, Cue], ...]


def _readable(*, han: bool, latin: bool, anchored: bool) -> _Ranked:
    """The cues that can occur in a sentence of these scripts; one of both, or of neither such as a checkbox, can always."""
    chosen: list[tuple[int, Cue]] = []
    for rank, cue in enumerate(TABLE):
        words = _NAMED_GROUP.sub("", cue.pattern.pattern)
        in_han, in_latin = bool(_HAN.search(words)), bool(_LATIN_WORD.search(words))
        if cue.anchored == anchored and ((han and in_han) or (latin and in_latin) or not (in_han or in_latin)):
            chosen.append((rank, cue))
    return tuple(chosen)


_BY_SCRIPT = {
    (han, latin): (_readable(han=han, latin=latin, anchored=False), _readable(han=han, latin=latin, anchored=True))
    for han in (False, True)
    for latin in (False, True)
}


def find(view: str, start: int, end: int) -> list[Hit]:
    """The cues of a sentence, in order and not overlapping; where two begin together the table's order decides."""
    sentence = view[start:end]
    floating, anchored = _BY_SCRIPT[bool(_HAN.search(sentence)), bool(_LATIN.search(sentence))]
    found: list[tuple[int, int, Hit]] = []
    for rank, cue in floating:
        for match in cue.pattern.finditer(sentence):
            if not _inside_word(sentence, match.start()):
                found.append((match.start(), rank, _hit(cue, match, start)))
    places = _places(sentence)
    # What follows an order to remember or forget begins a clause too.
    places |= {hit.end - start for _, _, hit in found if hit.cue.kind in WRAPPING}
    tried: set[int] = set()
    while places - tried:
        place = min(places - tried)
        tried.add(place)
        for rank, cue in anchored:
            opening = cue.pattern.match(sentence, place)
            if opening:
                found.append((place, rank, _hit(cue, opening, start)))
                if cue.kind in WRAPPING:
                    places.add(opening.end())
    found.sort(key=lambda entry: entry[:2])
    hits: list[Hit] = []
    for _, _, hit in found:
        if not hits or (hit.start >= hits[-1].end and (hit.start > hits[-1].start or hits[-1].cue.kind in WRAPPING)):
            hits.append(hit)
    return _prune(view, hits)


def _hit(cue: Cue, match: re.Match[str], start: int) -> Hit:
    return Hit(cue, start + match.start(), start + match.end(), match.groupdict())


def _places(sentence: str) -> set[int]:
    """Where a clause begins."""
    starts = {0} | {match.end() for match in _EDGE.finditer(sentence)}
    if not sentence.isascii():
        starts |= {match.end(1) for match in OPENERS_ZH.finditer(sentence)}
    return {at for at in starts if at < len(sentence) and (sentence[at].isalnum() or sentence[at] == "[" or at == 0)}


def _inside_word(sentence: str, at: int) -> bool:
    """Whether a Latin word goes on over this place."""
    return (
        at > 0
        and sentence[at - 1 : at + 1].isascii()
        and sentence[at - 1].isalnum()
        and sentence[at : at + 1].isalpha()
    )


def _prune(view: str, hits: list[Hit]) -> list[Hit]:
    kept: list[Hit] = []
    for hit in hits:
        last = kept[-1] if kept else None
        inside = last is not None and last.cue.kind in _CLAIMING and not _NEW_CLAUSE.search(view, last.end, hit.start)
        if not (inside and hit.cue.kind in _MID and not hit.cue.anchored):
            kept.append(hit)
    return kept
