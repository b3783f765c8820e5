"""Governance's actions; importing this package registers them."""

from __future__ import annotations

from governance.actions import access, accounts, audit, policy, preferences, proposals

__all__ = ["access", "accounts", "audit", "policy", "preferences", "proposals"]
