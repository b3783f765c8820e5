"""Foretelling a call before it is made."""

from __future__ import annotations

from typing import Any

from pydantic import Field

from governance.contracts.presenting import EffectLine, RowChange
from governance.contracts.review import SnapshotChange
from kernel.contracts import Contract


class PreviewCallInput(Contract):
    """A call that is only tried: nothing of it is kept."""

    action: str = Field(min_length=1, max_length=80, description="Action that can be taken back, by its name.")
    input: dict[str, Any] = Field(description="Its input.")


class PreviewCallResult(Contract):
    """What the call would do. Where it would be refused, so is this, with the same words."""

    waits: bool = Field(description="Whether it would wait for a person instead of being done.")
    rule: str = Field(description="Rule that decides so.")
    already: bool = Field(description="Whether it was done before: it would give that answer and change nothing.")
    digest: str = Field(description="What it would change, as a digest: while that stays, so does the effect.")
    withheld: bool = Field(
        description="True: it would change a scope in which you do not decide, so its effect is not shown to you."
    )
    rows: list[RowChange] = Field(description="Rows that would change.")
    lines: list[EffectLine] = Field(description="The effect, one line each.")
    shown: list[SnapshotChange] = Field(description="Recorded contexts that showed these rows, made anew, at most 20.")
