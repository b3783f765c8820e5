"""Derive the search index of a domain anew, with a progress bar."""

from __future__ import annotations

import sys
from collections import Counter
from typing import Any

from django.core.management.base import CommandParser

from governance.management.base import ActionCommand
from kernel.errors import DomainError

_WIDTH = 30


class Command(ActionCommand):
    help = (
        "Derive the search index of a domain anew from items, turns and documents, and what memories are compared by, a "
        "batch at a time; searches are answered meanwhile. Without --full only what an earlier tokeniser made, and sections "
        "of documents that are not found where they should be. Broken off, it goes on from --cursor."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--domain", default="legacy", help="the domain; `legacy` where left out")
        parser.add_argument("--full", action="store_true", help="derive everything anew")
        parser.add_argument("--batch", type=int, default=200, help="rows of a batch, 1 to 1,000")
        parser.add_argument("--cursor", help="where an earlier run was broken off, as it said")

    def handle(self, **options: Any) -> None:
        cursor: str | None = options["cursor"]
        totals: Counter[str] = Counter()
        seen: Counter[str] = Counter()
        while True:
            done = self._batch(options, cursor)
            totals.update({name: done[name] for name in ("changed", "added", "removed")})
            seen[done["phase"]] += done["seen"]
            self._progress(done["phase"], seen[done["phase"]], done["total"])
            cursor = done["next_cursor"]
            if cursor is None:
                break
        self.show({"domain_id": options["domain"], "seen": dict(seen), **totals})

    def _batch(self, options: dict[str, Any], cursor: str | None) -> dict[str, Any]:
        tree = {"domain_id": options["domain"], "full": options["full"], "limit": options["batch"], "cursor": cursor}
        try:
            return self.ask_as_operator("rebuild_index", tree)
        except DomainError as exc:
            self.refuse_plain(exc)
        except KeyboardInterrupt:
            self.stderr.write(f"\nBroken off: go on with --cursor {cursor}." if cursor else "\nBroken off.")
            raise

    def _progress(self, phase: str, seen: int, total: int) -> None:
        """One line on standard error, drawn over itself on a terminal."""
        share = min(1.0, seen / total) if total else 1.0
        line = f"{phase:8} [{'#' * int(share * _WIDTH):{_WIDTH}}] {share:4.0%} {seen}/{total}"
        drawn = sys.stderr.isatty()
        self.stderr.write(f"\r{line}" if drawn else line, ending="" if drawn else "\n")
