"""Keys that mean the same: `decision:shop:db` and `decision:shop:database`."""

from __future__ import annotations

import re

from memory.conflicts.reading import normal_word
from memory.conflicts.values import Told
from memory.conflicts.vocabulary import FILLERS

_ALIKE_TYPES = frozenset({"preferences", "decisions", "goals"})
_JOINTS = re.compile(r"[^\w]+|_")


def key_words(item_type: str, key: str | None) -> frozenset[str]:
    """The words of a key after its prefix, each in its normal form; none where the type's keys only number things."""
    if key is None or item_type not in _ALIKE_TYPES:
        return frozenset()
    parts = (part for part in _JOINTS.split(key.casefold().partition(":")[2]) if part)
    return frozenset(normal_word(part) for part in parts if part not in FILLERS)


def like_keys(first: Told, second: Told) -> bool:
    """Whether two memories of one type have keys of the same words, or one has all words of the other and one more."""
    one, two = key_words(first.type, first.key), key_words(second.type, second.key)
    if first.type != second.type or not one or not two or first.key == second.key:
        return False
    fewer, more = sorted((one, two), key=len)
    return one == two or (len(fewer) > 1 and fewer < more and len(more) - len(fewer) == 1 and more - fewer <= _USUAL)


# Words that a key may have or lack without meaning another thing.
_USUAL = frozenset(
    map(
        normal_word,
        [
            "default",
            "main",
            "preferred",
            "choice",
            "setting",
            "style",
            "type",
            "name",
            "value",
            "option",
            "policy",
            "mode",
            "current",
        ],
    )
)
