"""Doing things at the same moment, each thread with its own database connection."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextvars import copy_context
from threading import Barrier, Thread
from typing import Any

from django.db import connections

from kernel.errors import DomainError


def at_once(works: Sequence[Callable[..., Any]], timeout: float = 600) -> list[Any]:
    """Run all works at the same moment: what each gave, or the DomainError it was refused with, in their order. A clock
    that the test holds is theirs too.

    Any other exception fails the test: a race must never end in a bug.
    """
    gate = Barrier(len(works))
    outcomes: list[Any] = [None] * len(works)
    bugs: list[BaseException] = []

    def run(place: int) -> None:
        try:
            gate.wait(timeout)
            outcomes[place] = works[place]()
        except DomainError as exc:
            outcomes[place] = exc
        except BaseException as exc:  # noqa: BLE001  handed to the test's own thread below
            bugs.append(exc)
        finally:
            connections.close_all()

    threads = [Thread(target=copy_context().run, args=(run, place), daemon=True) for place in range(len(works))]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(timeout)
    if bugs:
        raise bugs[0]
    assert not any(thread.is_alive() for thread in threads), "a thread hangs"
    return [outcome for outcome in outcomes if outcome is not None]
