"""Numbers and bytes under which the index keeps terms: keys, packed counts, and places in a session."""

from __future__ import annotations

import hashlib
import sys
from array import array
from bisect import bisect_left
from collections.abc import Iterable, Mapping

MAX_COUNT = 255
_KEY_BYTES = 8
_CHAIN_BITS = 23
FIRST_PLACE = 16
LAST_PLACE = (1 << _CHAIN_BITS) - FIRST_PLACE


def term_key(scope_key: int, term: str) -> int:
    """The signed 64-bit key of a term within a scope, the same on every database and platform."""
    raw = hashlib.blake2b(f"{scope_key}\x00{term}".encode(), digest_size=_KEY_BYTES).digest()
    return int.from_bytes(raw, "big", signed=True)


def chain_start(scope_key: int, kind: str, session_key: int) -> int:
    """The number from which the texts of one kind of one session are counted within a scope.

    Texts that follow each other have numbers that follow each other; the first and last numbers of a chain stay free,
    so that a step from one text never lands in another chain.
    """
    raw = hashlib.blake2b(f"{scope_key}\x00{kind}\x00{session_key}".encode(), digest_size=5).digest()
    return int.from_bytes(raw, "big") << _CHAIN_BITS


def pack(counts: Mapping[int, int]) -> bytes:
    """Term keys with their counts as bytes, in the order of the keys."""
    ordered = sorted(counts)
    keys = array("q", ordered)
    if sys.byteorder == "big":
        keys.byteswap()
    return keys.tobytes() + bytes([min(counts[key], MAX_COUNT) for key in ordered])


def unpack(packed: bytes) -> Iterable[tuple[int, int]]:
    """The term keys and counts of `pack`."""
    keys, size = _keys(packed)
    return zip(keys, packed[size:], strict=True)


def pick(packed: bytes, wanted: Mapping[int, str]) -> dict[str, int]:
    """Of `pack` only the wanted keys: the counts by the names that `wanted` gives them."""
    keys, size = _keys(packed)
    found = {}
    for key, name in wanted.items():
        place = bisect_left(keys, key)
        if place < len(keys) and keys[place] == key:
            found[name] = packed[size + place]
    return found


def _keys(packed: bytes) -> tuple[array[int], int]:
    size = len(packed) // (_KEY_BYTES + 1) * _KEY_BYTES
    keys = array("q", packed[:size])
    if sys.byteorder == "big":
        keys.byteswap()
    return keys, size
