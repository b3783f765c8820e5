"""Inspecting shadows: per key which row counts, which give way and why, and what would change."""

from __future__ import annotations

from datetime import datetime
from typing import Literal, Self
from uuid import UUID

from pydantic import Field, model_validator

from kernel.contracts import Contract, PageInput, PageResult
from memory.contracts.items import MemoryType, Short
from scopes.contracts import LEGACY_DOMAIN, DomainId, ExternalId, ScopeContext, ScopeRef, ScopeView


class WhatIf(Contract):
    """A change that is only thought through: nothing is written."""

    act: Literal["promote", "demote", "retract"] = Field(description="What would happen to the memory.")
    memory_item_id: UUID = Field(description="The memory; it needs a key.")
    target_scope: ScopeRef | None = Field(default=None, description="For `promote`: the scope that would get a copy.")

    @model_validator(mode="after")
    def _goes_somewhere(self) -> Self:
        if (self.act == "promote") != (self.target_scope is not None):
            raise ValueError("give target_scope for promote, and for nothing else")
        return self


class InspectShadowsInput(PageInput):
    """Where to look: a session, a scope context, or one recorded context as it was then."""

    domain_id: DomainId = Field(default=LEGACY_DOMAIN, description="The isolation domain; `legacy` where left out.")
    session_id: ExternalId | None = Field(default=None, description="The conversation, in the caller's own words.")
    scope_context: ScopeContext | None = Field(default=None, description="The scopes that would be read.")
    context_id: UUID | None = Field(
        default=None, description="A recorded context: its scopes, and the rows as they were when it was composed."
    )
    type: MemoryType | None = Field(default=None, description="Only keys of this type.")
    key: Short | None = Field(
        default=None, description="Only this key; a key that one scope alone holds is shown too."
    )
    what_if: WhatIf | None = Field(default=None, description="What would change if a row were promoted or left.")

    @model_validator(mode="after")
    def _one_place(self) -> Self:
        named = self.session_id is not None or self.scope_context is not None
        if named == (self.context_id is not None):
            raise ValueError("give a session_id or a scope_context, or else a context_id")
        return self


class Rung(Contract):
    """One row on the ladder of a key, the one that counts first."""

    memory_item_id: UUID = Field(description="Memory; of a copy that is only thought of, no memory that exists.")
    scope: ScopeView = Field(description="Its scope.")
    statement: str = Field(description="What it says.")
    tier: str = Field(description="Tier of knowledge, or none.")
    pinned: bool = Field(description="Whether ordinary memory never overrides it.")
    recorded_at: datetime = Field(description="When it was stored.")
    wins: bool = Field(description="True for the row that counts.")
    rule: str = Field(description="Rule by which it gives way; empty for the winner.")
    reason: str = Field(description="The rule in words; empty for the winner.")


class KeyLadder(Contract):
    """All rows of one key in the scopes read."""

    type: str = Field(description="Memory type.")
    key: str = Field(description="Key.")
    rungs: list[Rung] = Field(description="Rows in the order in which they count.")


class WhatIfResult(Contract):
    """The ladder of one key as it is and as it would be."""

    type: str = Field(description="Memory type.")
    key: str = Field(description="Key.")
    before: list[Rung] = Field(description="Rows as they are.")
    after: list[Rung] = Field(description="Rows as they would be.")
    changes_winner: bool = Field(description="Whether another row, or none, would count.")
    explanation: str = Field(description="What would happen, in words.")


class InspectShadowsResult(PageResult):
    """Keys that several scopes hold, by type and key."""

    domain_id: str = Field(description="Domain.")
    scopes: list[ScopeView] = Field(description="Scopes read that exist and that you may see.")
    priority: list[str] = Field(description="Scope types in the order in which their rows count.")
    as_of: datetime = Field(description="The moment for which this holds.")
    keys: list[KeyLadder] = Field(description="Ladders, in the order of type and key.")
    what_if: WhatIfResult | None = Field(description="What would change, where that was asked.")
