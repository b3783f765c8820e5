"""How long importing a document keeps other writers waiting, on both databases, in one run.

`python -m benchmarks.importing [--quick]`. Documents of 60 and of 600 sections, the longer ones of about 1 MB: the whole
call, and its transaction, in which nothing else can be written on SQLite. Reading a document and counting its words must
happen outside: the exit status is 1 where the transaction takes more than its share of the call, or grows faster than the
document.
"""

from __future__ import annotations

import random
import sys
import time
from dataclasses import replace
from typing import Any

from benchmarks.measuring import Measured, grown, measured, run, set_up, words_of

SECTIONS = (60, 600)
WORDS = 235  # of a section
DOMAIN = "bench"
CALL, TRANSACTION, AGAIN = "import", "its transaction", "transaction of a new title"
MOST_GROWTH = 20.0  # ten times the sections
MOST_SHARE = 0.6


class Library:
    """Imports by one caller, and how long each transaction was open: on the clock and of this process's CPU, in ms."""

    def __init__(self) -> None:
        from governance import gate  # noqa: PLC0415  Django has to be set up first
        from kernel.actions import get  # noqa: PLC0415
        from kernel.context import Door  # noqa: PLC0415
        from scopes.selectors import authenticate_key  # noqa: PLC0415

        given = {"name": "ann", "domain_id": DOMAIN}
        made = gate.call("create_principal", given, ctx=gate.system_ctx("bench", Door.CLI)).body()
        self._who = authenticate_key(made["api_key"])
        self._action: Any = replace(get("add_document"), apply=self._apply)
        self.times: list[tuple[float, float]] = []

    def add(self, text: str, title: str) -> None:
        """Import a text. The same text again is the same document."""
        from governance import gate  # noqa: PLC0415  Django has to be set up first
        from kernel.context import Ctx, Door  # noqa: PLC0415

        given = self._action.input.parse({"domain_id": DOMAIN, "options": {"text": text, "title": title}})
        gate.perform(self._action, given, ctx=Ctx(self._who.actor, Door.PYTHON, self._who.reach))

    def _apply(self, given: Any, ready: Any, ctx: Any) -> Any:
        from media.services import ingesting  # noqa: PLC0415  Django has to be set up first

        started, spent = time.perf_counter(), time.process_time()
        done = ingesting.apply(given, ready, ctx)
        self.times.append((_since(started, time.perf_counter()), _since(spent, time.process_time())))
        return done


def _since(start: float, end: float) -> float:
    return (end - start) * 1000


def measure(samples: int) -> list[Measured]:
    """Time imports of short and of long documents, each new, and each again with another title."""
    set_up()
    draw, library, found = random.Random(1), Library(), []
    library.add("Warm up.", "Handbook")
    for sections in SECTIONS:
        whole, library.times = [], []
        for _ in range(samples // 20):
            text = "\n".join(f"## Part {n}\n\n{words_of(draw, WORDS)}\n" for n in range(sections))
            started, spent = time.perf_counter(), time.process_time()
            library.add(text, "Handbook")
            whole.append((_since(started, time.perf_counter()), _since(spent, time.process_time())))
            library.add(text, "Another handbook")
        found += [
            _measured(CALL, sections, whole),
            _measured(TRANSACTION, sections, library.times[::2]),
            _measured(AGAIN, sections, library.times[1::2]),
        ]
    return found


def _measured(operation: str, sections: int, times: list[tuple[float, float]]) -> Measured:
    clock, cpu = zip(*times, strict=True)
    return measured(operation, sections, clock, cpu)


def judge(rows: list[Measured]) -> list[str]:
    """The transaction is a small part of the call, and grows no faster than the document."""
    long = {row.operation: row.least for row in rows if row.rows == max(SECTIONS)}
    share = long[TRANSACTION] / long[CALL]
    told = [f"TOO MUCH: the transaction takes {share:.0%} of the call, {MOST_SHARE:.0%} at most"]
    return [*grown(rows, {TRANSACTION: MOST_GROWTH, AGAIN: MOST_GROWTH}), *(told if share > MOST_SHARE else [])]


if __name__ == "__main__":
    sys.exit(run("benchmarks.importing", "sections", measure, judge))
