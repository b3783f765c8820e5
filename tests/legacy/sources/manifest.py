"""What must become of each row of a source, said by whoever made the row before any migration saw it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from tests.legacy.sources.schema import KEYS

MIGRATED, QUARANTINED, LEFT_OUT = "migrated", "quarantined", "left_out"


@dataclass(frozen=True, slots=True)
class Expected:
    """`fates` that are right; `reasons` that are right where it is quarantined; `noted`: it says what changed and why."""

    fates: frozenset[str]
    reasons: frozenset[str] = frozenset()
    noted: bool = False
    why: str = ""


WHOLE = Expected(frozenset({MIGRATED}))


def bad(why: str, *reasons: str) -> Expected:
    """In the quarantine, under one of these reasons."""
    return Expected(frozenset({QUARANTINED}), frozenset(reasons), why=why)


def changed(why: str) -> Expected:
    """Stored, but not as it was: a note says so."""
    return Expected(frozenset({MIGRATED}), noted=True, why=why)


def told(why: str, *reasons: str) -> Expected:
    """The documents leave it open: stored with a note, or in the quarantine under one of these reasons."""
    return Expected(frozenset({MIGRATED, QUARANTINED}), frozenset(reasons), noted=True, why=why)


def rival(why: str, *reasons: str) -> Expected:
    """One of several that claim one place: whole, or in the quarantine under one of these reasons."""
    return Expected(frozenset({MIGRATED, QUARANTINED}), frozenset(reasons), why=why)


@dataclass
class Manifest:
    """The expectations that are not plain: every other row is stored whole. `rivals` are groups of rows of which exactly
    one can hold the place; the others are told."""

    rows: dict[tuple[str, str], Expected] = field(default_factory=dict)
    rivals: list[tuple[str, tuple[str, ...]]] = field(default_factory=list)

    def seal(self, table: str, row: Mapping[str, object], expected: Expected) -> None:
        place = (table, key_of(table, row))
        assert place not in self.rows, f"{place} has two expectations"
        self.rows[place] = expected

    def of(self, table: str, source_id: str) -> Expected:
        return self.rows.get((table, source_id), WHOLE)


def key_of(table: str, row: Mapping[str, object]) -> str:
    """The primary key of a row as text; of several columns, joined by colons."""
    return ":".join(str(row[name]) for name in KEYS.get(table, ("id",)))
