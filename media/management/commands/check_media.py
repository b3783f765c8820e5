"""Compare all files, rows and the index of sections, with a progress line."""

from __future__ import annotations

import sys
from collections import Counter
from typing import Any

from django.core.management.base import CommandParser

from governance.management.base import REFUSED, ActionCommand
from kernel.errors import DomainError

SHOWN = 20
_STRETCHES = 17  # the sixteen digits that a hash may begin with, and the rest


class Command(ActionCommand):
    help = (
        "Compare files, rows and index: bytes that are missing, damaged or unknown, counts that are wrong, sections "
        "that no search finds. It only reads. Exit codes: 0 all is well, 1 something is wrong, 2 usage or environment."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--deep", action="store_true", help="read all bytes and compare them with their hash")

    def handle(self, **options: Any) -> None:
        totals: Counter[str] = Counter()
        faults: list[dict[str, Any]] = []
        cursor: str | None = None
        for number in range(1, _STRETCHES + 1):
            found = self._stretch(cursor, deep=options["deep"])
            totals.update({name: found[name] for name in ("objects", "files", "fault_count")})
            faults += found["faults"]
            if sys.stderr.isatty():
                self.stderr.write(f"\r{number / _STRETCHES:4.0%} {totals['files']} files checked", ending="")
            cursor = found["next_cursor"]
            if cursor is None:
                break
        for fault in faults[:SHOWN]:
            self.stdout.write(f"{fault['kind']} {fault['name']}: {fault['what']}")
        if totals["fault_count"] > SHOWN:
            self.stdout.write(f"and {totals['fault_count'] - SHOWN} more")
        verdict = f"WRONG: {totals['fault_count']} faults." if totals["fault_count"] else "All is well."
        self.stdout.write(f"{totals['objects']} objects and {totals['files']} files checked. {verdict}")
        if totals["fault_count"]:
            raise SystemExit(REFUSED)

    def _stretch(self, cursor: str | None, *, deep: bool) -> dict[str, Any]:
        try:
            return self.ask_as_operator("check_media", {"cursor": cursor, "deep": deep})
        except DomainError as exc:
            self.refuse_plain(exc)
