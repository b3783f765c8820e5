"""Identifiers that leave the process: time-ordered UUIDs (RFC 9562, version 7)."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any
from uuid import UUID

import uuid6

_ID = re.compile(r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}")
_source: ContextVar[Callable[[], UUID] | None] = ContextVar("ids", default=None)


def new_id() -> UUID:
    """A fresh UUIDv7."""
    source = _source.get()
    return source() if source else UUID(bytes=uuid6.uuid7().bytes)


def oldest(ids: Iterable[UUID]) -> UUID:
    """An id below which nothing was made after any of these: the smallest, or the nil id where one of them does not tell
    its time, as ids that came from elsewhere may, or where there are none."""
    known = list(ids)
    return min(known) if known and all(each.version == 7 for each in known) else UUID(int=0)


def a_day_before(known: UUID) -> UUID:
    """An id below which nothing was made in the day before this version 7 one was; of any other id, the nil id."""
    if known.version != 7:
        return UUID(int=0)
    return UUID(int=max(0, (known.int >> 80) - 86_400_000) << 80)


def uuids_in(texts: Iterable[str]) -> dict[str, UUID]:
    """Those texts that are UUIDs, in any of their forms, each with its value."""
    found = {}
    for text in texts:
        try:
            found[text] = UUID(text)
        except ValueError:
            continue
    return found


def names_any(said: Any, names: Collection[str]) -> bool:
    """Whether any of these ids, as `str` writes a UUID, stands anywhere in plain data: as a value, a key or within a
    text."""
    return any(each in names for each in _ID.findall(str(said)))


@contextmanager
def use(source: Callable[[], UUID]) -> Iterator[None]:
    """Take ids from `source` inside the block, so that two runs can be compared."""
    token = _source.set(source)
    try:
        yield
    finally:
        _source.reset(token)
