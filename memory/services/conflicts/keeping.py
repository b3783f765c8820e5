"""Storing the conflicts that were found, and what finding them in memories and in relations has in common."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from kernel.actions import Change
from kernel.rows import insert
from memory.contracts.conflicts import ConflictOutcome
from memory.models import Conflict
from memory.selectors.conflicts import sides_of
from scopes.contracts import SCOPE_TYPES, SESSION

CANDIDATES = 8  # of one new memory, those that share most with it in its scope, and as many in scopes read with it
STANDING = (ConflictOutcome.BOTH_VALID, ConflictOutcome.NOT_A_CONFLICT)
TOGETHER = tuple(name for name in SCOPE_TYPES if name != SESSION)  # who reads one of these reads the others with it


@dataclass(slots=True)
class Found:
    """What was found: rows stored, and the changes for the audit log."""

    conflicts: list[Conflict] = field(default_factory=list)
    changes: list[Change] = field(default_factory=list)


def keep(rows: Sequence[Conflict]) -> Found:
    """Store them, with the changes that the audit log keeps."""
    insert(rows)
    changes = [
        Change(
            "conflicts",
            str(row.id),
            None,
            {
                "rule": row.rule,
                "severity": row.severity,
                "a": str(row.item_a_id or row.edge_a_id),
                "b": str(row.item_b_id or row.edge_b_id),
            },
            incidental=True,
            scopes=tuple(dict.fromkeys(side.scope.name for side in sides_of(row))),
        )
        for row in rows
    ]
    return Found(list(rows), changes)
