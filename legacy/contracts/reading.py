"""Reading what moving in did: runs, the last validation, and what became of single rows."""

from __future__ import annotations

from datetime import datetime
from typing import Any
from uuid import UUID

from pydantic import Field

from kernel.contracts import Contract, PageInput, PageResult
from legacy.contracts.outcomes import Fate
from legacy.contracts.validating import MigrationReport


class GetMigrationInput(Contract):
    """Nothing to say: there is one migration."""


class RunView(Contract):
    """One run."""

    id: UUID = Field(description="Its id.")
    source: str = Field(description="Host, port and name of the older database; never a password.")
    owner: str = Field(description="Name of the principal whose the sessions became; empty where that is not known.")
    state: str = Field(
        description="`running`, `finished`, `failed` or `interrupted`; one that was killed is `interrupted`."
    )
    started_at: datetime = Field(description="When it began.")
    finished_at: datetime | None = Field(description="When it ended; null: it runs, or was killed.")
    figures: dict[str, Any] = Field(description="Rows by table and outcome, rows a second, most memory in bytes.")


class GetMigrationResult(Contract):
    """The last runs and the last validation."""

    runs: list[RunView] = Field(description="The last ten runs, newest first.")
    report: MigrationReport | None = Field(
        description="The last validation against the older database, else the last one; null: none was made."
    )
    reasons: dict[str, str] = Field(description="What each reason of the quarantine means.")


class ListMigratedRowsInput(PageInput):
    """Which rows; all where nothing is named."""

    outcome: Fate | None = Field(default=None, description="Only rows that were moved, quarantined or left out.")
    source_table: str | None = Field(default=None, max_length=64, description="Only rows of this table there.")
    source_id: str | None = Field(default=None, max_length=500, description="Only the row of this id there.")
    reason: str | None = Field(default=None, max_length=40, description="Only rows with this reason.")
    noted: bool | None = Field(default=None, description="True: only rows with a note; false: only those without.")


class MigratedRowView(Contract):
    """What became of one row."""

    source_table: str = Field(description="Its table there.")
    source_id: str = Field(description="Its id there.")
    outcome: Fate = Field(description="What became of it.")
    target_table: str = Field(description="The table here; empty where it is not here.")
    target_id: str = Field(description="The id here; empty where it is not here.")
    reason: str = Field(description="Why it is not here; empty where it is.")
    note: str = Field(description="What is otherwise than there, or more about the reason.")
    content: Any = Field(description="The whole row as it is there, where it is in the quarantine; else null.")
    run_id: UUID = Field(description="The run that found it.")


class ListMigratedRowsResult(PageResult):
    """One page, in the order in which they were moved."""

    rows: list[MigratedRowView] = Field(description="The rows.")
