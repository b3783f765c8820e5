"""Check the whole chain of the audit log."""

from __future__ import annotations

import sys
from typing import Any

from django.core.management.base import CommandParser

from governance.management.base import REFUSED, ActionCommand, usage_error
from kernel.errors import DomainError

STRETCH = 2000
SHOWN = 20


class Command(ActionCommand):
    help = (
        "Check that no entry and no seal of the audit log was changed, removed or put in. Prints the end of the chain "
        "(`number:hash`); keep it elsewhere and give it to --expect next time, so that a log cut off at its end is "
        "found too. Exit codes: 0 whole, 1 broken, 2 usage or environment."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--after", type=int, default=0, help="begin behind this number (default: the first seal)")
        parser.add_argument("--expect", metavar="NUMBER:HASH", help="an end of the chain that was printed earlier")

    def handle(self, **options: Any) -> None:
        expected = _expected(options["expect"])
        after, checked, erased, faults = options["after"], 0, 0, []
        while True:
            found = self._stretch(after, expected)
            checked, erased, after = checked + found["checked"], erased + found["erased"], found["number"]
            faults += found["faults"]
            if sys.stderr.isatty():
                self.stderr.write(f"\r{checked} seals checked", ending="")
            if found["complete"]:
                break
        self._say(found, checked, erased, faults)
        if faults:
            raise SystemExit(REFUSED)

    def _stretch(self, after: int, expected: tuple[int, str] | None) -> dict[str, Any]:
        """Check one stretch; it ends at the expected seal where that lies within it."""
        size = STRETCH
        if expected is not None and after < expected[0]:
            size = min(size, expected[0] - after)
        try:
            found = self.ask_as_operator("verify_audit", {"after": after, "limit": size})
        except DomainError as exc:
            self.refuse_plain(exc)
        if expected is not None and expected[0] > after and (found["complete"] or found["number"] >= expected[0]):
            found["faults"] += _unexpected(found, expected)
        return found

    def _say(self, end: dict[str, Any], checked: int, erased: int, faults: list[dict[str, Any]]) -> None:
        for fault in faults[:SHOWN]:
            where = f"Sequence {fault['number']}" if fault["number"] else "Outside of the chain"
            entry = f" (entry {fault['entry_id']})" if fault["entry_id"] else ""
            self.stdout.write(f"{where}: {fault['what']}{entry}")
        if len(faults) > SHOWN:
            self.stdout.write(f"and {len(faults) - SHOWN} more")
        numbers = [fault["number"] for fault in faults if fault["number"]]
        if faults:
            first = f", the first at sequence {min(numbers)}" if numbers else ""
            self.stdout.write(f"BROKEN: {len(faults)} faults{first}.")
        else:
            self.stdout.write("Whole: no entry and no seal was changed, removed or put in.")
            if erased:
                self.stdout.write(
                    "What stood in erased fields cannot be checked any more; each bears the mark of an erasure."
                )
        since = f", the oldest since {end['unsealed_since']}" if end["unsealed_since"] else ""
        self.stdout.write(
            f"{checked} seals checked, {erased} of entries whose text was erased; {end['unsealed']} entries are not "
            f"sealed yet{since}.\nEnd of the chain: {end['number']}:{end['hash']}"
        )


def _expected(text: str | None) -> tuple[int, str] | None:
    if text is None:
        return None
    number, _, seal = text.partition(":")
    if not (number.isdecimal() and len(number) < 19) or len(seal) != 64:
        raise usage_error("--expect takes what an earlier run printed as the end of the chain: NUMBER:HASH.")
    return int(number), seal


def _unexpected(found: dict[str, Any], expected: tuple[int, str]) -> list[dict[str, Any]]:
    if (found["number"], found["hash"]) == expected:
        return []
    number, what = expected[0], "the chain does not hold the expected seal"
    if found["number"] < number:
        what = f"the chain ends at {found['number']}: what followed was cut off"
    return [{"number": number, "kind": "expected", "what": what, "entry_id": None}]
