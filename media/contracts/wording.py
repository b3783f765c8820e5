"""What a query asks for word by word: phrases in double quotes, and AND, OR and NOT in capitals.

`a NOT b` holds a and not b; where operators are used, words and phrases beside each other must all be held; OR parts whole
such groups; an operator without anything beside it says nothing. With quotes alone only the phrases must be held. Operators
in small letters are words, so that a question in plain language stays one.
Source: the query parser of the older document store (its operators in any case).
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from kernel.text import fold

_PARTS = re.compile(r'"((?:[^"\\]|\\.)*)"|(\S+)')
_OPERATORS = ("AND", "OR", "NOT")


@dataclass(frozen=True, slots=True)
class _Term:
    """One word or quoted phrase, folded; `wanted` is whether a text must hold it or must not."""

    text: str
    wanted: bool
    quoted: bool

    def suits(self, folded: str) -> bool:
        # A Latin word stands by itself; scripts without spaces are held anywhere.
        before = r"(?<![0-9a-z])" if self.text[0].isascii() and self.text[0].isalnum() else ""
        after = r"(?![0-9a-z])" if self.text[-1].isascii() and self.text[-1].isalnum() else ""
        held = re.search(before + re.escape(self.text) + after, folded) is not None
        return held is self.wanted


@dataclass(frozen=True, slots=True)
class Wording:
    """`words` is what to rank by; `groups` are the alternatives of which a text must suit one whole, none for any text;
    `joined` says that operators were used, which nobody does by accident as with quotes."""

    words: str
    groups: tuple[tuple[_Term, ...], ...] = ()
    joined: bool = False

    @property
    def restricts(self) -> bool:
        """Whether a text can fail it."""
        return bool(self.groups)

    def holds(self, folded: str) -> bool:
        """Whether a folded text has what is asked for."""
        return not self.groups or any(all(term.suits(folded) for term in group) for group in self.groups)


def wording(text: str) -> Wording:
    """Read a query. One without quotes and operators restricts nothing."""
    parts = [
        (_unescaped(found[1]), True) if found[2] is None else (found[2], False) for found in _PARTS.finditer(text)
    ]
    if not any(quoted or part in _OPERATORS for part, quoted in parts):
        return Wording(text)
    groups = _groups(parts)
    joined = any(part in _OPERATORS for part, quoted in parts if not quoted)
    words = " ".join(term.text for group in groups for term in group if term.wanted)
    if not joined:
        groups = tuple(tuple(term for term in group if term.quoted) for group in groups)
    return Wording(words, groups, joined) if any(groups) else Wording(text)


def _groups(parts: Sequence[tuple[str, bool]]) -> tuple[tuple[_Term, ...], ...]:
    groups: list[list[_Term]] = [[]]
    negated = False
    for part, quoted in parts:
        if not quoted and part in _OPERATORS:
            if part == "OR":
                groups.append([])
            negated = part == "NOT"
            continue
        folded = fold(part).strip()
        if folded:
            groups[-1].append(_Term(folded, not negated, quoted))
        negated = False
    return tuple(tuple(group) for group in groups if group)


def _unescaped(phrase: str) -> str:
    return re.sub(r"\\(.)", r"\1", phrase)
