"""The audit log."""

from __future__ import annotations

from datetime import datetime
from typing import Any
from uuid import UUID

from pydantic import Field

from governance.contracts.base import Outcome
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
    scope: str = Field(description="Scope touched, `type:id`, or `*`.")
    outcome: Outcome = Field(description="What became of the call.")
    rule: str = Field(description="Rule that decided.")
    policy_version: str = Field(description="Policy version in force.")
    code: str = Field(description="Error code of a refused call; empty otherwise.")
    reason: str = Field(description="Reason given, or why the call was refused.")
    proposal_id: UUID | None = Field(description="Proposal made, decided or carried out.")
    changes: list[dict[str, Any]] = Field(description="Rows changed: table, id, before, after.")


class ListAuditInput(PageInput):
    """Which audit entries to list; all filters must hold."""

    domain_id: DomainId | None = Field(default=None, description="Only this domain.")
    action: str | None = Field(default=None, max_length=80, description="Only this action.")
    actor: str | None = Field(default=None, max_length=150, description="Only this actor's name.")
    outcome: Outcome | None = Field(default=None, description="Only this outcome.")
    request_id: UUID | None = Field(default=None, description="Only this call.")
    since: Instant | None = Field(default=None, description="At or after this instant.")
    until: Instant | None = Field(default=None, description="Before this instant.")


class ListAuditResult(PageResult):
    """One page of the audit log, newest first."""

    entries: list[AuditView] = Field(description="Entries, newest first.")
