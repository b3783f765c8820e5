"""How commit_turn and search_memory slow down as messages grow, on SQLite and on PostgreSQL, in one run.

`python -m benchmarks.commit_and_search [--quick]`. Milliseconds differ from machine to machine; the ratio is what counts.
"""

from __future__ import annotations

import random
import sys

from benchmarks.measuring import SIZES, Measured, question_of, run, set_up, timed, words_of

BATCH = 100


def measure(samples: int) -> list[Measured]:
    """Fill the store to each size in turn and time both operations there."""
    set_up()
    from benchmarks.store import Store  # noqa: PLC0415  Django has to be set up first

    store, draw, found = Store(), random.Random(1), []
    for size in SIZES:
        while store.messages < size:
            store.commit([words_of(draw) for _ in range(min(BATCH, size - store.messages))])
        found += [
            timed("search_memory", size, samples, lambda: store.search(question_of(draw, 3))),
            timed("commit_turn", size, samples, lambda: store.commit([words_of(draw)])),
        ]
    return found


if __name__ == "__main__":
    sys.exit(run("benchmarks.commit_and_search", "messages", measure))
