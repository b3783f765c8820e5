"""What the tests of the doors share."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from typing import Any

import pytest
from django.db import OperationalError, connection


def _failing(error: Exception) -> AbstractContextManager[None]:
    def refuse(execute: Callable[..., Any], *args: Any) -> Any:
        raise error

    @contextmanager
    def failing() -> Iterator[None]:
        with connection.execute_wrapper(refuse):
            yield

    return failing()


@pytest.fixture
def no_database() -> AbstractContextManager[None]:
    """Inside the block every query fails as it does when the database cannot be reached."""
    return _failing(OperationalError("could not connect to server at /secret/socket"))


@pytest.fixture
def a_bug() -> AbstractContextManager[None]:
    """Inside the block every query raises an error that nobody expects."""
    return _failing(RuntimeError("secret detail of the code"))
