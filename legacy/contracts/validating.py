"""What is held to be true of a migration, and what was found."""

from __future__ import annotations

from datetime import datetime
from uuid import UUID

from pydantic import Field

from kernel.contracts import Contract


class Finding(Contract):
    """One row of which something is not as it should be. Exactly one of the two ids may be empty."""

    source_table: str = Field(description="Table in the older system; empty where the row came from nowhere.")
    source_id: str = Field(description="Id in the older system; empty where the row came from nowhere.")
    target_table: str = Field(description="Table here; empty where there should be no row.")
    target_id: str = Field(description="Id here; empty where there should be no row.")
    what: str = Field(description="What is wrong, in a sentence.")


class Check(Contract):
    """One thing that must hold, and the rows of which it does not."""

    code: str = Field(description="Its stable name.")
    title: str = Field(description="What must hold.")
    made: bool = Field(description="False: it needs the older database, which was not given.")
    fault: bool = Field(description="Whether a row that is found makes the migration wrong; false: it is only told.")
    count: int = Field(description="Rows found.")
    findings: list[Finding] = Field(description="The first of them, 50 at most.")


class TableFigures(Contract):
    """One table of the older system on both sides."""

    source_table: str = Field(description="Table in the older system.")
    target_tables: list[str] = Field(description="Where its rows are here.")
    in_source: int | None = Field(description="Rows there; null where the older database was not given.")
    migrated: int = Field(description="Rows that are here.")
    adjusted: int = Field(description="Rows among them of which something had to be changed, each with a reason.")
    quarantined: int = Field(description="Rows kept in the quarantine.")
    left_out: int = Field(description="Rows that are derived or of no use here.")
    compared: int | None = Field(description="Rows compared value by value; null: none were.")
    source_digest: str | None = Field(description="SHA-256 over the compared values there, in the order of the ids.")
    target_digest: str | None = Field(description="SHA-256 over the same values as they are here.")


class ReasonCount(Contract):
    """Rows of one table with one outcome for one reason."""

    source_table: str = Field(description="Table in the older system.")
    outcome: str = Field(description="`migrated` (something was changed), `quarantined` or `left_out`.")
    reason: str = Field(description="Reason code.")
    count: int = Field(description="Rows.")


class MissingCounts(Contract):
    """The three counts of the older system's upgrade, asked of what was moved in: each must be zero."""

    memory_items: int = Field(description="Items without scope or source session.")
    entities: int = Field(description="Entities without scope or source session.")
    kg_edges: int = Field(description="Relations without scope or source session.")


class MigrationReport(Contract):
    """Everything that a validation found."""

    run_id: UUID | None = Field(description="The last migration run; null where there was none.")
    run_state: str = Field(
        default="",
        description="How the last run ended, `running` where it goes on, `interrupted` where it was broken off or killed.",
    )
    source: str = Field(description="Host, port and name of the older database; empty where it was not given.")
    started_at: datetime = Field(description="When the validation began.")
    finished_at: datetime = Field(description="When it ended.")
    rows_per_second: float = Field(description="Rows looked at in a second.")
    memory_peak_bytes: int = Field(description="Most memory that the process had.")
    whole: bool = Field(description="True: every check that was made holds.")
    missing: MissingCounts = Field(description="The three counts.")
    tables: list[TableFigures] = Field(description="Both sides, table by table.")
    checks: list[Check] = Field(description="What must hold.")
    reasons: list[ReasonCount] = Field(description="What was not moved as it was, by reason.")
    not_made: list[str] = Field(
        description="Codes of the checks that need the older database, where it was not given."
    )
