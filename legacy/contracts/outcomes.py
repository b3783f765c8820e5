"""What became of a row of the source."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from kernel.actions import Change
from legacy.contracts.reasons import Quarantined, TakenAway
from legacy.contracts.rows import SourceRow

NOTE = 2_000  # characters of a note that are kept


class Fate(StrEnum):
    """Stored here, kept aside with a reason, or left out because it is derived or local."""

    MIGRATED = "migrated"
    QUARANTINED = "quarantined"
    LEFT_OUT = "left_out"


@dataclass(frozen=True, slots=True)
class Outcome:
    """The fate of one row: where it went, or why not. `note` says what is otherwise than in the source, and why.

    `reason` is a code of `Reason` where it is in the quarantine; where it was left out, a word of why. `bare`: of its
    columns nothing is kept. `told` are changes of rows that were here before, for the audit log.
    """

    row: SourceRow
    fate: Fate
    target_table: str = ""
    target_id: str = ""
    reason: str = ""
    note: str = ""
    bare: bool = False
    told: tuple[Change, ...] = ()


def moved(row: SourceRow, table: str, target_id: object, note: str = "", *, told: tuple[Change, ...] = ()) -> Outcome:
    """The row was stored as that row of that table."""
    return Outcome(row, Fate.MIGRATED, table, str(target_id), note=note, told=told)


def kept_aside(row: SourceRow, why: Quarantined) -> Outcome:
    """The row goes to the quarantine."""
    bare = isinstance(why, TakenAway)
    return Outcome(row, Fate.QUARANTINED, reason=why.reason.value, note=why.note, bare=bare)


def left_out(row: SourceRow, reason: str, note: str = "") -> Outcome:
    """The row is not taken along, on purpose."""
    return Outcome(row, Fate.LEFT_OUT, reason=reason, note=note)
