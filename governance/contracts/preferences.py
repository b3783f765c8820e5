"""How a person likes the review screens."""

from __future__ import annotations

from enum import StrEnum

from pydantic import Field

from kernel.contracts import Contract, KeyedInput, KeyedResult


class DiffMode(StrEnum):
    """How a comparison is laid out."""

    SIDE = "side"
    UNIFIED = "unified"


class Preferences(Contract):
    """A person's choices; the defaults are those of someone who never chose."""

    shortcuts: bool = Field(default=True, description="Whether single keys act on the review screens.")
    diff: DiffMode = Field(default=DiffMode.SIDE, description="`side` (two columns) or `unified` (one).")


class SetPreferencesInput(KeyedInput):
    """What to change about the screens of the signed-in person; what is left out stays."""

    shortcuts: bool | None = Field(default=None, description="Whether single keys act on the review screens.")
    diff: DiffMode | None = Field(default=None, description="`side` (two columns) or `unified` (one).")


class PreferencesResult(KeyedResult):
    """The choices in force."""

    shortcuts: bool = Field(description="Whether single keys act on the review screens.")
    diff: DiffMode = Field(description="How comparisons are laid out.")
