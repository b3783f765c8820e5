"""What is given and answered about policies."""

from __future__ import annotations

from typing import Any

from pydantic import Field

from governance.contracts.base import Reason
from kernel.contracts import Contract, KeyedInput, KeyedResult
from scopes.contracts import DomainId


class PolicyInput(Contract):
    """Whose policy to show."""

    domain_id: DomainId | None = Field(default=None, description="The domain; left out: the whole installation.")


class SetPolicyInput(KeyedInput):
    """A new policy version; it replaces the version before and lies over the defaults and `brain.yml`."""

    domain_id: DomainId | None = Field(default=None, description="The domain; left out: the whole installation.")
    document: dict[str, Any] = Field(description="`{section: {field: value}}`; only what differs.")
    reason: Reason


class PolicyResult(KeyedResult):
    """The policy in force."""

    domain_id: str | None = Field(description="The domain; null for the whole installation.")
    version: str = Field(description="Names the file and versions that were laid over each other.")
    document: dict[str, Any] = Field(description="Every section with every field.")
