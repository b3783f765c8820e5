"""Rules for statements that are alike but for a figure or an object: an update, a contradiction, or two things apart."""

from __future__ import annotations

from collections.abc import Sequence

from memory.conflicts.claims import Claim, frames, is_occasion
from memory.conflicts.describing import may_clash, say_alike
from memory.conflicts.pairing import LIGHT_WORDS, Pair, figures_of, finding, norms, quoted, raw
from memory.conflicts.places import lie_apart
from memory.conflicts.reading import FIGURES, Reading, Token, norm_of, normal_word
from memory.conflicts.values import Finding, Rule
from memory.conflicts.vocabulary import CHANGED, NUMBERED

MAX_OBJECT = 8
ALIKE = 0.6
_PLACES = frozenset({"place", "store"})  # relations of which a place is the object
_NUMBERED = NUMBERED | frozenset(map(normal_word, NUMBERED))


def other_figure(pair: Pair) -> Finding | None:
    """The same, but for a number, a date or a time."""
    differing = [figures_of(only) for only in pair.only]
    words = [token for only in pair.only for token in only if token.kind not in FIGURES]
    if not all(differing) or words or len(differing[0]) != len(differing[1]):
        return None
    if pair.shared < 2 or pair.alike < ALIKE:
        return None
    return _figure_finding(pair, differing)


def _figure_finding(pair: Pair, differing: list[list[Token]]) -> Finding | None:
    if any(
        _names(token, each, claim)
        for only, each, claim in zip(differing, (pair.first, pair.second), pair.claims, strict=True)
        for token in only
    ):
        return None
    if _differ_on_both_sides(pair, differing):
        return None
    one, two = frames(pair.first), frames(pair.second)
    if one and two and one != two:
        return None
    kinds = {token.kind for only in differing for token in only}
    days = [{token.norm for token in only if token.norm.startswith("day")} for only in differing]
    if len(differing[0]) > 1 and days[0] and days[1] and days[0] != days[1]:
        return None  # another day of the week, another occasion
    if len(kinds) > 1 and not {token.kind for token in differing[0]} & {token.kind for token in differing[1]}:
        return None
    if _is_occasions(pair, differing):
        return None
    rule = Rule.NUMBER if "number" in kinds else Rule.DATE
    what = "a number" if rule is Rule.NUMBER else "a date or time"
    shown = f"“{raw(pair.first, differing[0])}” and “{raw(pair.second, differing[1])}”"
    return finding(pair, rule, f"They differ in {what}: {shown}.")


def _differ_on_both_sides(pair: Pair, differing: list[list[Token]]) -> bool:
    """Whether a figure differs in what is spoken of and another in what is said of it: two things, each with its own."""
    return all(
        claim is not None and all(any(token in part for token in only) for part in (claim.subject, claim.object))
        for only, claim in zip(differing, pair.claims, strict=True)
    )


def _is_occasions(pair: Pair, differing: list[list[Token]]) -> bool:
    """Whether the two tell of two things that happened, at two times."""
    dated = any(token.kind in ("date", "time") for only in differing for token in only)
    return dated and (len(differing[0]) > 1 or (pair.claims[0] is None or not pair.claims[0].single)) and (
        is_occasion(pair.first) and is_occasion(pair.second)
    )  # fmt: skip


def _names(token: Token, reading: Reading, claim: Claim | None) -> bool:
    """Whether a number names something, as in `room 5` or `第3章`, and so belongs to what is spoken of."""
    if token.kind != "number":
        return False
    place = reading.tokens.index(token)
    before = reading.tokens[place - 1] if place else None
    if before is not None and (before.norm in _NUMBERED or reading.folded[token.at - 1 : token.at] == "#"):
        return True
    if reading.folded[token.to : token.to + 1] == "号":
        return True
    if claim is None or before is None or before.kind not in ("word", "han"):
        return False
    if len(claim.subject) < 2 or claim.subject[-1] != token:
        return False
    return not (claim.turned and claim.single) or before.norm == "port"


