"""A progress bar on standard error for runs that take minutes."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable

_WIDTH = 30
_NAME = 24


class Bar:
    """One line, drawn over itself on a terminal; elsewhere one line for each part that is done."""

    def __init__(self, write: Callable[..., object]) -> None:
        self._write, self._began, self._before, self._part = write, time.monotonic(), 0, ("", 0)

    def show(self, part: str, done: int, total: int) -> None:
        """So many of the rows of this part are done."""
        if self._part[0] not in ("", part):
            self._before += self._part[1]
        self._part = (part, done)
        share = min(1.0, done / total) if total else 1.0
        rate = (self._before + done) / max(time.monotonic() - self._began, 0.001)
        left = f"{(total - done) / rate:.0f} s left" if rate and done < total else ""
        bar = f"[{'#' * int(share * _WIDTH):{_WIDTH}}]"
        line = f"{part[:_NAME]:{_NAME}} {bar} {share:4.0%} {done}/{total} {rate:.0f} rows/s {left}"
        ended, drawn = done >= total, sys.stderr.isatty()
        if drawn or ended:
            self._write(f"\r{line:110}" if drawn else line.rstrip(), ending="\n" if ended or not drawn else "")
