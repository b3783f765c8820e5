"""Signatures of statements: what two texts share when they might be about the same thing."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from itertools import combinations

from memory.conflicts.beings import being_of
from memory.conflicts.judging import ONLY_REPEATED, TEXTUAL
from memory.conflicts.reading import FIGURES, read
from memory.conflicts.values import Told
from memory.conflicts.vocabulary import LIGHT

MAX_WORDS = 6  # of a text: those with the smallest hashes, so that like texts choose alike
WIDE_WORDS = 4  # of them, those by which texts of several scopes meet: fewer rows for what is rarer
FEW_WORDS = 3  # a text of so few is found by each of them
_BYTES = 8


def signatures(told: Told, scope_key: int) -> list[int]:
    """Signed 64-bit numbers of a statement in a scope, at most sixteen; none for what is not compared by its text."""
    if told.type not in TEXTUAL | ONLY_REPEATED:
        return []
    group = "" if told.type in TEXTUAL else told.type
    parts = [*_parts(told.text, MAX_WORDS), *(_subject(told.text) if told.type in TEXTUAL else [])]
    return [_number(f"{scope_key}\x00{group}\x00{part}") for part in parts]


def wide_signatures(told: Told, domain_id: str, scope_type: str) -> list[int]:
    """Signed 64-bit numbers of a statement among all scopes of one type in a domain, at most six. Who reads a scope of
    one type reads those of the others with it; two of one type are two truths."""
    if told.type not in TEXTUAL:
        return []
    return [_number(f"{domain_id}\x00wide\x00{scope_type}\x00{part}") for part in _parts(told.text, WIDE_WORDS)]


def key_signature(domain_id: str, item_type: str, key: str) -> int:
    """The signed 64-bit number under which the rows of one key meet over all scopes of a domain."""
    return _number(f"{domain_id}\x00key\x00{item_type}\x00{key}")


def _parts(text: str, most: int) -> list[str]:
    words = sorted(set(_words(text)), key=_place)[:most]
    parts = ["\x01".join(pair) for pair in combinations(sorted(words), 2)]
    return [*parts, *(words if len(words) <= FEW_WORDS else [])]


def _subject(text: str) -> list[str]:
    """What a statement says the being of: two of one subject may have no second word in common."""
    being = being_of(read(text))
    return ["is\x01" + "\x01".join(sorted(being.left.plain))] if being is not None and being.left.plain else []


def _words(text: str) -> Iterator[str]:
    """Words that tell, and pairs of Han characters that stand together."""
    last = None
    for token in read(text).tokens:
        telling = not token.empty and token.kind not in (*FIGURES, "not") and token.norm not in LIGHT
        if telling and token.kind == "word":
            yield token.norm
        if telling and token.kind == "han" and last is not None and last.to == token.at:
            yield last.norm + token.norm
        last = token if telling and token.kind == "han" else None


def _place(word: str) -> bytes:
    return hashlib.blake2b(word.encode(), digest_size=_BYTES).digest()


def _number(text: str) -> int:
    raw = hashlib.blake2b(text.encode("utf-8", "surrogatepass"), digest_size=_BYTES).digest()
    return int.from_bytes(raw, "big", signed=True)
