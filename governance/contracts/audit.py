"""The audit log."""

from __future__ import annotations

from datetime import datetime
from enum import StrEnum
from typing import Any, Self
from uuid import UUID

from pydantic import Field, model_validator

from governance.contracts.base import Outcome
from kernel.context import ActorKind, Door
from kernel.contracts import Contract, Instant, PageInput, PageResult
from scopes.contracts import DomainId


class AuditView(Contract):
    """One entry of the audit log."""

    id: UUID = Field(description="Entry id (UUIDv7).")
    at: datetime = Field(description="When.")
    request_id: UUID = Field(description="Joins the entries of one call.")
    action: str = Field(description="Action called.")
    actor: str = Field(description="Name of who acted, kept after the account is gone.")
    actor_kind: str = Field(description="agent, person or system.")
    on_behalf_of: str = Field(description="Name of the proposer, where a person carried out a stored call.")
    door: str = Field(description="python, http, mcp, cli, admin or job.")
    domain_id: str | None = Field(description="Domain touched; null for the installation.")
    scope: str = Field(
        description="Scope in which the call was decided, `type:id`, `*`, or `@owner:<id>` for what an actor keeps for "
        "itself; where you do not audit that, one in which it changed something that you may see."
    )
    outcome: Outcome = Field(description="What became of the call.")
    rule: str = Field(description="Rule that decided.")
    policy_version: str = Field(description="Policy version in force.")
    code: str = Field(description="Error code of a refused call; empty otherwise.")
    reason: str = Field(description="Reason given, or why the call was refused.")
    proposal_id: UUID | None = Field(description="Proposal made, decided or carried out.")
    changes: list[dict[str, Any]] = Field(
        description="Rows changed: table, id, before, after, and scopes where they are known."
    )
    withheld: int = Field(
        default=0, description="Rows changed in scopes that you do not audit, left out of `changes`."
    )


class ListAuditInput(PageInput):
    """Which audit entries to list; all filters must hold."""

    domain_id: DomainId | None = Field(default=None, description="Only this domain.")
    scope: str | None = Field(default=None, max_length=240, description="Only this scope, `type:id` or `*`.")
    action: str | None = Field(default=None, max_length=80, description="Only this action.")
    actor: str | None = Field(default=None, max_length=150, description="Only this actor's name.")
    actor_kind: ActorKind | None = Field(default=None, description="Only agents, people or the system.")
    actor_id: str | None = Field(default=None, max_length=64, description="Only this actor's id.")
    door: Door | None = Field(default=None, description="Only calls through this door.")
    outcome: Outcome | None = Field(default=None, description="Only this outcome.")
    request_id: UUID | None = Field(default=None, description="Only this call.")
    table: str | None = Field(
        default=None, max_length=63, description="With `object_id`: only changes of this object."
    )
    object_id: str | None = Field(default=None, max_length=200, description="Id of a row of `table`.")
    since: Instant | None = Field(default=None, description="At or after this instant.")
    until: Instant | None = Field(default=None, description="Before this instant.")

    @model_validator(mode="after")
    def _whole_object(self) -> Self:
        if (self.table is None) != (self.object_id is None):
            raise ValueError("table and object_id name one object together: send both or neither")
        return self


class ListAuditResult(PageResult):
    """One page of the audit log, newest first."""

    entries: list[AuditView] = Field(description="Entries, newest first.")


class AuditRef(Contract):
    """Names one audit entry."""

    id: UUID = Field(description="Entry id.")


class ObjectChange(Contract):
    """An object that an entry changed, and the entries that changed it before and after."""

    table: str = Field(description="Table of the row.")
    object_id: str = Field(description="Id of the row.")
    previous: UUID | None = Field(description="Entry that changed it before this one, if you can see one.")
    next: UUID | None = Field(description="Entry that changed it after this one, if you can see one.")


class AuditDetail(AuditView):
    """One entry with what its decision rested on and its place in the chain."""

    facts: dict[str, Any] = Field(description="What the decision rested on.")
    input_digest: str = Field(description="SHA-256 of the validated input; empty where it could not be read.")
    objects: list[ObjectChange] = Field(description="Objects it changed, 50 at most, with their changes around it.")
    sequence: int | None = Field(description="Its number in the sealed chain; null until it is sealed.")
    seal: str | None = Field(description="Hash of its seal; null until it is sealed.")
    revertible: bool = Field(description="Whether you may take back what it changed, with revert_change.")
    why_not: str = Field(
        description="What stands against taking it back, and what to do instead; empty where you may."
    )


class ExportFormat(StrEnum):
    """How exported entries are written."""

    CSV = "csv"
    JSON = "json"


class ExportAuditInput(ListAuditInput):
    """Audit entries to take elsewhere; all filters must hold."""

    format: ExportFormat = Field(
        default=ExportFormat.CSV,
        description="`csv`: a header on the first page, cells that a spreadsheet would run as a formula begin with an "
        "apostrophe. `json`: one JSON object a line.",
    )
    limit: int = Field(default=500, ge=1, le=1000, description="Entries a page, 1 to 1000.")


class ExportAuditResult(PageResult):
    """One page of the export; the pages' contents put together are the file."""

    content: str = Field(description="The text of the page.")
    rows: int = Field(description="Entries on the page.")


class VerifyAuditInput(Contract):
    """A stretch of the chain to check."""

    after: int = Field(default=0, ge=0, description="Check the seals that follow this number.")
    limit: int = Field(default=1000, ge=1, le=5000, description="Seals to check, 1 to 5000.")


class ChainFault(Contract):
    """A place where the chain and the log disagree."""

    number: int = Field(description="Number in the chain; 0 for what is outside of it.")
    kind: str = Field(
        description="`gap`: numbers are missing. `link`: a seal does not follow the one before. `seal`: the seal was "
        "changed. `removed`: its entry is gone. `changed`: its entry was changed. `unchained`: an entry that says it is "
        "sealed has no seal."
    )
    what: str = Field(description="In words.")
    entry_id: UUID | None = Field(description="The entry, where one is meant.")


class VerifyAuditResult(Contract):
    """What the stretch showed."""

    checked: int = Field(description="Seals checked.")
    erased: int = Field(description="Of them, entries whose text was erased since; the rest of each was checked.")
    faults: list[ChainFault] = Field(description="Faults in the order of the chain; none: the stretch is whole.")
    number: int = Field(description="Number of the last seal of the stretch: `after` for the next call.")
    hash: str = Field(description="Hash of that seal. Kept elsewhere, it proves later that nothing before it changed.")
    complete: bool = Field(description="Whether the stretch reached the end of the chain.")
    unsealed: int | None = Field(default=None, description="At the end: entries that wait for their seal.")
    unsealed_since: datetime | None = Field(default=None, description="At the end: when the oldest of them was made.")
