"""Where apps above governance tell it about themselves, from `AppConfig.ready()`."""

from __future__ import annotations

from typing import ClassVar, TypeVar

from kernel.contracts import Contract


class PolicySection(Contract):
    """One typed part of the policy document; its fields' defaults are the product's defaults."""

    section: ClassVar[str]


Section = TypeVar("Section", bound=PolicySection)

_sections: dict[str, type[PolicySection]] = {}


def register_policy_section(model: type[Section]) -> type[Section]:
    """Add a part to the policy document; its name must be new."""
    if model.section in _sections:
        raise ValueError(f"policy section {model.section!r} is already registered")
    _sections[model.section] = model
    return model


def policy_sections() -> dict[str, type[PolicySection]]:
    """Every registered part of the policy document, by name."""
    return dict(sorted(_sections.items()))
