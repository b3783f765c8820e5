"""How things stand: figures that apps add to diagnostics, and what the doctor found."""

from __future__ import annotations

from pydantic import Field

from kernel.contracts import Contract


class DiagnosticsPart(Contract):
    """Figures of one part of the product in one domain."""

    name: str = Field(description="The part, such as `media`.")
    figures: dict[str, int] = Field(description="What is counted, by name.")


class Finding(Contract):
    """What one check of the installation showed."""

    check: str = Field(description="What was looked at.")
    well: bool = Field(description="Whether it is as it should be.")
    what: str = Field(description="What was found, in a sentence.")
    advice: str = Field(default="", description="What to do; empty where all is well.")


class DoctorInput(Contract):
    """Nothing is asked for: every check runs."""


class DoctorResult(Contract):
    """What the checks showed."""

    well: bool = Field(description="Whether every check found things as they should be.")
    findings: list[Finding] = Field(description="One for each check, in the order of their names.")
