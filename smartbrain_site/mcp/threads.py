"""Database work from async code."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

from asgiref.sync import ThreadSensitiveContext, sync_to_async
from django.db import connections

Result = TypeVar("Result")


async def in_thread(work: Callable[[], Result]) -> Result:
    """Run `work` in a thread of its own (the caller's thread where the outermost program is not async), and give its
    database connection back."""

    def run() -> Result:
        try:
            return work()
        finally:
            for connection in connections.all(initialized_only=True):
                if not connection.in_atomic_block:
                    connection.close()

    async with ThreadSensitiveContext():
        return await sync_to_async(run)()
