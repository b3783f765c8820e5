"""Judging two memories: do they contradict each other, does one update the other, do they say the same, or neither."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from difflib import SequenceMatcher
from functools import cached_property
from itertools import pairwise

from kernel.text import fold
from memory.conflicts.claims import Claim, claim_of, frames, is_occasion, is_past
from memory.conflicts.reading import FIGURES, Reading, Token, normal_word, read
from memory.conflicts.values import Difference, Finding, Label, Rule, Told
from memory.conflicts.vocabulary import CHANGED, COMPARING, EXCLUSIVE, LIGHT, NUMBERED, OPPOSITES

TEXTUAL = frozenset({"facts", "decisions", "preferences", "goals", "patterns"})
ONLY_REPEATED = frozenset({"tasks", "cases", "events"})
MAX_OBJECT = 8
_ALIKE = 0.6
_LONG = 5
_ENOUGH = 4  # two words, or four Han characters
_MOSTLY = 0.7
_QUOTED = 60
_OPPOSITE = {frozenset(map(normal_word, pair)) for pair in OPPOSITES}
_LIGHT = LIGHT | frozenset(map(normal_word, LIGHT))
_NUMBERED = NUMBERED | frozenset(map(normal_word, NUMBERED))


@dataclass(frozen=True)
class _Pair:
    """Two statements read, and where they differ."""

    first: Reading
    second: Reading

    @cached_property
    def regions(self) -> list[tuple[tuple[Token, ...], tuple[Token, ...]]]:
        """The stretches that differ, in order."""
        one, two = self.first.telling, self.second.telling
        matcher = SequenceMatcher(None, [_norm(token) for token in one], [_norm(token) for token in two], False)
        return [(one[i:j], two[k:m]) for tag, i, j, k, m in matcher.get_opcodes() if tag != "equal"]

    @cached_property
    def only(self) -> tuple[list[Token], list[Token]]:
        """The tokens that only the first has, and those that only the second has, wherever they stand."""
        return _beyond(self.first.telling, self.second.telling), _beyond(self.second.telling, self.first.telling)

    @cached_property
    def shared(self) -> int:
        """How much both say beside figures: words count two, Han characters one."""
        common = Counter(map(_norm, self.first.telling)) & Counter(map(_norm, self.second.telling))
        weight = {_norm(token): _weight(token) for token in self.first.telling}
        return sum(weight[norm] * count for norm, count in common.items())

    @cached_property
    def alike(self) -> float:
        """The share of what is common in the longer of the two, figures apart."""
        most = max(sum(map(_weight, reading.telling)) for reading in (self.first, self.second))
        return self.shared / most if most else 0.0

    @cached_property
    def claims(self) -> tuple[Claim | None, Claim | None]:
        """What each says of what."""
        return claim_of(self.first), claim_of(self.second)

    @property
    def negated(self) -> tuple[int, int]:
        """How many negations each has."""
        one, two = (sum(token.kind == "not" for token in each.telling) for each in (self.first, self.second))
        return one, two


def judge(first: Told, second: Told) -> Finding | None:
    """What is wrong between two memories of one scope, or None: the first was there before the second."""
    if not may_meet(first, second):
        return None
    pair = _Pair(read(first.text), read(second.text))
    if not pair.first.telling or not pair.second.telling or is_past(pair.first) != is_past(pair.second):
        return None
    found = _repeated(pair)
    if found is not None and found.rule is Rule.NEAR_DUPLICATE and _moved_on(first, second):
        return Finding(Rule.CHANGED, "The same thing with another status.")
    if found is not None or {first.type, second.type} - TEXTUAL:
        return found
    for rule in (_negated, _opposed, _other_figure, _other_object, _reworded_figure, _other_ending, _told_to_change):
        found = rule(pair)
        if found is not None:
            return _as_change(found, first, second, pair)
    return None


def compare_versions(first: Told, second: Told) -> Finding | None:
    """What a newer value of a key does to the older one: says the same, changes a figure, contradicts it; None where
    the two hold at different times."""
    if not _overlap(first, second):
        return None
    if _moved_on(first, second):
        return Finding(Rule.CHANGED, "The key has another status now.")
    pair = _Pair(read(first.text), read(second.text))
    found = judge(*(replace(told, type="facts", key=None) for told in (first, second)))
    return found or _as_change(Finding(Rule.SAME_KEY, "The key has another value now."), first, second, pair)


def _moved_on(first: Told, second: Told) -> bool:
    one, two = first.value.get("status"), second.value.get("status")
    return isinstance(one, str) and isinstance(two, str) and fold(one) != fold(two)


def _as_change(found: Finding, first: Told, second: Told, pair: _Pair) -> Finding:
    """A contradiction of which the second says itself that it takes the place of the first."""
    begun = first.valid_from is None or (second.valid_from is not None and first.valid_from < second.valid_from)
    later = second.valid_from is not None and begun and first.valid_to is None
    told = CHANGED.search(pair.second.folded) and not CHANGED.search(pair.first.folded)
    if found.label is not Label.CONFLICT or not (later or told):
        return found
    return Finding(Rule.CHANGED, f"{found.explanation} The second tells of the change.", found.differences)


def judge_key(first: Told, second: Told, here: str, there: str) -> Finding | None:
    """What is wrong between the values of one key in two scopes, named `here` and `there`; None where they agree."""
    pair = _Pair(read(first.text), read(second.text))
    if first.type == "profile":
        return _other_facts(first, second, here, there)
    if pair.only == ([], []) or not _overlap(first, second):
        return None
    told = f"“{_quoted(first.text)}” in {here}, “{_quoted(second.text)}” in {there}"
    return _finding(pair, Rule.SAME_KEY, f"{first.key} has another value in each scope: {told}.")


def _other_facts(first: Told, second: Told, here: str, there: str) -> Finding | None:
    known = {fold(str(fact.get("k"))): str(fact.get("v")) for fact in first.value.get("facts", [])}
    for fact in second.value.get("facts", []):
        name, value = str(fact.get("k")), str(fact.get("v"))
        other = known.get(fold(name))
        if other is not None and _Pair(read(other), read(value)).only != ([], []):
            told = f"“{_quoted(other)}” in {here}, “{_quoted(value)}” in {there}"
            return Finding(Rule.SAME_KEY, f"{first.key} tells two values of {name}: {told}.")
    return None


def may_meet(first: Told, second: Told) -> bool:
    """Whether two memories are compared at all: of kinds that say the same sort of thing, at overlapping times."""
    kinds = {first.type, second.type}
    return (kinds <= TEXTUAL or (len(kinds) == 1 and kinds <= ONLY_REPEATED)) and _overlap(first, second)


def _overlap(first: Told, second: Told) -> bool:
    for one, other in ((first, second), (second, first)):
        if one.valid_to is not None and other.valid_from is not None and one.valid_to <= other.valid_from:
            return False
    return True


def _repeated(pair: _Pair) -> Finding | None:
    """Equal after folding, apart from filler, order and punctuation."""
    if pair.only != ([], []):
        return Finding(Rule.NEAR_DUPLICATE, "Both say the same in another spelling.") if _respelt(pair) else None
    if not pair.regions:
        return Finding(Rule.NEAR_DUPLICATE, "Both say the same in almost the same words.")
    if _compares(pair.first) or _compares(pair.second):
        return _finding(pair, Rule.OPPOSITE, "Both compare the same things, the other way round.")
    if _turned_round(pair):
        return None
    return Finding(Rule.NEAR_DUPLICATE, "Both say the same in another order.", _differences(pair))


def _respelt(pair: _Pair) -> bool:
    """Whether the words that differ are the same letters, otherwise spaced or with one letter amiss."""
    if any(token.kind != "word" for only in pair.only for token in only) or not all(pair.only):
        return False
    readings = (pair.first, pair.second)
    raw = [
        "".join(filter(str.isalnum, each.folded[only[0].at : only[-1].to]))
        for each, only in zip(readings, pair.only, strict=True)
    ]
    if raw[0] == raw[1]:
        return True
    words = [
        [each.folded[token.at : token.to] for token in only] for each, only in zip(readings, pair.only, strict=True)
    ]
    return len(words[0]) == len(words[1]) <= 2 and all(_is_slip(*both) for both in zip(*words, strict=True))


def _is_slip(one: str, two: str) -> bool:
    """Whether two long words differ by one letter too many, or two swapped, or in a very long one by one letter."""
    if min(len(one), len(two)) < _LONG or not (one + two).isalpha():
        return False
    if len(one) == len(two):
        places = [n for n, (a, b) in enumerate(zip(one, two, strict=True)) if a != b]
        swapped = len(places) == 2 and places[1] == places[0] + 1 and one[places[0]] == two[places[1]]
        return swapped or (len(places) == 1 and len(one) > _LONG + 2)
    short, long = sorted((one, two), key=len)
    return len(long) == len(short) + 1 and any(long[:n] + long[n + 1 :] == short for n in range(len(long)))


def _turned_round(pair: _Pair) -> bool:
    """Whether the same words say another thing in the other order: `A reports to B`, `not A but B`."""
    if sum(pair.negated):
        following = [_following(each.telling) for each in (pair.first, pair.second)]
        if following[0] != following[1]:
            return True
    one, two = pair.claims
    if one is None or two is None or (one.turned and two.turned):
        return False
    return _norms(one.subject) != _norms(two.subject) and bool(_norms(one.subject) & _norms(two.object))


def _following(tokens: Sequence[Token]) -> set[str]:
    return {after.norm for token, after in pairwise(tokens) if token.kind == "not"}


def _negated(pair: _Pair) -> Finding | None:
    """The same, but one of the two denies it."""
    one, two = pair.negated
    if one % 2 == two % 2 or pair.shared < 2:
        return None
    rest = [[token for token in only if token.kind != "not" and token.norm not in _LIGHT] for only in pair.only]
    plain = all(token.norm == "not" for only in pair.only for token in only if token.kind == "not")
    if not any(rest) and plain:
        return _finding(pair, Rule.NEGATION, "One says it, the other denies it.")
    most = max(len(only) for only in rest)
    named = any(token.named or token.kind in FIGURES for only in rest for token in only)
    if most > (1 if plain else 2) or named or pair.shared < _ENOUGH or (any(rest) and pair.alike < _ALIKE):
        return None
    if plain and sum(map(len, rest)) > 1 and pair.alike < _MOSTLY:
        return None
    return _finding(pair, Rule.OPPOSITE, "One says it, the other denies it in other words.")


def _opposed(pair: _Pair) -> Finding | None:
    """The same, but for two words that exclude each other."""
    first, second = ([token for token in only if token.norm not in _LIGHT] or only for only in pair.only)
    if len(first) != 1 or len(second) != 1 or not _exclude(first[0].norm, second[0].norm):
        return None
    if pair.shared < 2 or pair.negated[0] % 2 != pair.negated[1] % 2:
        return None
    shown = f"“{_raw(pair.first, first)}” and “{_raw(pair.second, second)}”"
    return _finding(pair, Rule.OPPOSITE, f"{shown} exclude each other.")


def _exclude(one: str, two: str) -> bool:
    group = EXCLUSIVE.get(one)
    return frozenset({one, two}) in _OPPOSITE or (group is not None and group == EXCLUSIVE.get(two) and one != two)


def _other_figure(pair: _Pair) -> Finding | None:
    """The same, but for a number, a date or a time."""
    differing = [_figures_of(only) for only in pair.only]
    words = [token for only in pair.only for token in only if token.kind not in FIGURES]
    if not all(differing) or words or len(differing[0]) != len(differing[1]):
        return None
    if pair.shared < 2 or pair.alike < _ALIKE:
        return None
    return _figure_finding(pair, differing)


def _figure_finding(pair: _Pair, differing: list[list[Token]]) -> Finding | None:
    if any(
        _names(token, each, claim)
        for only, each, claim in zip(differing, (pair.first, pair.second), pair.claims, strict=True)
        for token in only
    ):
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
    shown = f"“{_raw(pair.first, differing[0])}” and “{_raw(pair.second, differing[1])}”"
    return _finding(pair, rule, f"They differ in {what}: {shown}.")


def _is_occasions(pair: _Pair, differing: list[list[Token]]) -> bool:
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


def _other_object(pair: _Pair) -> Finding | None:
    """The same subject and relation, but another object, where there is one at a time."""
    one, two = pair.claims
    if one is None or two is None or one.relation != two.relation or not (one.single and two.single):
        return None
    if pair.negated[0] % 2 != pair.negated[1] % 2 or pair.negated[0]:
        return None
    for subject, told, about, said in _orientations(one, two):
        if not _norms(about) or _norms(subject) != _norms(about):
            continue
        mine, yours = _head(told, said)
        if mine and yours:
            figures = [_figures_of(mine), _figures_of(yours)]
            if all(token.kind in FIGURES or token.norm in _LIGHT for token in (*mine, *yours)):
                return _figure_finding(pair, figures) if all(figures) else None
            shown = f"“{_raw(pair.first, mine)}” and “{_raw(pair.second, yours)}”"
            what = _quoted(_raw(pair.first, [token for token in subject if not token.empty]))
            return _finding(pair, Rule.OTHER_OBJECT, f"Of “{what}” there is one at a time, but they say {shown}.")
    return None


def _orientations(one: Claim, two: Claim) -> Iterator[tuple[tuple[Token, ...], ...]]:
    yield one.subject, one.object, two.subject, two.object
    if one.turned and two.turned:
        yield one.object, one.subject, two.object, two.subject
    if two.turned:
        yield one.subject, one.object, two.object, two.subject
    if one.turned:
        yield one.object, one.subject, two.subject, two.object


def _head(one: Sequence[Token], two: Sequence[Token]) -> tuple[list[Token], list[Token]]:
    """What differs between two objects, where it is their head that differs; nothing where one only says more."""
    first, second = ([token for token in each if not token.empty] for each in (one, two))
    while first and second and first[-1].norm == second[-1].norm:
        first, second = first[:-1], second[:-1]
    if not first or not second or first[0].norm == second[0].norm or max(len(first), len(second)) > _room(first):
        return [], []
    if _norms(first) <= _norms(second) or _norms(second) <= _norms(first):
        return [], []
    return first, second


def _room(tokens: Sequence[Token]) -> int:
    return MAX_OBJECT * (2 if any(token.kind == "han" for token in tokens) else 1)


def _reworded_figure(pair: _Pair) -> Finding | None:
    """The same in other light words, and a number of the same unit that differs."""
    figures = [[token for token in only if token.kind == "number"] for only in pair.only]
    others = [token for only in pair.only for token in only if token.kind != "number" and token.norm not in _LIGHT]
    if others or len(figures[0]) != 1 or len(figures[1]) != 1 or pair.shared < 4:
        return None
    units = {token.norm.lstrip("0123456789.") for only in figures for token in only}
    return _figure_finding(pair, figures) if len(units) == 1 else None


def _other_ending(pair: _Pair) -> Finding | None:
    """Word for word the same but for the name at the end, where nothing says that there may be several."""
    if len(pair.regions) != 1 or pair.negated[0] or pair.negated[1]:
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
    shown = f"“{_raw(pair.first, mine)}” and “{_raw(pair.second, yours)}”"
    return _finding(pair, Rule.OTHER_OBJECT, f"They say the same of {shown}.")


def _told_to_change(pair: _Pair) -> Finding | None:
    """The second says that what the first speaks of has changed, in a sentence of another build."""
    one = pair.claims[0]
    if one is None or not one.single or not CHANGED.search(pair.second.folded) or CHANGED.search(pair.first.folded):
        return None
    about, said = _norms(one.subject), {_norm(token) for token in pair.second.telling}
    new = [token for token in pair.only[1] if token.named or token.kind in FIGURES]
    if not about or not about <= said or not new or pair.negated[0] != pair.negated[1] or pair.shared < 2:
        return None
    return _finding(pair, Rule.CHANGED, "The second tells of a change of what the first says.")


def _finding(pair: _Pair, rule: Rule, explanation: str) -> Finding:
    return Finding(rule, explanation, _differences(pair))


def _differences(pair: _Pair) -> tuple[Difference, ...]:
    """The places that differ; where one side lacks a stretch, the place at which it would stand."""
    found = []
    ends = [0, 0]
    for one, two in pair.regions:
        spans = []
        for side, (tokens, reading) in enumerate(((one, pair.first), (two, pair.second))):
            if tokens:
                ends[side] = tokens[-1].end
                spans.append((tokens[0].start, tokens[-1].end))
            else:
                start = next((token.end for token in reversed(reading.telling) if token.end <= ends[side]), ends[side])
                spans.append((start, start))
        kinds = {token.kind for token in (*one, *two)}
        kind = kinds.pop() if len(kinds) == 1 else "words"
        found.append(
            Difference({"han": "words", "word": "words", "not": "negation"}.get(kind, kind), spans[0], spans[1])
        )
    return tuple(found)


def _compares(reading: Reading) -> bool:
    return COMPARING.search(reading.folded) is not None


def _figures_of(tokens: Sequence[Token]) -> list[Token]:
    return [token for token in tokens if token.kind in FIGURES]


def _beyond(one: Sequence[Token], two: Sequence[Token]) -> list[Token]:
    left = Counter(map(_norm, two))
    found = []
    for token in one:
        if left[_norm(token)]:
            left[_norm(token)] -= 1
        else:
            found.append(token)
    return found


def _norm(token: Token) -> str:
    return f"{token.kind}:{token.norm}" if token.kind in FIGURES else token.norm


def _norms(tokens: Sequence[Token]) -> set[str]:
    return {_norm(token) for token in tokens if not token.empty}


def _weight(token: Token) -> int:
    return 0 if token.kind in (*FIGURES, "not") else 1 if token.kind == "han" else 2


def _raw(reading: Reading, tokens: Sequence[Token]) -> str:
    return reading.text[tokens[0].start : tokens[-1].end].strip() if tokens else ""


def _quoted(text: str) -> str:
    return text if len(text) <= _QUOTED else f"{text[:_QUOTED]}…"
