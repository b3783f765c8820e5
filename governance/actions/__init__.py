"""Governance's actions; importing this package registers them."""

from __future__ import annotations

from governance.actions import (
    access,
    accounts,
    activity,
    audit,
    doctor,
    erasing,
    exporting,
    policy,
    policy_proposals,
    preferences,
    previewing,
    proposals,
)

__all__ = [
    "access",
    "accounts",
    "activity",
    "audit",
    "doctor",
    "erasing",
    "exporting",
    "policy",
    "policy_proposals",
    "preferences",
    "previewing",
    "proposals",
]
