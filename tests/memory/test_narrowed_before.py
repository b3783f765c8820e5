"""Rows that were narrowed when only the row itself was hidden, and the migration that hides what they said before."""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from types import SimpleNamespace

import pytest
from django.apps import apps
from django.db import connection

from governance.models import AuditEntry
from memory.models import KnowledgeEvent, MemoryItem
from tests.conftest import Cast
from tests.guards.write_guard import unguarded
from tests.memory.acting import known, narrow, undo
from tests.memory.test_narrowing import FIRST, LAST, LINES, SECOND, corrected, outsider, told


def as_before(cast: Cast, line: Callable[[Cast], str]) -> str:
    last = line(cast)
    narrow(cast.agent, last)
    with unguarded():
        MemoryItem.objects.exclude(pk=last).update(narrowed_to=None)
    return last


def migrate(step: str = "hide") -> None:
    with unguarded():
        getattr(import_module("memory.migrations.0013_narrowed_lines"), step)(
            apps, SimpleNamespace(connection=connection)
        )


@pytest.mark.parametrize("line", LINES)
def test_it_works(cast, line):
    as_before(cast, line)
    other = outsider()
    assert FIRST in told(other, FIRST, SECOND, LAST), "the leak"
    later = known(other, "The budget is open", session="o1")
    known(other, "The budget is open to all", session="o1")
    for _ in range(2):
        migrate()
    assert told(other, FIRST, SECOND, LAST) == set()
    assert told(cast.agent, FIRST, SECOND, LAST) == {FIRST, SECOND, LAST}
    assert MemoryItem.objects.get(pk=later).narrowed_to is None, "what was said after it stays in sight"
    assert KnowledgeEvent.objects.filter(kind="line_hidden").count() == 1
    migrate("show")
    assert FIRST in told(other, FIRST, SECOND, LAST)
    assert LAST not in told(other, LAST)
    assert not KnowledgeEvent.objects.filter(kind="line_hidden").exists()


def test_undoing_the_narrowing_shows_all_of_it_again(cast):
    last = as_before(cast, corrected)
    entry = AuditEntry.objects.get(action="narrow_item", outcome="allowed")
    entry.changes = [
        each for each in entry.changes if each["id"] == last or "narrowed_to" not in (each["after"] or {})
    ]
    with unguarded():
        entry.save()
    migrate()
    other = outsider()
    assert told(other, FIRST, SECOND, LAST) == set()
    undo(cast.reviewer, "narrow_item")
    assert told(other, FIRST, SECOND, LAST) == {FIRST, SECOND, LAST}


def test_a_narrowing_that_was_undone_hides_nothing(cast):
    """Then the undone row stayed hidden, and its successor was the one that says it again."""
    last = corrected(cast)
    narrow(cast.agent, last)
    task = MemoryItem.objects.get(pk=last).narrowed_to
    undo(cast.reviewer, "narrow_item")
    with unguarded():
        MemoryItem.objects.filter(pk=last).update(narrowed_to=task)
    migrate()
    assert told(outsider(), FIRST, SECOND, LAST) == {FIRST, SECOND, LAST}
