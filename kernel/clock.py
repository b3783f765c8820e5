"""The one source of the present moment, so that tests and replays can hold it still."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from datetime import UTC, datetime

_source: ContextVar[Callable[[], datetime] | None] = ContextVar("clock", default=None)


def now() -> datetime:
    """The present instant, aware, in UTC."""
    source = _source.get()
    return source() if source else datetime.now(UTC)


@contextmanager
def use(source: Callable[[], datetime]) -> Iterator[None]:
    """Take the time from `source` (aware instants) inside the block."""
    token = _source.set(source)
    try:
        yield
    finally:
        _source.reset(token)
