"""Two statements side by side: what they share, where they differ, and how a finding about them is told."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from functools import cached_property, lru_cache

from memory.conflicts.claims import Claim, claim_of
from memory.conflicts.reading import FIGURES, Reading, Token, norm_of, normal_word, read
from memory.conflicts.values import Difference, Finding, Rule
from memory.conflicts.vocabulary import COMPARING, LIGHT

LIGHT_WORDS = LIGHT | frozenset(map(normal_word, LIGHT))
_QUOTED = 60


@lru_cache(maxsize=2_000)
def _claim(text: str) -> Claim | None:
    """A new memory is compared with several: what each says is worked out once."""
    return claim_of(read(text))


@dataclass(frozen=True)
class Pair:
    """Two statements read, and where they differ."""

    first: Reading
    second: Reading

    @cached_property
    def regions(self) -> list[tuple[tuple[Token, ...], tuple[Token, ...]]]:
        """The stretches that differ, in order."""
        one, two = self.first.telling, self.second.telling
        matcher = SequenceMatcher(None, self.first.norms, self.second.norms, False)
        return [(one[i:j], two[k:m]) for tag, i, j, k, m in matcher.get_opcodes() if tag != "equal"]

    @cached_property
    def only(self) -> tuple[list[Token], list[Token]]:
        """The tokens that only the first has, and those that only the second has, wherever they stand."""
        return _beyond(self.first, self.second), _beyond(self.second, self.first)

    @cached_property
    def shared(self) -> int:
        """How much both say beside figures: words count two, Han characters one."""
        counts, weights = self.second.counts, self.first.weights
        return sum(
            weights[norm] * min(count, counts[norm]) for norm, count in self.first.counts.items() if norm in counts
        )

    @cached_property
    def alike(self) -> float:
        """The share of what is common in the longer of the two, figures apart."""
        most = max(self.first.weight, self.second.weight)
        return self.shared / most if most else 0.0

    @cached_property
    def claims(self) -> tuple[Claim | None, Claim | None]:
        """What each says of what."""
        return _claim(self.first.text), _claim(self.second.text)

    @property
    def negated(self) -> tuple[int, int]:
        """How many negations each has."""
        return self.first.negations, self.second.negations


def compares(reading: Reading) -> bool:
    return COMPARING.search(reading.folded) is not None


def figures_of(tokens: Sequence[Token]) -> list[Token]:
    return [token for token in tokens if token.kind in FIGURES]


def _beyond(one: Reading, two: Reading) -> list[Token]:
    left = dict(two.counts)
    found = []
    for norm, token in zip(one.norms, one.telling, strict=True):
        if left.get(norm):
            left[norm] -= 1
        else:
            found.append(token)
    return found


def norms(tokens: Sequence[Token]) -> set[str]:
    return {norm_of(token) for token in tokens if not token.empty}


def raw(reading: Reading, tokens: Sequence[Token]) -> str:
    return reading.text[tokens[0].start : tokens[-1].end].strip() if tokens else ""


def quoted(text: str) -> str:
    return text if len(text) <= _QUOTED else f"{text[:_QUOTED]}…"


def finding(pair: Pair, rule: Rule, explanation: str) -> Finding:
    return Finding(rule, explanation, differences(pair))


def differences(pair: Pair) -> tuple[Difference, ...]:
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
