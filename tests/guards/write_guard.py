"""The write guard: while a test runs, a domain-owned table can only be written inside the gate.

It wraps every database connection, those of other threads included. Exceptions are named, and these are all:
migrations and the flush between tests (the guard is armed only from a test's set-up to the end of its call), the
sealer of the audit log, which may write seals and mark entries as sealed, the leases that workers take on media jobs,
and set-up that really has to write rows by hand, inside `unguarded()`.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from functools import lru_cache
from typing import Any

from django.apps import apps
from django.db import connections
from django.db.backends.base.base import BaseDatabaseWrapper
from django.db.backends.signals import connection_created

from governance import gate
from governance.audit import chain
from media.services import leases

FIRST_PARTY = ("scopes", "governance", "search", "media", "memory", "cards", "legacy")
NOT_DOMAIN_OWNED = frozenset({"recovery_devices", "recovery_codes"})  # sign-in, as the tables of Django and django-otp
WRITE = re.compile(
    r"^\s*(?:INSERT\s+(?:OR\s+\w+\s+)?INTO|REPLACE\s+INTO|UPDATE(?:\s+OR\s+\w+)?(?:\s+ONLY)?|DELETE\s+FROM(?:\s+ONLY)?"
    r'|TRUNCATE(?:\s+TABLE)?|MERGE\s+INTO|COPY)\s+"?(?P<table>\w+)"?',
    re.IGNORECASE,
)

_SEALING = re.compile(
    r'^\s*(?:INSERT INTO "audit_seals"|UPDATE "audit_entries" SET "sealed" = \S+ WHERE)', re.IGNORECASE
)
_LEASING = re.compile(r'^\s*UPDATE "media_jobs" SET', re.IGNORECASE)

_allowed: ContextVar[bool] = ContextVar("unguarded", default=False)


class OutsideTheGateError(AssertionError):
    """A domain-owned table was written outside the gate."""


class _State:
    """Whether a test is running: one flag for every thread of the process."""

    armed = False


@lru_cache(maxsize=1)
def guarded_tables() -> frozenset[str]:
    """Every table of the first-party apps, their many-to-many tables included."""
    models = [
        model
        for app in apps.get_app_configs()
        if app.name in FIRST_PARTY
        for model in app.get_models(include_auto_created=True)
    ]
    return frozenset(model._meta.db_table for model in models) - NOT_DOMAIN_OWNED


def written_table(sql: str) -> str | None:
    """The table that a statement writes, if it is domain-owned."""
    found = WRITE.match(sql)
    table = found["table"] if found else None
    return table if table in guarded_tables() else None


def _check(execute: Callable[..., Any], sql: str, params: Any, many: bool, context: dict[str, Any]) -> Any:
    if _State.armed and not _allowed.get() and not gate.is_open():
        table = written_table(str(sql))
        if table is not None and not _is_excepted(str(sql)):
            raise OutsideTheGateError(
                f"{table} is written outside the gate: go through an action, or wrap a test's own set-up in "
                f"tests.guards.write_guard.unguarded(). Statement: {str(sql)[:160]}"
            )
    return execute(sql, params, many, context)


def _is_excepted(sql: str) -> bool:
    return bool((chain.is_open() and _SEALING.match(sql)) or (leases.is_open() and _LEASING.match(sql)))


def _watch(connection: BaseDatabaseWrapper, **_: object) -> None:
    if _check not in connection.execute_wrappers:
        connection.execute_wrappers.insert(0, _check)


def install() -> None:
    """Watch every connection there is and every one that will be opened, in any thread."""
    connection_created.connect(_watch, dispatch_uid="write_guard")
    for connection in connections.all(initialized_only=True):
        _watch(connection)


def arm() -> None:
    """From now on writes outside the gate fail."""
    _State.armed = True


def disarm() -> None:
    """Until armed again, everything may write."""
    _State.armed = False


@contextmanager
def unguarded() -> Iterator[None]:
    """Let this thread write by hand inside the block; for a test's own set-up only."""
    token = _allowed.set(True)
    try:
        yield
    finally:
        _allowed.reset(token)
