"""A scope of texts to rank, put into the index by hand."""

from __future__ import annotations

import itertools
from datetime import UTC, datetime, timedelta
from uuid import UUID

import pytest

from scopes.models import Domain, MemoryScope
from search import selectors, services
from search.contracts import Hit, Kind, NewEntry, Query
from tests.guards.write_guard import unguarded

NOW = datetime(2026, 6, 17, 12, tzinfo=UTC)  # a Wednesday


class Shelf:
    """Scopes with texts, asked in plain words."""

    def __init__(self) -> None:
        self._ids = itertools.count(1)
        self.texts: dict[UUID, str] = {}
        with unguarded():
            Domain.objects.create(id="shelf")
        self.scope_keys: dict[str, int] = {}

    def scope(self, name: str = "a") -> int:
        if name not in self.scope_keys:
            with unguarded():
                row = MemoryScope.objects.create(domain_id="shelf", scope_type="project", external_id=name)
            self.scope_keys[name] = row.key
        return self.scope_keys[name]

    def put(self, *texts: str, scope: str = "a", kind: Kind = Kind.MEMORY, **fields) -> list[UUID]:
        """Index texts that stand alone."""
        return self._add([{"text": text, "kind": kind, **fields} for text in texts], scope)

    def talk(self, *lines: tuple[str, str], session: int = 1, scope: str = "a", **fields) -> list[UUID]:
        """Index the lines of one session: (speaker, text) each."""
        rows = [
            {"text": text, "author": author, "kind": Kind.MESSAGE, "session_key": session, "sequence": place, **fields}
            for place, (author, text) in enumerate(lines, 4096)
        ]
        return self._add(rows, scope)

    def _add(self, rows: list[dict], scope: str) -> list[UUID]:
        entries = [
            NewEntry(
                object_id=UUID(int=next(self._ids)),
                domain_id="shelf",
                scope_key=self.scope(scope),
                **{"event_time": NOW - timedelta(days=500), "recorded_at": NOW, **row},
            )
            for row in rows
        ]
        with unguarded():
            services.add(entries)
        self.texts.update({entry.object_id: entry.text for entry in entries})
        return [entry.object_id for entry in entries]

    def ask(self, text: str, *scopes: str, **fields) -> list[Hit]:
        keys = tuple(self.scope(name) for name in scopes or self.scope_keys or ("a",))
        given = {"kinds": (Kind.MEMORY, Kind.MESSAGE), "valid_at": NOW, **fields}
        return selectors.find(Query(text=text, domain_id="shelf", scope_keys=keys, **given)).hits

    def found(self, text: str, *scopes: str, **fields) -> list[str]:
        """The texts found, best first."""
        return [self.texts[hit.object_id] for hit in self.ask(text, *scopes, **fields)]


@pytest.fixture
def shelf(db) -> Shelf:
    return Shelf()
