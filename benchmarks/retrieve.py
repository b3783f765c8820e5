"""How retrieve slows down as the documents of others grow beside those of the caller, on both databases, in one run.

`python -m benchmarks.retrieve [--quick]`. Each document has ten sections of 60 words; the caller owns 200 of them, so
that a look-up is narrowed by the database and not by a list. What others own must cost nothing: the ratio is what counts,
and the exit status is 1 where ten times as many documents of others make it over half as slow again.
"""

from __future__ import annotations

import random
import sys
import uuid
from typing import Any

from benchmarks.measuring import Measured, grown, question_of, run, set_up, timed, words_of

OWN = 200
OTHERS = (100, 1_000)
SECTIONS, WORDS = 10, 60
DOMAIN = "bench"
MOST = {"retrieve": 1.5, "retrieve, one language": 1.5}


class Library:
    """Documents of one caller, and of another who shares nothing."""

    def __init__(self, draw: random.Random) -> None:
        self._draw = draw
        self._own, self._other = self._principal("own"), self._principal("other")
        self.others = 0
        for _ in range(OWN):
            self._add(self._own)

    def grow(self, size: int) -> None:
        """Let the other one have so many documents."""
        while self.others < size:
            self._add(self._other)
            self.others += 1

    def retrieve(self, **filters: Any) -> dict[str, Any]:
        """One question to the documents of the caller."""
        plan = {
            "version": "0.1",
            "request_id": str(uuid.uuid4()),
            "purpose": "qa",
            "queries": [{"text": question_of(self._draw, 3)}],
            "filters": filters,
            "budget": {"diversity": {"by_source": 10, "by_document": 10}},
        }
        return self._call(self._own, "retrieve", {"domain_id": DOMAIN, "plan": plan})

    def _add(self, who: Any) -> None:
        parts = [f"## Part {n}\n\n{words_of(self._draw, WORDS)}\n" for n in range(SECTIONS)]
        language = self._draw.choice(("en", "zh", "de", "fr"))
        options = {"text": "\n".join(parts), "title": "Handbook", "language": language}
        self._call(who, "add_document", {"domain_id": DOMAIN, "options": options})

    def _principal(self, name: str) -> Any:
        from governance import gate  # noqa: PLC0415  Django has to be set up first
        from kernel.context import Door  # noqa: PLC0415
        from scopes.selectors import authenticate_key  # noqa: PLC0415

        given = {"name": name, "domain_id": DOMAIN}
        made = gate.call("create_principal", given, ctx=gate.system_ctx("bench", Door.CLI)).body()
        return authenticate_key(made["api_key"])

    def _call(self, who: Any, action: str, tree: dict[str, Any]) -> dict[str, Any]:
        from governance import gate  # noqa: PLC0415  Django has to be set up first
        from kernel.context import Ctx, Door  # noqa: PLC0415

        return gate.call(action, tree, ctx=Ctx(who.actor, Door.PYTHON, who.reach)).body()


def measure(samples: int) -> list[Measured]:
    """Time retrieval with few and with many documents of others."""
    set_up()
    draw, found = random.Random(1), []
    library = Library(draw)
    for size in OTHERS:
        library.grow(size)
        found += [
            timed("retrieve", size, samples, library.retrieve),
            timed("retrieve, one language", size, samples, lambda: library.retrieve(language="zh")),
        ]
    return found


if __name__ == "__main__":
    sys.exit(run("benchmarks.retrieve", "documents", measure, lambda rows: grown(rows, MOST)))
