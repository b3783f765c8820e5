"""The search action."""

from __future__ import annotations

from kernel.actions import Action, register
from kernel.conf import conf
from kernel.context import Ctx, Right
from kernel.errors import TooLargeError
from memory.actions.place import place_of, read_target
from memory.contracts import SearchMemoryInput, SearchMemoryResult
from memory.selectors.searching import search


def _search(given: SearchMemoryInput, ctx: Ctx) -> SearchMemoryResult:
    if len(given.query) > conf().max_query_chars:
        raise TooLargeError(f"query has {len(given.query)} characters; {conf().max_query_chars} at most.")
    found = search(given, place_of(given, ctx), ctx)
    return SearchMemoryResult(
        results=found.results, conflicts=found.conflicts, next_cursor=found.next_cursor, warnings=found.warnings
    )


SEARCH_MEMORY = register(
    Action(
        "search_memory",
        "Find what was said or learned in the scopes you read; words in any language, best first.",
        SearchMemoryInput,
        SearchMemoryResult,
        Right.READ,
        read_target,
        _search,
    )
)
