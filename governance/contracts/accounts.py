"""What is given and answered about people's accounts."""

from __future__ import annotations

from pydantic import Field

from governance.contracts.base import Reason, UserName
from kernel.contracts import KeyedInput, KeyedResult


class ResetSecondFactorInput(KeyedInput):
    """Take away a lost second factor."""

    user: UserName
    reason: Reason


class ResetSecondFactorResult(KeyedResult):
    """What was taken away."""

    user: str = Field(description="User name.")
    removed: list[str] = Field(description="`authenticator`, `recovery codes`; empty where there was none.")
