"""Judging two memories: do they contradict each other, does one update the other, do they say the same, or neither."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import pairwise

from kernel.text import fold
from memory.conflicts.claims import is_past
from memory.conflicts.describing import other_being
from memory.conflicts.differing import ALIKE, other_ending, other_figure, other_object, reworded_figure, told_to_change
from memory.conflicts.pairing import LIGHT_WORDS, Pair, compares, differences, finding, norms, quoted, raw
from memory.conflicts.reading import FIGURES, Token, normal_word, read
from memory.conflicts.values import Finding, Label, Rule, Told
from memory.conflicts.vocabulary import CHANGED, EXCLUSIVE, OPPOSITES

TEXTUAL = frozenset({"facts", "decisions", "preferences", "goals", "patterns"})
ONLY_REPEATED = frozenset({"tasks", "cases", "events"})
_LONG = 5
_RELATED = 0.2  # less in common, and they speak of other things; most that share a signature do
_ENOUGH = 4  # two words, or four Han characters
_MOSTLY = 0.7
_OPPOSITE = {frozenset(map(normal_word, pair)) for pair in OPPOSITES}


def judge(first: Told, second: Told) -> Finding | None:
    """What is wrong between two memories of one scope, or None: the first was there before the second."""
    if not may_meet(first, second):
        return None
    pair = Pair(read(first.text), read(second.text))
    if is_past(pair.first) != is_past(pair.second):
        return None
    if pair.alike < _RELATED:
        found = other_being(pair) if {first.type, second.type} <= TEXTUAL else None
        return _as_change(found, first, second, pair) if found is not None else None
    found = _repeated(pair)
    if found is not None and found.rule is Rule.NEAR_DUPLICATE and _moved_on(first, second):
        return Finding(Rule.CHANGED, "The same thing with another status.")
    if found is not None or {first.type, second.type} - TEXTUAL:
        return found
    for rule in (
        _negated,
        _opposed,
        other_figure,
        other_object,
        other_being,
        reworded_figure,
        other_ending,
        told_to_change,
    ):
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
    pair = Pair(read(first.text), read(second.text))
    found = judge(*(replace(told, type="facts", key=None) for told in (first, second)))
    return found or _as_change(Finding(Rule.SAME_KEY, "The key has another value now."), first, second, pair)


def _moved_on(first: Told, second: Told) -> bool:
    one, two = first.value.get("status"), second.value.get("status")
    return isinstance(one, str) and isinstance(two, str) and fold(one) != fold(two)


def _as_change(found: Finding, first: Told, second: Told, pair: Pair) -> Finding:
    """A contradiction of which the second says itself that it takes the place of the first."""
    begun = first.valid_from is None or (second.valid_from is not None and first.valid_from < second.valid_from)
    later = second.valid_from is not None and begun and first.valid_to is None
    told = CHANGED.search(pair.second.folded) and not CHANGED.search(pair.first.folded)
    if found.label is not Label.CONFLICT or not (later or told):
        return found
    return Finding(Rule.CHANGED, f"{found.explanation} The second tells of the change.", found.differences)


def judge_key(first: Told, second: Told, here: str, there: str) -> Finding | None:
    """What is wrong between the values of one key in two scopes, named `here` and `there`; None where they agree."""
    pair = Pair(read(first.text), read(second.text))
    if first.type == "profile":
        return _other_facts(first, second, here, there)
    if pair.only == ([], []) or not _overlap(first, second):
        return None
    told = f"“{quoted(first.text)}” in {here}, “{quoted(second.text)}” in {there}"
    return finding(pair, Rule.SAME_KEY, f"{first.key} has another value in each scope: {told}.")


def _other_facts(first: Told, second: Told, here: str, there: str) -> Finding | None:
    known = {fold(str(fact.get("k"))): str(fact.get("v")) for fact in first.value.get("facts", [])}
    for fact in second.value.get("facts", []):
        name, value = str(fact.get("k")), str(fact.get("v"))
        other = known.get(fold(name))
        if other is not None and Pair(read(other), read(value)).only != ([], []):
            told = f"“{quoted(other)}” in {here}, “{quoted(value)}” in {there}"
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


def _repeated(pair: Pair) -> Finding | None:
    """Equal after folding, apart from filler, order and punctuation."""
    if pair.only != ([], []):
        return Finding(Rule.NEAR_DUPLICATE, "Both say the same in another spelling.") if _respelt(pair) else None
    if not pair.regions:
        return Finding(Rule.NEAR_DUPLICATE, "Both say the same in almost the same words.")
    if compares(pair.first) or compares(pair.second):
        return finding(pair, Rule.OPPOSITE, "Both compare the same things, the other way round.")
    if _turned_round(pair):
        return None
    return Finding(Rule.NEAR_DUPLICATE, "Both say the same in another order.", differences(pair))


def _respelt(pair: Pair) -> bool:
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


def _turned_round(pair: Pair) -> bool:
    """Whether the same words say another thing in the other order: `A reports to B`, `not A but B`."""
    if sum(pair.negated):
        following = [_following(each.telling) for each in (pair.first, pair.second)]
        if following[0] != following[1]:
            return True
    one, two = pair.claims
    if one is None or two is None or (one.turned and two.turned):
        return False
    return norms(one.subject) != norms(two.subject) and bool(norms(one.subject) & norms(two.object))


def _following(tokens: Sequence[Token]) -> set[str]:
    return {after.norm for token, after in pairwise(tokens) if token.kind == "not"}


def _negated(pair: Pair) -> Finding | None:
    """The same, but one of the two denies it."""
    one, two = pair.negated
    if one % 2 == two % 2 or pair.shared < 2:
        return None
    rest = [[token for token in only if token.kind != "not" and token.norm not in LIGHT_WORDS] for only in pair.only]
    plain = all(token.norm == "not" for only in pair.only for token in only if token.kind == "not")
    if not any(rest) and plain:
        return finding(pair, Rule.NEGATION, "One says it, the other denies it.")
    most = max(len(only) for only in rest)
    named = any(token.named or token.kind in FIGURES for only in rest for token in only)
    if most > (1 if plain else 2) or named or pair.shared < _ENOUGH or (any(rest) and pair.alike < ALIKE):
        return None
    if plain and sum(map(len, rest)) > 1 and pair.alike < _MOSTLY:
        return None
    return finding(pair, Rule.OPPOSITE, "One says it, the other denies it in other words.")


def _opposed(pair: Pair) -> Finding | None:
    """The same, but for two words that exclude each other."""
    first, second = ([token for token in only if token.norm not in LIGHT_WORDS] or only for only in pair.only)
    if len(first) != 1 or len(second) != 1 or not _exclude(first[0].norm, second[0].norm):
        return None
    if pair.shared < 2 or pair.negated[0] % 2 != pair.negated[1] % 2:
        return None
    shown = f"“{raw(pair.first, first)}” and “{raw(pair.second, second)}”"
    return finding(pair, Rule.OPPOSITE, f"{shown} exclude each other.")


def _exclude(one: str, two: str) -> bool:
    group = EXCLUSIVE.get(one)
    return frozenset({one, two}) in _OPPOSITE or (group is not None and group == EXCLUSIVE.get(two) and one != two)
