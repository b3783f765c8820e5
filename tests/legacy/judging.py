"""Moving a source in, and holding what came of it against the source and its manifest."""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass
from io import StringIO
from pathlib import Path
from typing import Any

import pytest
from django.core.management import CommandError, call_command

from legacy.models import MigratedRow
from tests.legacy.sources import schema
from tests.legacy.sources.databases import Source
from tests.legacy.sources.manifest import MIGRATED, QUARANTINED, Expected

OWNER = "older-app"
LONGEST_ID = 200


def move(source: Source | str, *arguments: str, owner: str = OWNER, media: Path | None = None) -> dict[str, Any]:
    """Run the command, and answer its figures."""
    url = source if isinstance(source, str) else source.url
    out, err = StringIO(), StringIO()
    given = [*arguments, *(["--media-root", str(media)] if media else [])]
    call_command("migrate_legacy", "--from", url, "--owner", owner, "--json", *given, stdout=out, stderr=err)
    figures: dict[str, Any] = json.loads(out.getvalue())
    return figures


def refused(url: str, *arguments: str, owner: str = OWNER) -> str:
    """Run the command, which has to refuse; answer what it says. A refusal is no stack trace, and ends with 1 or 2."""
    err = StringIO()
    given = ["--from", url, "--owner", owner, *arguments]
    with pytest.raises((CommandError, SystemExit)) as failed:
        call_command("migrate_legacy", *given, stdout=StringIO(), stderr=err)
    assert getattr(failed.value, "returncode", getattr(failed.value, "code", None)) in (1, 2)
    return f"{failed.value}{err.getvalue()}"


@dataclass(frozen=True, slots=True)
class Fault:
    """A row that did not become what it must."""

    table: str
    source_id: str
    expected: Expected
    got: str

    def __str__(self) -> str:
        wanted = "/".join(sorted(self.expected.fates)) + (f" as {'/'.join(sorted(self.expected.reasons))}")
        return f"{self.table} {self.source_id[:40]}: {wanted} ({self.expected.why}); got {self.got}"


def faults(source: Source, tables: tuple[str, ...] | None = None) -> list[Fault]:
    """Every row of the source whose fate is not the sealed one; a row without a fate is lost."""
    found = []
    for table in tables or [name for name in source.digests() if name not in schema.DERIVED]:
        rows = {row.source_id: row for row in MigratedRow.objects.filter(source_table=table)}
        ids = source.ids(table)
        found += [
            Fault(table, key, source.manifest.of(table, key), got)
            for key in ids
            if (got := _wrong(source.manifest.of(table, key), rows.get(_recorded(key))))
        ]
        found += [
            Fault(table, key, Expected(frozenset()), "not in the source")
            for key in rows.keys() - set(map(_recorded, ids))
        ]
    return found


def _recorded(key: str) -> str:
    """An id as the record keeps it: one too long for an index ends with the digest of the whole."""
    if len(key) <= LONGEST_ID:
        return key
    return f"{key[: LONGEST_ID - 65]}#{hashlib.sha256(key.encode()).hexdigest()}"


def _wrong(expected: Expected, row: MigratedRow | None) -> str:
    """What is wrong with the fate of a row; empty where nothing is."""
    if row is None:
        return "no word of it: lost"
    shown = f"{row.outcome} {row.reason} {row.note[:80]!r}"
    if row.outcome not in expected.fates:
        return shown
    if row.outcome == QUARANTINED:
        kept = row.content is not None and bool(row.reason)
        return "" if kept and row.reason in expected.reasons else shown
    if expected.noted and not row.note:
        return f"{shown}: no note of what changed"
    return "" if row.target_id else f"{shown}: no target"


def rivals_at_peace(source: Source) -> bool:
    """Of each group of rivals exactly one holds the place."""
    return all(
        MigratedRow.objects.filter(source_table=table, source_id__in=ids, outcome=MIGRATED).count() == 1
        for table, ids in source.manifest.rivals
    )
