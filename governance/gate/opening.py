"""The gate's transaction: open it to write, and tell whether it is open."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar

from django.db import transaction

_open: ContextVar[bool] = ContextVar("gate_open", default=False)


def is_open() -> bool:
    """Whether the code that asks runs inside the gate's transaction; the tests' write guard rests on it."""
    return _open.get()


@contextmanager
def writing() -> Iterator[None]:
    """The gate's transaction: only inside it may domain-owned tables be written."""
    token = _open.set(True)
    try:
        with transaction.atomic():
            yield
    finally:
        _open.reset(token)
