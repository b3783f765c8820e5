"""Telling the garbage collector that what a process has loaded stays for the life of it."""

from __future__ import annotations

import gc


def keep_loaded(**_: object) -> None:
    """No later collection looks through what is there now. Called once by a web process and by a worker, when each has
    loaded what it works with; a receiver of signals too, so it takes whatever they send."""
    gc.collect()
    gc.freeze()