def other_object(pair: Pair) -> Finding | None:
    """The same subject and relation, but another object, where there is one at a time."""
    one, two = pair.claims
    if one is None or two is None or one.relation != two.relation or not (one.single and two.single):
        return None
    if pair.negated[0] % 2 != pair.negated[1] % 2 or pair.negated[0]:
        return None
    if not norms(one.subject) or norms(one.subject) != norms(two.subject):
        return None
    if not may_clash(pair) or (one.relation == "is" and not say_alike(pair)):
        return None
    if one.relation in _PLACES and not lie_apart(_said(pair.first, one.object), _said(pair.second, two.object)):
        return None
    mine, yours = _head(one.object, two.object)
    if not mine or not yours:
        return None
    if all(token.kind in FIGURES or token.norm in LIGHT_WORDS for token in (*mine, *yours)):
        figures = [figures_of(mine), figures_of(yours)]
        return _figure_finding(pair, figures) if all(figures) else None
    shown = f"“{raw(pair.first, mine)}” and “{raw(pair.second, yours)}”"
    what = quoted(raw(pair.first, [token for token in one.subject if not token.empty]))
    return finding(pair, Rule.OTHER_OBJECT, f"Of “{what}” there is one at a time, but they say {shown}.")


def _said(reading: Reading, tokens: Sequence[Token]) -> str:
    return reading.folded[tokens[0].at : tokens[-1].to]


def _head(one: Sequence[Token], two: Sequence[Token]) -> tuple[list[Token], list[Token]]:
    """What differs between two objects, where it is their head that differs; nothing where one only says more."""
    first, second = ([token for token in each if not token.empty] for each in (one, two))
    while first and second and first[-1].norm == second[-1].norm:
        first, second = first[:-1], second[:-1]
    first, second = _after_the_same(first, second)
    if not first or not second or first[0].norm == second[0].norm or max(len(first), len(second)) > _room(first):
        return [], []
    if norms(first) <= norms(second) or norms(second) <= norms(first):
        return [], []
    return first, second


def _after_the_same(one: list[Token], two: list[Token]) -> tuple[list[Token], list[Token]]:
    """Two objects without the word or the Han characters with which both begin, as in `team Otter` and `team Falcon`."""
    size = 0
    while (
        size < min(len(one), len(two)) - 1 and one[size].norm == two[size].norm and one[size].kind in ("han", "word")
    ):
        size += 1
    rest = one[size:], two[size:]
    together = (
        all(token.at <= last.to + 1 for last, token in ((one[size - 1], one[size]), (two[size - 1], two[size])))
        if size
        else False
    )
    if together and (one[0].kind == "han" or (size == 1 and all(len(each) == 1 and each[0].named for each in rest))):
        return rest
    return one, two


def _room(tokens: Sequence[Token]) -> int:
    return MAX_OBJECT * (2 if any(token.kind == "han" for token in tokens) else 1)


def reworded_figure(pair: Pair) -> Finding | None:
    """The same in other light words, and a number of the same unit that differs."""
    figures = [[token for token in only if token.kind == "number"] for only in pair.only]
    others = [
        token for only in pair.only for token in only if token.kind != "number" and token.norm not in LIGHT_WORDS
    ]
    if others or len(figures[0]) != 1 or len(figures[1]) != 1 or pair.shared < 4:
        return None
    units = {token.norm.lstrip("0123456789.") for only in figures for token in only}
    return _figure_finding(pair, figures) if len(units) == 1 else None


def other_ending(pair: Pair) -> Finding | None:
    """Word for word the same but for the name at the end, where nothing says that there may be several."""
    if pair.first.norms[:-1] != pair.second.norms[:-1] or pair.negated[0] or pair.negated[1]:
        return None
    if len(pair.regions) != 1:
        return None
    mine, yours = pair.regions[0]
    one, two = pair.claims
    several = any(claim is not None and (not claim.single) for claim in (one, two))
    if several or not mine or not yours or is_occasion(pair.first) or is_occasion(pair.second):
        return None
    if mine[-1] != pair.first.telling[-1] or yours[-1] != pair.second.telling[-1] or pair.shared < 6:
        return None
    if not all(len(each) == 1 and each[0].named and each[0].kind == "word" for each in (mine, yours)):
        return None
    shown = f"“{raw(pair.first, mine)}” and “{raw(pair.second, yours)}”"
    return finding(pair, Rule.OTHER_OBJECT, f"They say the same of {shown}.")


def told_to_change(pair: Pair) -> Finding | None:
    """The second says that what the first speaks of has changed, in a sentence of another build."""
    one = pair.claims[0]
    if one is None or not one.single or not CHANGED.search(pair.second.folded) or CHANGED.search(pair.first.folded):
        return None
    about, said = norms(one.subject), {norm_of(token) for token in pair.second.telling}
    new = [token for token in pair.only[1] if token.named or token.kind in FIGURES]
    if not about or not about <= said or not new or pair.negated[0] != pair.negated[1] or pair.shared < 2:
        return None
    return finding(pair, Rule.CHANGED, "The second tells of a change of what the first says.")
