"""What the retrieve action takes: a plan, alone or beside where it is to be carried out."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from pydantic import Field, model_validator

from kernel.contracts import Contract
from media.contracts.retrieval import RetrievalPlan
from scopes.contracts import DomainId, ExternalId, ScopeContext

_BESIDE = ("domain_id", "session_id", "scope_context")


class RetrieveInput(Contract):
    """A plan, and where it is carried out. The body may also be the plan itself."""

    plan: RetrievalPlan = Field(description="What to look for; unknown fields in it are ignored and named.")
    domain_id: DomainId | None = Field(
        default=None, description="The isolation domain; left out, the plan's caller, your only one, else `legacy`."
    )
    session_id: ExternalId | None = Field(default=None, description="A conversation: read what is shared to it.")
    scope_context: ScopeContext | None = Field(
        default=None,
        description="Scopes to read; it may also stand in the plan. With neither it nor a session: every document that "
        "you may see.",
    )

    @model_validator(mode="before")
    @classmethod
    def _plan_alone(cls, value: Any) -> Any:
        """A body without `plan` is the plan itself, with what stands beside a plan in it."""
        if not isinstance(value, Mapping) or "plan" in value or not {"queries", "budget", "purpose"} & value.keys():
            return value
        beside = {name: value[name] for name in _BESIDE if name in value and name != "scope_context"}
        return {"plan": {name: part for name, part in value.items() if name not in beside}, **beside}
