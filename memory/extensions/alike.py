"""Which proposals about memory say nearly the same, so that a person may decide on them together: a key from the input."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

from kernel.canonical import digest
from kernel.likeness import likeness, likeness_of
from kernel.text import fold

# What tells one of several like proposals from another, and nothing of what it would make true.
_ASIDE = frozenset(
    ("idempotency_key", "domain_id", "scope", "scope_ref", "memory_item_id", "reason", "evidence_refs", "verification_refs",
     "reviewer", "key", "turn_id", "message")
)  # fmt: skip
_SPOKEN = frozenset({"messages", "tool_calls", "refs"})
_WORD = re.compile(r"[^\W_]+")


def alike(action: str, given: Mapping[str, Any], statement: str = "") -> str:
    """Equal for calls of an action of which the texts say nearly the same (`kernel.likeness`) and everything else is equal;
    `given` is the input as plain JSON, `statement` that of the item which it names.

    Of an item's key the segments count that its words do not say: `decision:shop:port` of "5432" is about the port.

    Stored proposals keep what this gives and new ones are compared with it: who changes it keys them anew by a migration,
    as `memory.migrations` does in `0010_alike` and since, which calls this.
    """
    if action == "commit_turn":
        said: dict[str, Any] = {
            name: [_plain(each) for each in told] for name, told in given["turn_events"].items() if told
        }
    else:
        said = _plain({**given, "item": _plain(given["item"])} if "item" in given else given)
    learned = {name: inner for name, inner in said.items() if name not in _SPOKEN}
    return digest([action, likeness(statement), likeness_of(learned or said)])


def _plain(told: Mapping[str, Any]) -> dict[str, Any]:
    """What a call or one of its items says, without what stands around it and what was left out. Values stay whole: there
    a `scope` or an empty list is something said."""
    kept = {name: value for name, value in told.items() if name not in _ASIDE and value not in (None, "", [], {})}
    about = _about(told["key"], kept) if isinstance(told.get("key"), str) else []
    return {**kept, "about": about} if about else kept


def _about(key: str, item: Any) -> list[str]:
    """The segments of a key that the words of its item do not say."""
    said = {word for text in _texts(item) for word in _WORD.findall(fold(text))}
    return [each for each in fold(key).split(":") if not set(_WORD.findall(each)) <= said]


def _texts(tree: Any) -> Iterator[str]:
    if isinstance(tree, str):
        yield tree
    elif isinstance(tree, Mapping | list):
        for inner in tree.values() if isinstance(tree, Mapping) else tree:
            yield from _texts(inner)
