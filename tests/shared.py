"""A start that every test of a module shares: made once, and what a test does to it is taken back."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from typing import Any, TypeVar

from django.db import transaction

from tests.guards import write_guard

Made = TypeVar("Made")


@contextmanager
def shared(make: Callable[[], Made], blocker: Any) -> Iterator[Made]:
    """What `make` writes, for the length of a module whose every test asks for it; `blocker` is pytest-django's.

    It stands in a transaction around those of the tests, so none of them may be `transaction=True`. What `make` answers
    must not be changed by a test.
    """
    with ExitStack() as stack:
        with blocker.unblock():
            stack.enter_context(transaction.atomic())
            stack.callback(transaction.set_rollback, True)
            write_guard.arm()
            made = make()
        yield made
        with blocker.unblock():
            stack.close()
