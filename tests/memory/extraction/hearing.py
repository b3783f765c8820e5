"""Short ways to say something and to see what it proposes."""

from __future__ import annotations

from typing import Any, cast

from memory.extraction import Extraction, Proposed, Said, extract


def hear(*texts: str, role: str = "user", tasks: tuple = ()) -> Extraction:
    return extract([Said(role, "", text) for text in texts], tasks)


def keys(*texts: str, **fields) -> list[str]:
    return [item.key for item in hear(*texts, **fields).proposed]


def reasons(*texts: str, **fields) -> set[str]:
    return {item.reason for item in hear(*texts, **fields).skipped}


def profile_of(item: Proposed) -> dict[str, str]:
    """The facts of a profile by name."""
    return {fact["k"]: fact["v"] for fact in cast("list[dict[str, Any]]", item.value["facts"])}
