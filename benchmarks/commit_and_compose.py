"""How a commit of two messages and two items, and compose_context, slow down as memory items grow, on both databases.

`python -m benchmarks.commit_and_compose [--quick]`. The items lie in four scopes that each compose reads.
"""

from __future__ import annotations

import random
import sys
from itertools import count

from benchmarks.measuring import SIZES, Measured, question_of, run, set_up, timed, words_of

BATCH = 100


def measure(samples: int) -> list[Measured]:
    """Fill the store to each size in turn and time both operations there."""
    set_up()
    from benchmarks.store import Store  # noqa: PLC0415  Django has to be set up first

    store, draw, number, found = Store(), random.Random(1), count(), []
    for size in SIZES:
        while store.items < size:
            batch = min(BATCH, size - store.items)
            store.learn([], [(next(number), words_of(draw, 12)) for _ in range(batch)])
        found += [
            timed(
                "commit 2+2",
                size,
                samples,
                lambda: store.learn(
                    [words_of(draw), words_of(draw)], [(next(number), words_of(draw, 12)) for _ in range(2)]
                ),
            ),
            timed("compose_context", size, samples, lambda: store.compose(question_of(draw, 8))),
        ]
    return found


if __name__ == "__main__":
    sys.exit(run("benchmarks.commit_and_compose", "items", measure))
